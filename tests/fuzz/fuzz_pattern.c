/* Fuzzes patterns of types and of events: the answers are those of a plain recursive reading. Input: pattern,
 * line end, type, line end, a second pattern. */
#include <string.h>

#include "base/limits.h"
#include "base/str.h"
#include "domain/event_pattern.h"
#include "domain/pattern.h"
#include "fuzz.h"

enum { PLAIN_BYTES_MAX = 24 };

/* Exponential, and obviously right. */
static bool matches_plainly(const char *pattern, size_t pattern_len, const char *text, size_t text_len) {
    if (pattern_len == 0)
        return text_len == 0;
    if (pattern[0] == '*')
        return matches_plainly(pattern + 1, pattern_len - 1, text, text_len) ||
               (text_len > 0 && matches_plainly(pattern, pattern_len, text + 1, text_len - 1));
    return text_len > 0 && (pattern[0] == '?' || char_lower(pattern[0]) == char_lower(text[0])) &&
           matches_plainly(pattern + 1, pattern_len - 1, text + 1, text_len - 1);
}

static bool is_ascii(pawl_str text) {
    for (size_t i = 0; i < text.len; i++)
        if ((text.ptr[i] & 0x80) != 0)
            return false;
    return true;
}

static void fuzz_glob(pawl_str pattern, pawl_str type, pawl_str narrow) {
    bool small = pattern.len <= PLAIN_BYTES_MAX && type.len <= PLAIN_BYTES_MAX && is_ascii(type);
    bool matches = pattern_matches(pattern, type);
    if (small)
        must(matches == matches_plainly(pattern.ptr, pattern.len, type.ptr, type.len));
    if (pattern_covers(pattern, narrow) && pattern_matches(narrow, type))
        must(matches);
    must(pattern_covers(STR("*"), narrow) && pattern_matches(STR("*"), type));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    pawl_str text = {(const char *)data, size}, type, narrow, pattern = str_before(text, '\n', &type);
    pawl_error err;
    type = str_before(type, '\n', &narrow);
    if (str_absent(type) || str_absent(narrow))
        return 0;
    if (pattern_check(pattern, &err) == PAWL_OK && pattern_check(narrow, &err) == PAWL_OK)
        fuzz_glob(pattern, type, narrow);
    struct event_pattern event = event_pattern_from(pattern);
    bool matches = false, again = false;
    pawl_status status = event_pattern_matches(&event, type, &matches, &err);
    must(status == PAWL_OK || err.text[0] != '\0');
    must(event_pattern_matches(&event, type, &again, &err) == status && again == matches);
    if (status == PAWL_OK && event.mode == PATTERN_GLOB && is_ascii(type) && is_ascii(event.text) &&
        event.text.len <= PLAIN_BYTES_MAX && type.len <= PLAIN_BYTES_MAX)
        must(matches == matches_plainly(event.text.ptr, event.text.len, type.ptr, type.len));
    return 0;
}
