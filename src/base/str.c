/* Helpers for text that carries its length. */
#include "base/str.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"

int str_precision(pawl_str text) {
    if (text.ptr == NULL)
        return 0;
    return text.len > INT_MAX ? INT_MAX : (int)text.len;
}

pawl_str str_from(const char *text) {
    return text != NULL ? (pawl_str){text, strlen(text)} : (pawl_str){NULL, 0};
}

bool str_absent(pawl_str text) { return text.ptr == NULL; }

bool str_equal(pawl_str a, pawl_str b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

bool str_equal_cstr(pawl_str a, const char *b) { return str_equal(a, str_from(b)); }

bool str_starts_with(pawl_str text, pawl_str prefix) {
    return text.len >= prefix.len && str_equal((pawl_str){text.ptr, prefix.len}, prefix);
}

int str_compare(pawl_str a, pawl_str b) {
    size_t shared = a.len < b.len ? a.len : b.len;
    int order = shared > 0 ? memcmp(a.ptr, b.ptr, shared) : 0;
    if (order != 0)
        return order;
    return (a.len > b.len) - (a.len < b.len);
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

pawl_str str_trim(pawl_str text) {
    while (text.len > 0 && is_space(text.ptr[0])) {
        text.ptr++;
        text.len--;
    }
    while (text.len > 0 && is_space(text.ptr[text.len - 1]))
        text.len--;
    return text;
}

pawl_str str_skip(pawl_str text, size_t bytes) {
    size_t skipped = bytes < text.len ? bytes : text.len;
    return skipped > 0 ? (pawl_str){text.ptr + skipped, text.len - skipped} : text;
}

pawl_str str_before(pawl_str text, char separator, pawl_str *rest) {
    const char *at = text.len > 0 ? memchr(text.ptr, separator, text.len) : NULL;
    size_t len = at != NULL ? (size_t)(at - text.ptr) : text.len;
    if (rest != NULL)
        *rest = at != NULL ? str_skip(text, len + 1) : (pawl_str){NULL, 0};
    return (pawl_str){text.ptr, len};
}

bool str_next(pawl_str *rest, char separator, pawl_str *part) {
    if (rest->len == 0)
        return false;
    *part = str_before(*rest, separator, rest);
    return true;
}

pawl_status str_dup(struct arena *arena, pawl_str text, pawl_str *copy, pawl_error *err) {
    if (str_absent(text)) {
        *copy = (pawl_str){NULL, 0};
        return PAWL_OK;
    }
    char *bytes = arena_copy(arena, text.ptr, text.len);
    if (bytes == NULL)
        return error_set(err, PAWL_NO_MEMORY, "str_dup", "no memory for %zu bytes of text", text.len);
    *copy = (pawl_str){bytes, text.len};
    return PAWL_OK;
}

pawl_status str_keep(struct arena *arena, struct buf *written, const char *op, pawl_str *copy,
                     pawl_error *err) {
    pawl_status status = buf_status(written, op, err);
    if (status == PAWL_OK)
        status = str_dup(arena, buf_str(written), copy, err);
    buf_free(written);
    return status;
}

bool str_to_u64(pawl_str text, uint64_t max, uint64_t *value) {
    uint64_t sum = 0;
    if (text.len == 0)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c < '0' || c > '9')
            return false;
        if (__builtin_mul_overflow(sum, (uint64_t)10, &sum) ||
            __builtin_add_overflow(sum, (uint64_t)(c - '0'), &sum))
            return false;
    }
    if (sum > max)
        return false;
    *value = sum;
    return true;
}

bool str_to_i64(pawl_str text, int64_t min, int64_t max, int64_t *value) {
    bool negative = text.len > 0 && text.ptr[0] == '-';
    if (negative || (text.len > 0 && text.ptr[0] == '+')) {
        text.ptr++;
        text.len--;
    }
    uint64_t size = 0;
    uint64_t size_max = (uint64_t)INT64_MAX + (negative ? 1 : 0);
    if (!str_to_u64(text, size_max, &size))
        return false;
    /* Negating in unsigned arithmetic is defined also for the smallest number. */
    int64_t number = negative ? (int64_t)(0 - size) : (int64_t)size;
    if (number < min || number > max)
        return false;
    *value = number;
    return true;
}

void str_join(char *list, size_t size, const char *const *words) {
    size_t len = 0;
    list[0] = '\0';
    for (size_t i = 0; words[i] != NULL && len < size; i++) {
        int wrote = snprintf(list + len, size - len, "%s%s", i > 0 ? ", " : "", words[i]);
        len += wrote > 0 ? (size_t)wrote : 0;
    }
}

/* One row of the table at a time. */
size_t str_distance(pawl_str a, pawl_str b) {
    size_t row[STR_DISTANCE_BYTES_MAX + 1];
    if (a.len > STR_DISTANCE_BYTES_MAX || b.len > STR_DISTANCE_BYTES_MAX)
        return STR_DISTANCE_BYTES_MAX;
    for (size_t j = 0; j <= b.len; j++)
        row[j] = j;
    for (size_t i = 0; i < a.len; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < b.len; j++) {
            size_t replaced = diagonal + (char_lower(a.ptr[i]) != char_lower(b.ptr[j]));
            size_t shorter = row[j + 1] < row[j] ? row[j + 1] : row[j];
            diagonal = row[j + 1];
            row[j + 1] = replaced < shorter + 1 ? replaced : shorter + 1;
        }
    }
    return row[b.len];
}

void hex_format(const uint8_t *bytes, size_t count, char *text) {
    for (size_t i = 0; i < 2 * count; i++)
        text[i] = "0123456789abcdef"[i % 2 == 0 ? bytes[i / 2] >> 4 : bytes[i / 2] & 15];
    text[2 * count] = '\0';
}

int hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int str_choice(const char *choices, pawl_str text) {
    const char *at = choices;
    for (int index = 0;; index++) {
        const char *end = strchrnul(at, '|');
        if (str_equal((pawl_str){at, (size_t)(end - at)}, text))
            return index;
        if (*end == '\0')
            return -1;
        at = end + 1;
    }
}

bool base64_decode(struct buf *out, pawl_str text) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = 0;
    for (int i = 0; i < 2 && text.len > 0 && text.ptr[text.len - 1] == '='; i++)
        text.len--;
    for (size_t i = 0; i < text.len; i++) {
        const char *digit = text.ptr[i] != '\0' ? strchr(digits, text.ptr[i]) : NULL;
        if (digit == NULL)
            return false;
        bits = bits << 6 | (uint32_t)(digit - digits);
        if (i % 4 != 0) /* four digits are three bytes: one is complete after each but the first */
            buf_append_char(out, (char)(bits >> (6 - 2 * (i % 4)) & 0xFF));
    }
    return !out->failed;
}

void percent_encode(struct buf *out, pawl_str text) {
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (char_is_alnum(c) || (c != '\0' && strchr("-._~", c) != NULL))
            buf_append_char(out, c);
        else
            buf_printf(out, "%%%02X", (unsigned char)c);
    }
}

pawl_str percent_decode(struct arena *arena, pawl_str text) {
    char *out = arena_alloc(arena, text.len + 1);
    size_t length = 0;
    for (size_t i = 0; out != NULL && i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '%') {
            int high = i + 2 < text.len ? hex_digit(text.ptr[i + 1]) : -1;
            int low = i + 2 < text.len ? hex_digit(text.ptr[i + 2]) : -1;
            if (high < 0 || low < 0)
                return (pawl_str){NULL, 0};
            c = (char)(high * 16 + low);
            i += 2;
        }
        out[length++] = c;
    }
    return (pawl_str){out, length};
}
