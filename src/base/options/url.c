/* Database addresses without their secrets. */
#include "base/options/url.h"

#include <string.h>
#include <strings.h>

#include "base/str.h"

#define MASK "***"

static bool is_secret_name(pawl_str name) {
    static const char *const names[] = {"password", "sslpassword", "passwd", "pwd", "token", "secret"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (name.len == strlen(names[i]) && strncasecmp(name.ptr, names[i], name.len) == 0)
            return true;
    return false;
}

/* How much of text comes before the first of the stop characters. */
static size_t span_until(pawl_str text, const char *stops) {
    size_t len = 0;
    while (len < text.len && strchr(stops, text.ptr[len]) == NULL)
        len++;
    return len;
}

static pawl_str rest_of(pawl_str text, size_t from) { return (pawl_str){text.ptr + from, text.len - from}; }

/* Parameters after the question mark: name=value&name=value */
static void redact_query(struct buf *buf, pawl_str query) {
    while (query.len > 0) {
        size_t len = span_until(query, "&");
        size_t name_len = span_until((pawl_str){query.ptr, len}, "=");
        pawl_str name = {query.ptr, name_len};
        if (name_len < len && is_secret_name(name)) {
            buf_append_str(buf, name);
            buf_append_cstr(buf, "=" MASK);
        } else {
            buf_append(buf, query.ptr, len);
        }
        if (len < query.len)
            buf_append_char(buf, query.ptr[len++]);
        query = rest_of(query, len);
    }
}

/* Length of a connection string's value: 'quoted with \' escapes' or up to a blank. */
static size_t value_span(pawl_str text) {
    if (text.len == 0 || text.ptr[0] != '\'')
        return span_until(text, " \t\n");
    size_t at = 1;
    while (at < text.len && text.ptr[at] != '\'')
        at += text.ptr[at] == '\\' && at + 1 < text.len ? 2 : 1;
    return at < text.len ? at + 1 : text.len;
}

static size_t blanks_of(pawl_str text) {
    size_t blanks = 0;
    while (blanks < text.len && strchr(" \t\n", text.ptr[blanks]) != NULL)
        blanks++;
    return blanks;
}

/* host=… password=… */
static void redact_pairs(struct buf *buf, pawl_str text) {
    while (text.len > 0) {
        size_t blanks = blanks_of(text);
        buf_append(buf, text.ptr, blanks);
        text = rest_of(text, blanks);
        size_t name_len = span_until(text, "= \t\n");
        buf_append(buf, text.ptr, name_len);
        pawl_str name = {text.ptr, name_len};
        text = rest_of(text, name_len);
        size_t equals = blanks_of(text); /* libpq allows blanks on both sides of it */
        if (equals == text.len || text.ptr[equals] != '=')
            continue;
        equals += 1 + blanks_of(rest_of(text, equals + 1));
        buf_append(buf, text.ptr, equals);
        text = rest_of(text, equals);
        size_t len = value_span(text);
        if (is_secret_name(name))
            buf_append_cstr(buf, MASK);
        else
            buf_append(buf, text.ptr, len);
        text = rest_of(text, len);
    }
}

/* The @ that ends the user information, or NULL. A raw / or @ inside a password belongs to it: better to hide
 * too much than to show part of a secret. */
static const char *userinfo_end(pawl_str rest) {
    const char *first = memchr(rest.ptr, '@', rest.len);
    if (first == NULL)
        return NULL;
    size_t before = (size_t)(first - rest.ptr);
    size_t stop = before + span_until(rest_of(rest, before), "?");
    return memrchr(rest.ptr, '@', stop);
}

void url_redact(struct buf *buf, pawl_str url) {
    const char *scheme_end = url.len > 0 ? memmem(url.ptr, url.len, "://", 3) : NULL;
    const char *last = url.len > 0 ? memrchr(url.ptr, '@', url.len) : NULL;
    if (scheme_end == NULL && last != NULL && url.len > 8 && strncmp(url.ptr, "postgres", 8) == 0) {
        /* The slashes are missing: anything may come before the host. */
        buf_append_cstr(buf, "postgres:" MASK);
        buf_append(buf, last, (size_t)(url.ptr + url.len - last));
        return;
    }
    if (scheme_end == NULL) {
        redact_pairs(buf, url);
        return;
    }
    size_t scheme_len = (size_t)(scheme_end - url.ptr) + 3;
    buf_append(buf, url.ptr, scheme_len);
    pawl_str rest = rest_of(url, scheme_len);
    const char *at = rest.len > 0 ? userinfo_end(rest) : NULL;
    if (at != NULL) {
        pawl_str userinfo = {rest.ptr, (size_t)(at - rest.ptr)};
        size_t user_len = span_until(userinfo, ":");
        buf_append(buf, userinfo.ptr, user_len);
        if (user_len < userinfo.len)
            buf_append_cstr(buf, ":" MASK);
        rest = rest_of(rest, userinfo.len);
    }
    size_t path_len = span_until(rest, "?");
    buf_append(buf, rest.ptr, path_len);
    if (path_len < rest.len) {
        buf_append_char(buf, '?');
        redact_query(buf, rest_of(rest, path_len + 1));
    }
}

/* The end of the address that starts at text: a quote or the end. Blanks may be part of a malformed one. */
static size_t address_span(const char *text) {
    size_t at = strlen(text);
    const char *last = strrchr(text, '@');
    if (last != NULL)
        at = (size_t)(last - text);
    return at;
}

/* A driver may quote an address that it could not read. */
void url_redact_text(struct buf *buf, const char *text) {
    for (const char *at = text; *at != '\0';) {
        if (strncmp(at, "://", 3) == 0 && strchr(at, '@') != NULL) {
            size_t span = address_span(at + 3);
            const char *colon = memchr(at + 3, ':', span);
            if (colon != NULL) {
                buf_append(buf, at, (size_t)(colon - at) + 1);
                buf_append_cstr(buf, MASK);
                at += 3 + span;
                continue;
            }
        }
        if (strncasecmp(at, "password=", 9) == 0) {
            buf_append(buf, at, 9);
            buf_append_cstr(buf, MASK);
            at += 9;
            if (*at == '\'' || *at == '"')
                at += strcspn(at + 1, "'\"") + 1;
            at += strcspn(at, " &'\"");
            continue;
        }
        buf_append_char(buf, *at++);
    }
}
