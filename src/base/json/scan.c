/* JSON text, token by token (RFC 8259). */
#include "base/json/scan.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "base/json/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/utf8.h"

static bool fail(struct json_scan *scan, const char *reason) {
    scan->reason = reason;
    return false;
}

/* The byte at an offset from here, or -1 past the end. */
static int peek(const struct json_scan *scan, size_t offset) {
    return offset < scan->text.len - scan->at ? (unsigned char)scan->text.ptr[scan->at + offset] : -1;
}

static void skip_space(struct json_scan *scan) {
    for (int c = peek(scan, 0); c == ' ' || c == '\t' || c == '\n' || c == '\r'; c = peek(scan, 0)) {
        scan->at++;
        if (c == '\n') {
            scan->line++;
            scan->line_at = scan->at;
        }
    }
}

/* The value of \uXXXX, or -1 when text does not begin with one. */
static int32_t unicode_escape(pawl_str text) {
    int32_t value = 0;
    if (text.len < 6 || text.ptr[0] != '\\' || text.ptr[1] != 'u')
        return -1;
    for (size_t i = 2; i < 6; i++) {
        int digit = hex_digit(text.ptr[i]);
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

static bool is_low_surrogate(int32_t code) { return code >= 0xdc00 && code <= 0xdfff; }
static bool is_high_surrogate(int32_t code) { return code >= 0xd800 && code <= 0xdbff; }

/* An escape sequence; scan->at is at the backslash. */
static bool scan_escape(struct json_scan *scan) {
    int c = peek(scan, 1);
    if (c > 0 && strchr("\"\\/bfnrt", c) != NULL) {
        scan->at += 2;
        return true;
    }
    if (c != 'u')
        return fail(scan, "there is no such escape");
    pawl_str rest = str_skip(scan->text, scan->at);
    int32_t code = unicode_escape(rest);
    if (code < 0)
        return fail(scan, "\\u needs four hexadecimal digits");
    if (code == 0 && !scan->allow_nul)
        return fail(scan, "\\u0000 cannot be stored: leave it out");
    bool pair = is_high_surrogate(code);
    if (is_low_surrogate(code) || (pair && !is_low_surrogate(unicode_escape(str_skip(rest, 6)))))
        return fail(scan, "half of a surrogate pair is missing");
    scan->at += pair ? 12 : 6;
    return true;
}

/* A string; scan->at is at the opening quote. */
static bool scan_string(struct json_scan *scan) {
    scan->at++;
    for (;;) {
        int c = peek(scan, 0);
        uint32_t code = 0;
        if (c < 0)
            return fail(scan, "the string does not end");
        if (c == '"') {
            scan->at++;
            return true;
        }
        if (c == '\\') {
            if (!scan_escape(scan))
                return false;
            continue;
        }
        if (c < 0x20)
            return fail(scan, "a control character must be written as an escape");
        size_t step = c < 0x80 ? 1 : utf8_decode(scan->text.ptr + scan->at, scan->text.len - scan->at, &code);
        if (step == 0)
            return fail(scan, "the text is not valid UTF-8");
        scan->at += step;
    }
}

static size_t scan_digits(struct json_scan *scan) {
    size_t start = scan->at;
    for (int c = peek(scan, 0); c >= '0' && c <= '9'; c = peek(scan, 0))
        scan->at++;
    return scan->at - start;
}

/* The part after e or E. */
static bool scan_exponent(struct json_scan *scan) {
    scan->at++;
    if (peek(scan, 0) == '+' || peek(scan, 0) == '-')
        scan->at++;
    size_t start = scan->at;
    size_t count = scan_digits(scan);
    int64_t exponent = 0;
    if (count == 0)
        return fail(scan, "the number's exponent is missing");
    if (!str_to_i64((pawl_str){scan->text.ptr + start, count}, 0, PAWL_JSON_EXPONENT_MAX, &exponent))
        return fail(scan, "the number's exponent is larger than 9999");
    return true;
}

/* A number; scan->at is at its sign or first digit. */
static bool scan_number(struct json_scan *scan) {
    size_t start = scan->at;
    if (peek(scan, 0) == '-')
        scan->at++;
    bool zero = peek(scan, 0) == '0';
    scan->at += zero;
    if (scan_digits(scan) > 0 && zero) {
        scan->at = start + 1;
        return fail(scan, "a number has no zeros in front");
    }
    if (scan->at == start || scan->text.ptr[scan->at - 1] == '-')
        return fail(scan, "a value is expected");
    if (peek(scan, 0) == '.') {
        scan->at++;
        if (scan_digits(scan) == 0)
            return fail(scan, "digits are missing after the point");
    }
    if ((peek(scan, 0) == 'e' || peek(scan, 0) == 'E') && !scan_exponent(scan))
        return false;
    if (scan->at - start > PAWL_JSON_NUMBER_BYTES_MAX)
        return fail(scan, "the number has too many digits");
    return true;
}

static bool scan_scalar(struct json_scan *scan, struct json_token *token) {
    static const struct {
        const char *word;
        enum tree_kind type;
    } words[] = {{"null", TREE_NULL}, {"true", TREE_TRUE}, {"false", TREE_FALSE}};
    pawl_str rest = str_skip(scan->text, scan->at);
    int c = peek(scan, 0);
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        if (c == words[i].word[0] && str_starts_with(rest, str_from(words[i].word))) {
            token->type = words[i].type;
            scan->at += strlen(words[i].word);
            return true;
        }
    }
    bool string = c == '"';
    token->type = string ? TREE_STRING : TREE_NUMBER;
    return string ? scan_string(scan) : scan_number(scan);
}

/* After a value: outside of everything nothing may follow. */
static bool value_ends(struct json_scan *scan) {
    scan->expect = scan->depth == 0 ? EXPECT_NOTHING : EXPECT_COMMA;
    return true;
}

static bool scan_value(struct json_scan *scan, struct json_token *token) {
    int c = peek(scan, 0);
    token->kind = TOKEN_VALUE;
    if (c != '{' && c != '[')
        return scan_scalar(scan, token) && value_ends(scan);
    if (scan->depth == scan->depth_max) {
        scan->too_deep = true;
        return fail(scan, "nested too deeply");
    }
    token->kind = TOKEN_OPEN;
    token->type = c == '{' ? TREE_OBJECT : TREE_ARRAY;
    scan->in_object[scan->depth++] = c == '{';
    scan->expect = EXPECT_FIRST;
    scan->at++;
    return true;
}

static bool scan_close(struct json_scan *scan, struct json_token *token) {
    token->kind = TOKEN_CLOSE;
    token->type = scan->in_object[--scan->depth] ? TREE_OBJECT : TREE_ARRAY;
    scan->at++;
    return value_ends(scan);
}

/* Takes the comma or colon that must come first; then expect says what follows. */
static bool scan_mark(struct json_scan *scan, bool object) {
    bool colon = scan->expect == EXPECT_COLON;
    if (peek(scan, 0) != (colon ? ':' : ','))
        return fail(scan, colon    ? "':' is expected after the key"
                          : object ? "',' or '}' is expected"
                                   : "',' or ']' is expected");
    scan->at++;
    scan->expect = object && !colon ? EXPECT_KEY : EXPECT_VALUE;
    skip_space(scan);
    return true;
}

static bool scan_token(struct json_scan *scan, struct json_token *token) {
    bool object = scan->depth > 0 && scan->in_object[scan->depth - 1];
    bool may_close = scan->expect == EXPECT_FIRST || scan->expect == EXPECT_COMMA;
    if (may_close && peek(scan, 0) == (object ? '}' : ']'))
        return scan_close(scan, token);
    if (scan->expect == EXPECT_FIRST)
        scan->expect = object ? EXPECT_KEY : EXPECT_VALUE;
    if (scan->expect == EXPECT_VALUE)
        return scan_value(scan, token);
    if (scan->expect == EXPECT_KEY) {
        if (peek(scan, 0) != '"')
            return fail(scan, "a key in quotes is expected");
        token->kind = TOKEN_KEY;
        scan->expect = EXPECT_COLON;
        return scan_string(scan);
    }
    token->kind = TOKEN_END;
    return scan->at == scan->text.len || fail(scan, "something follows the value");
}

bool json_next(struct json_scan *scan, struct json_token *token) {
    bool object = scan->depth > 0 && scan->in_object[scan->depth - 1];
    skip_space(scan);
    bool closes = scan->expect == EXPECT_COMMA && peek(scan, 0) == (object ? '}' : ']');
    if ((scan->expect == EXPECT_COLON || (scan->expect == EXPECT_COMMA && !closes)) &&
        !scan_mark(scan, object))
        return false;
    size_t start = scan->at;
    token->line = scan->line;
    token->column = start - scan->line_at + 1;
    if (!scan_token(scan, token))
        return false;
    token->raw = (pawl_str){scan->text.ptr + start, scan->at - start};
    return true;
}

static size_t encode_utf8(uint32_t code, char *out) {
    static const uint8_t marks[] = {0, 0, 0xC0, 0xE0, 0xF0};
    size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = length; i > 1; i--, code >>= 6)
        out[i - 1] = (char)(0x80 | (code & 0x3F));
    out[0] = (char)(marks[length] | code);
    return length;
}

size_t json_unescape(pawl_str raw, char *out) {
    static const char names[] = "\"\\/bfnrt";
    static const char values[] = "\"\\/\b\f\n\r\t";
    pawl_str text = {raw.ptr + 1, raw.len - 2};
    size_t length = 0;
    while (text.len > 0) {
        int32_t code = unicode_escape(text);
        size_t used = 1;
        if (code >= 0) {
            used = is_high_surrogate(code) ? 12 : 6;
            if (used == 12)
                code = 0x10000 + ((code - 0xD800) << 10 | (unicode_escape(str_skip(text, 6)) - 0xDC00));
            length += encode_utf8((uint32_t)code, out + length);
        } else if (text.ptr[0] == '\\') {
            used = 2;
            out[length++] = values[strchr(names, text.ptr[1]) - names];
        } else {
            out[length++] = text.ptr[0];
        }
        text = str_skip(text, used);
    }
    return length;
}

bool json_valid(pawl_str text, unsigned depth_max, struct json_fault *fault) {
    assert(depth_max <= PAWL_JSON_DEPTH_MAX);
    struct json_scan scan = {.text = text, .line = 1, .depth_max = depth_max};
    struct json_token token = {.kind = TOKEN_VALUE};
    bool valid = true;
    while (valid && token.kind != TOKEN_END)
        valid = json_next(&scan, &token);
    if (!valid && fault != NULL)
        *fault = (struct json_fault){scan.at, scan.reason};
    return valid;
}

pawl_status json_check(pawl_str text, const char *op, pawl_error *err) {
    struct json_fault fault;
    if (json_valid(text, PAWL_JSON_DEPTH_MAX, &fault))
        return PAWL_OK;
    return error_set(err, PAWL_INVALID, op, "not valid JSON at byte %zu: %s", fault.offset, fault.reason);
}
