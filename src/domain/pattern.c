/* Checking and matching patterns for message types. */
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

/* How many bytes of text a sign that is no * takes; 0: it does not match. ? takes one whole character. */
static size_t takes(char sign, pawl_str text) {
    size_t len = 1;
    if (sign != '?')
        return char_lower(sign) == char_lower(text.ptr[0]) ? 1 : 0;
    while (len < text.len && ((unsigned char)text.ptr[len] & 0xc0) == 0x80)
        len++;
    return len;
}

/* The same for text that is a pattern itself: one of the texts it matches, with * as a character that only *
 * can match. */
static size_t takes_pattern(char sign, pawl_str text) {
    char c = text.ptr[0];
    return c != '*' && (sign == '?' || (c != '?' && char_lower(sign) == char_lower(c))) ? 1 : 0;
}

/* Only the last * is ever tried again, so the cost is at most |pattern| × |text|. */
static bool match(pawl_str pattern, pawl_str text, size_t (*takes_sign)(char sign, pawl_str text)) {
    size_t p = 0, t = 0, star = SIZE_MAX, mark = 0;
    while (t < text.len) {
        bool at_star = p < pattern.len && pattern.ptr[p] == '*';
        size_t taken = p < pattern.len && !at_star ? takes_sign(pattern.ptr[p], str_skip(text, t)) : 0;
        if (at_star) {
            star = p++;
            mark = t;
        } else if (taken > 0) {
            p++;
            t += taken;
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

bool pattern_matches(pawl_str pattern, pawl_str text) { return match(pattern, text, takes); }

bool pattern_covers(pawl_str wide, pawl_str narrow) { return match(wide, narrow, takes_pattern); }
