/* Resolving references to their targets. */
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "domain/schema/compile.h"

static pawl_status no_target(const struct compile *compile, const struct pending *reference,
                             const char *why) {
    char text[300];
    pawl_error reason;
    (void)error_set(&reason, PAWL_INVALID, "schema_compile", "'%.*s' %s",
                    STR_ARG(reference->rule->value->text), why);
    memcpy(text, reason.text, sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    return compile_wrong(compile, reference->node->place, reference->rule->keyword->name, text);
}

/* The next step of a JSON pointer, with ~0 and ~1 decoded into out. Moves *rest on; false at its end. */
static bool next_step(pawl_str *rest, char *out, pawl_str *step) {
    if (rest->len == 0)
        return false;
    size_t length = 0;
    size_t at = 1;
    for (; at < rest->len && rest->ptr[at] != '/'; at++) {
        char c = rest->ptr[at];
        if (c == '~' && at + 1 < rest->len && (rest->ptr[at + 1] == '0' || rest->ptr[at + 1] == '1'))
            c = rest->ptr[++at] == '0' ? '~' : '/';
        out[length++] = c;
    }
    *step = (pawl_str){out, length};
    rest->ptr += at;
    rest->len -= at;
    return true;
}

/* Follows a pointer from a resource's root; the target may be at a location that no keyword covers. */
static pawl_status follow_pointer(struct compile *compile, const struct pending *reference,
                                  const struct schema_resource *resource, pawl_str pointer) {
    const struct tree *tree = resource->root;
    const struct schema_node *root = compile_find(compile, tree);
    pawl_str place = root != NULL ? root->place : STR("");
    char *out = arena_alloc(compile->schema->arena, pointer.len + 1);
    if (out == NULL)
        return error_no_memory(compile->err, "schema_compile");
    pawl_str step = {NULL, 0};
    while (next_step(&pointer, out, &step)) {
        tree = tree_step(tree, step);
        if (tree == NULL)
            return no_target(compile, reference, "leads nowhere: there is no such place in the schema");
        const struct schema_node *node = compile_find(compile, tree);
        if (node != NULL)
            resource = node->resource;
        place = compile_place(compile, place, step);
        if (place.ptr == NULL)
            return error_no_memory(compile->err, "schema_compile");
    }
    return compile_node(compile, tree, resource, place, reference->target);
}

pawl_status compile_reference(struct compile *compile, struct pending *reference) {
    pawl_str uri =
        uri_resolve(compile->schema->arena, reference->node->resource->uri, reference->rule->value->text);
    if (uri.ptr == NULL)
        return error_no_memory(compile->err, "schema_compile");
    struct schema_resource *resource = NULL;
    pawl_status status = compile_find_resource(compile, uri_without_fragment(uri), &resource);
    if (status != PAWL_OK)
        return status;
    if (resource == NULL)
        return no_target(
            compile, reference,
            "leads to a document that is not here: references are not fetched, put the schema into $defs");
    pawl_str fragment = uri_fragment(uri);
    pawl_str decoded = fragment.ptr != NULL ? percent_decode(compile->schema->arena, fragment) : STR("");
    if (decoded.ptr == NULL)
        return no_target(compile, reference, "is malformed");
    if (decoded.len == 0 || decoded.ptr[0] == '/')
        return follow_pointer(compile, reference, resource, decoded);
    const struct schema_anchor *anchor = schema_find_anchor(compile->schema, resource, decoded);
    if (anchor == NULL)
        return no_target(compile, reference, "leads nowhere: there is no such anchor");
    *reference->target = anchor->node;
    return PAWL_OK;
}

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
