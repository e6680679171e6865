/* Patterns for message types. */
#include "domain/pattern.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/utf8.h"

pawl_status pattern_check(pawl_str pattern, pawl_error *err) {
    if (pattern.len == 0)
        return error_set(err, PAWL_INVALID, "pattern", "the pattern is empty; * matches every type");
    if (pattern.len > PAWL_PATTERN_BYTES_MAX)
        return error_set(err, PAWL_INVALID, "pattern", "the pattern has %zu bytes; at most %d are allowed",
                         pattern.len, PAWL_PATTERN_BYTES_MAX);
    if (!utf8_valid(pattern, false, NULL))
        return error_set(err, PAWL_INVALID, "pattern", "the pattern is not valid UTF-8");
    for (size_t i = 0; i < pattern.len; i++) {
        if ((unsigned char)pattern.ptr[i] <= ' ' || pattern.ptr[i] == 0x7f)
            return error_set(err, PAWL_INVALID, "pattern",
                             "the pattern '%.*s' has a blank or control character; types have none",
                             STR_ARG(pattern));
    }
    return PAWL_OK;
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

/* Only the last * is ever tried again, so the cost is at most |pattern| × |text|. ? eats one whole character.
 */
bool pattern_matches(pawl_str pattern, pawl_str text) {
    size_t p = 0, t = 0, star = SIZE_MAX, mark = 0;
    while (t < text.len) {
        if (p < pattern.len && pattern.ptr[p] == '*') {
            star = p++;
            mark = t;
        } else if (p < pattern.len && pattern.ptr[p] == '?') {
            p++;
            t++;
            while (t < text.len && ((unsigned char)text.ptr[t] & 0xc0) == 0x80)
                t++;
        } else if (p < pattern.len && lower(pattern.ptr[p]) == lower(text.ptr[t])) {
            p++;
            t++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            t = ++mark;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.ptr[p] == '*')
        p++;
    return p == pattern.len;
}

/* A pattern read as text is one of the texts it matches, with * as a character that only * can match. */
bool pattern_covers(pawl_str wide, pawl_str narrow) {
    size_t p = 0, t = 0, star = SIZE_MAX, mark = 0;
    while (t < narrow.len) {
        char c = narrow.ptr[t];
        if (p < wide.len && wide.ptr[p] == '*') {
            star = p++;
            mark = t;
        } else if (p < wide.len && c != '*' &&
                   (wide.ptr[p] == '?' || (c != '?' && lower(wide.ptr[p]) == lower(c)))) {
            p++;
            t++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            t = ++mark;
        } else {
            return false;
        }
    }
    while (p < wide.len && wide.ptr[p] == '*')
        p++;
    return p == wide.len;
}
