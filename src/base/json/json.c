/* The JSON validator: a scanner over (ptr, len) that keeps one bit per open level. */
#include "base/json/json.h"

#include <assert.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/utf8.h"

struct scanner {
    const char *ptr;
    size_t len;
    size_t at;
    const char *reason; /* set by the first failure */
};

/* What may come next. */
enum expect {
    EXPECT_VALUE,
    EXPECT_VALUE_OR_END, /* after [ */
    EXPECT_KEY,          /* after , in an object */
    EXPECT_KEY_OR_END,   /* after { */
    EXPECT_COLON,
    EXPECT_COMMA_OR_END,
    EXPECT_NOTHING
};

static bool fail(struct scanner *scan, const char *reason) {
    scan->reason = reason;
    return false;
}

/* The byte at an offset from here, or -1 past the end. */
static int peek(const struct scanner *scan, size_t offset) {
    return offset < scan->len - scan->at ? (unsigned char)scan->ptr[scan->at + offset] : -1;
}

static void skip_space(struct scanner *scan) {
    int c = peek(scan, 0);
    while (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        scan->at++;
        c = peek(scan, 0);
    }
}

/* The value of \uXXXX at an offset from here, or -1 when there is none. */
static int32_t unicode_escape(const struct scanner *scan, size_t offset) {
    int32_t value = 0;
    if (peek(scan, offset) != '\\' || peek(scan, offset + 1) != 'u')
        return -1;
    for (size_t i = 2; i < 6; i++) {
        int digit = hex_digit((char)peek(scan, offset + i));
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* An escape sequence; scan->at is at the backslash. */
static bool scan_escape(struct scanner *scan) {
    switch (peek(scan, 1)) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        scan->at += 2;
        return true;
    case 'u':
        break;
    default:
        return fail(scan, "unknown escape sequence");
    }
    int32_t code = unicode_escape(scan, 0);
    if (code < 0)
        return fail(scan, "\\u needs four hex digits");
    if (code == 0)
        return fail(scan, "\\u0000 cannot be stored");
    if (code >= 0xdc00 && code <= 0xdfff)
        return fail(scan, "low surrogate without a high one");
    if (code >= 0xd800 && code <= 0xdbff) {
        int32_t low = unicode_escape(scan, 6);
        if (low < 0xdc00 || low > 0xdfff)
            return fail(scan, "high surrogate without a low one");
        scan->at += 6;
    }
    scan->at += 6;
    return true;
}

/* A string; scan->at is at the opening quote. */
static bool scan_string(struct scanner *scan) {
    scan->at++;
    for (;;) {
        int c = peek(scan, 0);
        if (c < 0)
            return fail(scan, "string without an end");
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
            return fail(scan, "control character in a string");
        uint32_t code = 0;
        size_t step = utf8_decode(scan->ptr + scan->at, scan->len - scan->at, &code);
        if (step == 0)
            return fail(scan, "not valid UTF-8");
        scan->at += step;
    }
}

static size_t scan_digits(struct scanner *scan) {
    size_t count = 0;
    for (int c = peek(scan, 0); c >= '0' && c <= '9'; c = peek(scan, 0)) {
        scan->at++;
        count++;
    }
    return count;
}

/* The part after e or E. */
static bool scan_exponent(struct scanner *scan) {
    scan->at++;
    if (peek(scan, 0) == '+' || peek(scan, 0) == '-')
        scan->at++;
    size_t start = scan->at;
    size_t count = scan_digits(scan);
    int64_t exponent = 0;
    if (count == 0)
        return fail(scan, "exponent without digits");
    if (!str_to_i64((pawl_str){scan->ptr + start, count}, 0, PAWL_JSON_EXPONENT_MAX, &exponent))
        return fail(scan, "exponent too large");
    return true;
}

/* A number; scan->at is at its sign or first digit. */
static bool scan_number(struct scanner *scan) {
    size_t start = scan->at;
    if (peek(scan, 0) == '-')
        scan->at++;
    if (peek(scan, 0) == '0')
        scan->at++; /* nothing may follow but a fraction or an exponent */
    else if (scan_digits(scan) == 0)
        return fail(scan, "number without digits");
    if (peek(scan, 0) == '.') {
        scan->at++;
        if (scan_digits(scan) == 0)
            return fail(scan, "fraction without digits");
    }
    if ((peek(scan, 0) == 'e' || peek(scan, 0) == 'E') && !scan_exponent(scan))
        return false;
    if (scan->at - start > PAWL_JSON_NUMBER_BYTES_MAX)
        return fail(scan, "number too long");
    return true;
}

static bool scan_word(struct scanner *scan, pawl_str word) {
    pawl_str rest = {scan->ptr + scan->at, scan->len - scan->at};
    if (!str_starts_with(rest, word))
        return fail(scan, "a value was expected");
    scan->at += word.len;
    return true;
}

/* A value that is not an array or object. */
static bool scan_scalar(struct scanner *scan) {
    switch (peek(scan, 0)) {
    case '"':
        return scan_string(scan);
    case 't':
        return scan_word(scan, STR("true"));
    case 'f':
        return scan_word(scan, STR("false"));
    case 'n':
        return scan_word(scan, STR("null"));
    case -1:
        return fail(scan, "the text ends early");
    default:
        break;
    }
    int c = peek(scan, 0);
    if (c == '-' || (c >= '0' && c <= '9'))
        return scan_number(scan);
    return fail(scan, "a value was expected");
}

/* Where the scanner is in the nesting. */
struct nesting {
    unsigned depth;
    unsigned depth_max;
    uint64_t in_object; /* bit per level */
};

static bool top_is_object(const struct nesting *nest) { return nest->in_object >> (nest->depth - 1) & 1; }

static enum expect after_value(const struct nesting *nest) {
    return nest->depth == 0 ? EXPECT_NOTHING : EXPECT_COMMA_OR_END;
}

static bool open_level(struct scanner *scan, struct nesting *nest, bool object) {
    if (nest->depth == nest->depth_max)
        return fail(scan, "nested too deeply");
    uint64_t bit = UINT64_C(1) << nest->depth;
    nest->in_object = object ? nest->in_object | bit : nest->in_object & ~bit;
    nest->depth++;
    scan->at++;
    return true;
}

/* One step: takes one token and says what may follow it. */
static bool step_value(struct scanner *scan, struct nesting *nest, enum expect *expect) {
    int c = peek(scan, 0);
    if (c == ']' && *expect == EXPECT_VALUE_OR_END) {
        scan->at++;
        nest->depth--;
        *expect = after_value(nest);
        return true;
    }
    if (c == '{' || c == '[') {
        *expect = c == '{' ? EXPECT_KEY_OR_END : EXPECT_VALUE_OR_END;
        return open_level(scan, nest, c == '{');
    }
    *expect = after_value(nest);
    return scan_scalar(scan);
}

static bool step_key(struct scanner *scan, struct nesting *nest, enum expect *expect) {
    int c = peek(scan, 0);
    if (c == '}' && *expect == EXPECT_KEY_OR_END) {
        scan->at++;
        nest->depth--;
        *expect = after_value(nest);
        return true;
    }
    if (c != '"')
        return fail(scan, c < 0 ? "the text ends early" : "a key in quotes was expected");
    *expect = EXPECT_COLON;
    return scan_string(scan);
}

static bool step_comma(struct scanner *scan, struct nesting *nest, enum expect *expect) {
    int c = peek(scan, 0);
    bool object = top_is_object(nest);
    if (c == ',') {
        *expect = object ? EXPECT_KEY : EXPECT_VALUE;
    } else if (c == (object ? '}' : ']')) {
        nest->depth--;
        *expect = after_value(nest);
    } else {
        return fail(scan, c < 0    ? "the text ends early"
                          : object ? ", or } was expected"
                                   : ", or ] was expected");
    }
    scan->at++;
    return true;
}

static bool step(struct scanner *scan, struct nesting *nest, enum expect *expect) {
    switch (*expect) {
    case EXPECT_VALUE:
    case EXPECT_VALUE_OR_END:
        return step_value(scan, nest, expect);
    case EXPECT_KEY:
    case EXPECT_KEY_OR_END:
        return step_key(scan, nest, expect);
    case EXPECT_COLON:
        if (peek(scan, 0) != ':')
            return fail(scan, ": was expected");
        scan->at++;
        *expect = EXPECT_VALUE;
        return true;
    case EXPECT_COMMA_OR_END:
        return step_comma(scan, nest, expect);
    case EXPECT_NOTHING:
        break;
    }
    return fail(scan, "text after the end of the value");
}

bool json_valid(pawl_str text, unsigned depth_max, struct json_fault *fault) {
    assert(depth_max <= PAWL_JSON_DEPTH_MAX);
    struct scanner scan = {.ptr = text.ptr, .len = text.len};
    struct nesting nest = {.depth_max = depth_max};
    enum expect expect = EXPECT_VALUE;
    bool valid = true;
    skip_space(&scan);
    do {
        valid = step(&scan, &nest, &expect);
        if (valid)
            skip_space(&scan);
    } while (valid && (expect != EXPECT_NOTHING || scan.at < scan.len));
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
