/* Resolving and splitting the addresses of schemas. */
#include "domain/schema/uri.h"

#include <string.h>

#include "base/str.h"

/* The parts of an address, with the characters that mark them; what is absent has length 0. */
struct parts {
    pawl_str scheme;    /* "http:" */
    pawl_str authority; /* "//host" */
    pawl_str path;
    pawl_str query;    /* "?x" */
    pawl_str fragment; /* "#y" */
};

static bool is_scheme_char(char c) { return char_is_alnum(c) || c == '+' || c == '-' || c == '.'; }

static pawl_str cut(pawl_str *rest, size_t length) {
    pawl_str part = {rest->ptr, length};
    rest->ptr += length;
    rest->len -= length;
    return part;
}

static size_t length_until(pawl_str text, size_t from, const char *ends) {
    size_t at = from;
    while (at < text.len && strchr(ends, text.ptr[at]) == NULL)
        at++;
    return at;
}

static struct parts split(pawl_str uri) {
    struct parts parts = {0};
    pawl_str rest = uri.ptr != NULL ? uri : STR("");
    size_t scheme = 0;
    while (scheme < rest.len && is_scheme_char(rest.ptr[scheme]))
        scheme++;
    if (scheme > 0 && scheme < rest.len && rest.ptr[scheme] == ':')
        parts.scheme = cut(&rest, scheme + 1);
    if (str_starts_with(rest, STR("//")))
        parts.authority = cut(&rest, length_until(rest, 2, "/?#"));
    parts.path = cut(&rest, length_until(rest, 0, "?#"));
    parts.query = cut(&rest, length_until(rest, 0, "#"));
    parts.fragment = rest;
    return parts;
}

/* Takes ./ and ../ out of a path, in place. */
static size_t remove_dots(char *path, size_t length) {
    size_t out = 0;
    size_t at = 0;
    while (at < length) {
        size_t end = at + (path[at] == '/' ? 1 : 0);
        while (end < length && path[end] != '/')
            end++;
        pawl_str segment = {path + at, end - at};
        bool last = end == length;
        if (str_equal_cstr(segment, "/..") || str_equal_cstr(segment, "..")) {
            while (out > 0 && path[--out] != '/')
                continue;
            if (last)
                path[out++] = '/';
        } else if (str_equal_cstr(segment, "/.") || str_equal_cstr(segment, ".")) {
            if (last)
                path[out++] = '/';
        } else {
            memmove(path + out, path + at, end - at);
            out += end - at;
        }
        at = end;
    }
    return out;
}

static size_t append(char *out, size_t at, pawl_str text) {
    if (text.len > 0)
        memcpy(out + at, text.ptr, text.len);
    return at + text.len;
}

pawl_str uri_resolve(struct arena *arena, pawl_str base_uri, pawl_str reference) {
    struct parts base = split(base_uri);
    struct parts found = split(reference);
    char *out = arena_alloc(arena, base_uri.len + reference.len + 2);
    if (out == NULL)
        return (pawl_str){NULL, 0};
    bool own_place = found.scheme.len > 0 || found.authority.len > 0;
    size_t at = append(out, 0, found.scheme.len > 0 ? found.scheme : base.scheme);
    at = append(out, at, own_place ? found.authority : base.authority);
    size_t path_at = at;
    if (own_place || (found.path.len > 0 && found.path.ptr[0] == '/')) {
        at = append(out, at, found.path);
    } else if (found.path.len == 0) {
        at = append(out, at, base.path);
        if (found.query.len == 0)
            found.query = base.query;
    } else {
        size_t directory = base.path.len;
        while (directory > 0 && base.path.ptr[directory - 1] != '/')
            directory--;
        at = append(out, at, (pawl_str){base.path.ptr, directory});
        if (directory == 0 && base.authority.len > 0)
            out[at++] = '/';
        at = append(out, at, found.path);
    }
    if (found.path.len > 0 && (out[path_at] == '/' || base.authority.len > 0))
        at = path_at + remove_dots(out + path_at, at - path_at);
    at = append(out, at, found.query);
    at = append(out, at, found.fragment);
    return (pawl_str){out, at};
}

pawl_str uri_without_fragment(pawl_str uri) { return str_before(uri, '#', NULL); }

pawl_str uri_fragment(pawl_str uri) {
    pawl_str fragment;
    (void)str_before(uri, '#', &fragment);
    return fragment;
}
