/* Computing fingerprints: the pattern of an error text, and its hash. */
#include "domain/failure/fingerprint.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/str.h"
#include "base/utf8.h"
#include "base/uuid.h"

#define HEX_DIGITS_MIN 8

struct pattern_output {
    char *text;
    size_t len;
    bool full;
};

/* A piece that does not fit ends the pattern: half a <uuid> would be a different pattern. */
static void put(struct pattern_output *out, const char *piece, size_t len) {
    if (out->full || len > FINGERPRINT_TEXT_BYTES - 1 - out->len) {
        out->full = true;
        return;
    }
    memcpy(out->text + out->len, piece, len);
    out->len += len;
}

static bool is_word(char c) { return char_is_alnum(c) || c == '_'; }

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* The lengths below are of what rest starts with, 0 when it does not. after_word says whether a
 * letter or digit precedes it. */

static size_t quoted_len(pawl_str rest, bool after_word) {
    char quote = rest.ptr[0];
    if (after_word || (quote != '\'' && quote != '"'))
        return 0;
    const char *end = memchr(rest.ptr + 1, quote, rest.len - 1);
    return end != NULL ? (size_t)(end - rest.ptr) + 1 : 0;
}

static size_t uuid_len(pawl_str rest, bool after_word) {
    const size_t len = UUID_TEXT_BYTES - 1;
    pawl_uuid ignored;
    if (after_word || rest.len < len || !uuid_parse((pawl_str){rest.ptr, len}, &ignored))
        return 0;
    return rest.len > len && is_word(rest.ptr[len]) ? 0 : len;
}

static size_t hex_len(pawl_str rest, bool after_word) {
    size_t prefix = rest.len > 2 && rest.ptr[0] == '0' && (rest.ptr[1] == 'x' || rest.ptr[1] == 'X') ? 2 : 0;
    size_t len = prefix;
    bool any_digit = false;
    if (after_word)
        return 0;
    while (len < rest.len && (hex_digit(rest.ptr[len]) >= 0))
        any_digit |= char_is_digit(rest.ptr[len++]);
    if (len < rest.len && is_word(rest.ptr[len]))
        return 0;
    if (prefix > 0)
        return len > prefix ? len : 0;
    return len >= HEX_DIGITS_MIN && any_digit ? len : 0;
}

static size_t digits_len(pawl_str rest) {
    size_t len = 0;
    while (len < rest.len && char_is_digit(rest.ptr[len]))
        len++;
    return len;
}

/* True when every one of the bytes is a decimal digit: a long number is a number, not hex. */
static bool all_digits(const char *ptr, size_t len) { return digits_len((pawl_str){ptr, len}) == len; }

/* Puts what rest starts with and returns how many bytes of it were used. */
static size_t put_piece(struct pattern_output *out, pawl_str rest, bool after_word) {
    size_t len = quoted_len(rest, after_word);
    if (len > 0) {
        put(out, "<s>", 3);
        return len;
    }
    len = uuid_len(rest, after_word);
    if (len > 0) {
        put(out, "<uuid>", 6);
        return len;
    }
    len = hex_len(rest, after_word);
    if (len > 0 && !all_digits(rest.ptr, len)) {
        put(out, "<hex>", 5);
        return len;
    }
    len = digits_len(rest);
    if (len > 0) {
        put(out, "<n>", 3);
        return len;
    }
    /* A whole character, so that the pattern never ends inside one. */
    uint32_t code = 0;
    len = utf8_decode(rest.ptr, rest.len, &code);
    put(out, len > 0 ? rest.ptr : "?", len > 0 ? len : 1);
    return len > 0 ? len : 1;
}

char *fingerprint_normalize(pawl_str error, char text[static FINGERPRINT_TEXT_BYTES]) {
    error = str_trim(error); /* a text that begins with an empty line still has a first line */
    pawl_str line = str_trim(str_before(error, '\n', NULL));

    struct pattern_output out = {.text = text};
    for (size_t at = 0; at < line.len && !out.full;) {
        pawl_str rest = {line.ptr + at, line.len - at};
        if (is_blank(rest.ptr[0])) {
            size_t blanks = 1;
            while (blanks < rest.len && is_blank(rest.ptr[blanks]))
                blanks++;
            put(&out, " ", 1);
            at += blanks;
            continue;
        }
        at += put_piece(&out, rest, at > 0 && is_word(line.ptr[at - 1]));
    }
    while (out.len > 0 && out.text[out.len - 1] == ' ')
        out.len--;
    text[out.len] = '\0';
    return text;
}

char *fingerprint(pawl_str error, char text[static FINGERPRINT_BYTES]) {
    char pattern[FINGERPRINT_TEXT_BYTES];
    snprintf(text, FINGERPRINT_BYTES, "%016" PRIx64,
             hash_stream(str_from(fingerprint_normalize(error, pattern))));
    return text;
}
