/* Reads JSON text into a tree. */
#include <string.h>

#include "base/json/tree.h"
#include "base/json/tree_build.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/utf8.h"

struct reader {
    struct tree_build build;
    const char *text;
    size_t len, at;
    size_t line, line_at; /* line_at: where the line starts */
};

static pawl_status read_value(struct reader *reader, size_t depth, struct tree **value);

static pawl_status wrong_at(const struct reader *reader, size_t at, const char *why) {
    return tree_build_wrong(&reader->build, reader->line, at - reader->line_at + 1, "%s", why);
}

static pawl_status wrong(const struct reader *reader, const char *why) {
    return wrong_at(reader, reader->at, why);
}

static char peek(const struct reader *reader) {
    return reader->at < reader->len ? reader->text[reader->at] : '\0';
}

static void skip_blanks(struct reader *reader) {
    for (; reader->at < reader->len; reader->at++) {
        char c = reader->text[reader->at];
        if (c == '\n') {
            reader->line++;
            reader->line_at = reader->at + 1;
        } else if (c != ' ' && c != '\t' && c != '\r') {
            return;
        }
    }
}

static bool read_hex4(struct reader *reader, uint32_t *code) {
    if (reader->len - reader->at < 4)
        return false;
    *code = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(reader->text[reader->at + (size_t)i]);
        if (digit < 0)
            return false;
        *code = *code << 4 | (uint32_t)digit;
    }
    reader->at += 4;
    return true;
}

static size_t encode_utf8(uint32_t code, char *out) {
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3F));
        out[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3F));
    out[2] = (char)(0x80 | (code >> 6 & 0x3F));
    out[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

/* After \u; a pair of surrogates is one character. */
static pawl_status read_unicode_escape(struct reader *reader, char *out, size_t *length) {
    uint32_t code = 0;
    size_t start = reader->at - 2;
    if (!read_hex4(reader, &code))
        return wrong_at(reader, start, "\\u needs four hexadecimal digits");
    if (code == 0 && !reader->build.limits.allow_nul)
        return wrong_at(reader, start, "\\u0000 cannot be stored: leave it out");
    if (code >= 0xD800 && code < 0xDC00) {
        uint32_t low = 0;
        if (reader->len - reader->at < 2 || memcmp(reader->text + reader->at, "\\u", 2) != 0)
            return wrong_at(reader, start, "half of a surrogate pair is missing");
        reader->at += 2;
        if (!read_hex4(reader, &low) || low < 0xDC00 || low > 0xDFFF)
            return wrong_at(reader, start, "half of a surrogate pair is missing");
        code = 0x10000 + ((code - 0xD800) << 10 | (low - 0xDC00));
    } else if (code >= 0xDC00 && code < 0xE000) {
        return wrong_at(reader, start, "half of a surrogate pair is missing");
    }
    *length += encode_utf8(code, out + *length);
    return PAWL_OK;
}

static pawl_status read_escape(struct reader *reader, char *out, size_t *length) {
    static const char names[] = "\"\\/bfnrt";
    static const char values[] = "\"\\/\b\f\n\r\t";
    reader->at++;
    char c = peek(reader);
    reader->at++;
    if (c == 'u')
        return read_unicode_escape(reader, out, length);
    const char *found = c != '\0' ? strchr(names, c) : NULL;
    if (found == NULL)
        return wrong_at(reader, reader->at - 2, "there is no such escape");
    out[(*length)++] = values[found - names];
    return PAWL_OK;
}

/* At the opening quote. */
static pawl_status read_string(struct reader *reader, pawl_str *string) {
    size_t start = reader->at++;
    size_t end = reader->at;
    while (end < reader->len && reader->text[end] != '"' && reader->text[end] != '\n')
        end += reader->text[end] == '\\' ? 2 : 1;
    if (end >= reader->len || reader->text[end] != '"')
        return wrong_at(reader, start, "the string does not end");
    char *out = arena_alloc(reader->build.arena, end - reader->at + 1); /* escapes only shrink */
    if (out == NULL)
        return tree_build_no_memory(&reader->build);
    size_t length = 0;
    while (reader->at < end) {
        char c = reader->text[reader->at];
        if ((unsigned char)c < 0x20)
            return wrong(reader, "a control character must be written as an escape");
        if (c == '\\') {
            pawl_status status = read_escape(reader, out, &length);
            if (status != PAWL_OK)
                return status;
        } else {
            out[length++] = c;
            reader->at++;
        }
    }
    reader->at = end + 1;
    *string = (pawl_str){out, length};
    return PAWL_OK;
}

static size_t skip_digits(struct reader *reader) {
    size_t start = reader->at;
    while (peek(reader) >= '0' && peek(reader) <= '9')
        reader->at++;
    return reader->at - start;
}

static pawl_status check_exponent(struct reader *reader) {
    reader->at++;
    if (peek(reader) == '+' || peek(reader) == '-')
        reader->at++;
    while (peek(reader) == '0' && reader->at + 1 < reader->len && reader->text[reader->at + 1] >= '0' &&
           reader->text[reader->at + 1] <= '9')
        reader->at++;
    size_t digits = skip_digits(reader);
    if (digits == 0)
        return wrong(reader, "the number's exponent is missing");
    if (digits > 4)
        return wrong(reader, "the number's exponent is larger than 9999");
    return PAWL_OK;
}

static pawl_status read_number(struct reader *reader, pawl_str *number) {
    size_t start = reader->at;
    if (peek(reader) == '-')
        reader->at++;
    bool zero = peek(reader) == '0';
    size_t digits = skip_digits(reader);
    if (digits == 0)
        return wrong_at(reader, start, "a value is expected");
    if (zero && digits > 1)
        return wrong_at(reader, start, "a number has no zeros in front");
    if (peek(reader) == '.') {
        reader->at++;
        if (skip_digits(reader) == 0)
            return wrong(reader, "digits are missing after the point");
    }
    if (peek(reader) == 'e' || peek(reader) == 'E') {
        pawl_status status = check_exponent(reader);
        if (status != PAWL_OK)
            return status;
    }
    if (reader->at - start > PAWL_JSON_NUMBER_BYTES_MAX)
        return wrong_at(reader, start, "the number has too many digits");
    *number = (pawl_str){reader->text + start, reader->at - start};
    return PAWL_OK;
}

/* At the key of a member. */
static pawl_status read_member(struct reader *reader, size_t depth) {
    pawl_str key = {NULL, 0};
    struct tree *value = NULL;
    size_t line = reader->line;
    size_t column = reader->at - reader->line_at + 1;
    if (peek(reader) != '"')
        return wrong(reader, "a key in quotes is expected");
    pawl_status status = read_string(reader, &key);
    if (status != PAWL_OK)
        return status;
    skip_blanks(reader);
    if (peek(reader) != ':')
        return wrong(reader, "':' is expected after the key");
    reader->at++;
    skip_blanks(reader);
    status = read_value(reader, depth, &value);
    if (status != PAWL_OK)
        return status;
    value->key = key;
    if (value->line == line) /* people look for the key */
        value->column = (uint32_t)column;
    return tree_build_push(&reader->build, value);
}

static pawl_status read_items(struct reader *reader, enum tree_kind kind, char closing, size_t depth) {
    for (bool first = true;; first = false) {
        skip_blanks(reader);
        if (first && peek(reader) == closing)
            break;
        pawl_status status = PAWL_OK;
        struct tree *value = NULL;
        if (kind == TREE_OBJECT) {
            status = read_member(reader, depth);
        } else {
            status = read_value(reader, depth, &value);
            if (status == PAWL_OK)
                status = tree_build_push(&reader->build, value);
        }
        if (status != PAWL_OK)
            return status;
        skip_blanks(reader);
        if (peek(reader) == closing)
            break;
        if (peek(reader) != ',')
            return wrong(reader, kind == TREE_OBJECT ? "',' or '}' is expected" : "',' or ']' is expected");
        reader->at++;
    }
    reader->at++;
    return PAWL_OK;
}

static pawl_status read_container(struct reader *reader, enum tree_kind kind, size_t depth,
                                  struct tree **value) {
    size_t first = reader->build.open_count;
    if (depth >= reader->build.limits.depth_max)
        return tree_build_wrong(&reader->build, reader->line, reader->at - reader->line_at + 1,
                                "the document is nested more than %zu levels deep",
                                reader->build.limits.depth_max);
    reader->at++;
    pawl_status status = read_items(reader, kind, kind == TREE_OBJECT ? '}' : ']', depth + 1);
    return status != PAWL_OK ? status : tree_build_close(&reader->build, kind, first, value);
}

static pawl_status read_word(struct reader *reader, const char *word, enum tree_kind kind,
                             struct tree **value) {
    size_t length = strlen(word);
    if (reader->len - reader->at < length || memcmp(reader->text + reader->at, word, length) != 0)
        return wrong(reader, "a value is expected");
    reader->at += length;
    *value = tree_scalar(reader->build.arena, kind, (pawl_str){NULL, 0});
    return *value == NULL ? tree_build_no_memory(&reader->build) : PAWL_OK;
}

static pawl_status read_scalar(struct reader *reader, struct tree **value) {
    pawl_str text = {NULL, 0};
    char c = peek(reader);
    pawl_status status = PAWL_OK;
    if (c == 'n')
        return read_word(reader, "null", TREE_NULL, value);
    if (c == 't')
        return read_word(reader, "true", TREE_TRUE, value);
    if (c == 'f')
        return read_word(reader, "false", TREE_FALSE, value);
    status = c == '"' ? read_string(reader, &text) : read_number(reader, &text);
    if (status != PAWL_OK)
        return status;
    /* A string is in the arena already. */
    *value = c == '"' ? tree_scalar(reader->build.arena, TREE_NULL, text)
                      : tree_scalar(reader->build.arena, TREE_NUMBER, text);
    if (*value == NULL)
        return tree_build_no_memory(&reader->build);
    if (c == '"') {
        (*value)->kind = TREE_STRING;
        (*value)->text = text;
    }
    return PAWL_OK;
}

static pawl_status read_value(struct reader *reader, size_t depth, struct tree **value) {
    size_t line = reader->line;
    size_t column = reader->at - reader->line_at + 1;
    pawl_status status = tree_build_count(&reader->build, 1, line, column);
    if (status != PAWL_OK)
        return status;
    if (peek(reader) == '{')
        status = read_container(reader, TREE_OBJECT, depth, value);
    else if (peek(reader) == '[')
        status = read_container(reader, TREE_ARRAY, depth, value);
    else
        status = read_scalar(reader, value);
    if (status == PAWL_OK && *value != NULL) {
        (*value)->line = (uint32_t)line;
        (*value)->column = (uint32_t)column;
    }
    return status;
}

pawl_status tree_parse(struct arena *arena, pawl_str text, const struct tree_limits *limits,
                       const struct tree **tree, pawl_error *err) {
    struct reader reader = {.text = text.ptr != NULL ? text.ptr : "", .len = text.len, .line = 1};
    struct tree *value = NULL;
    size_t bad = 0;
    tree_build_init(&reader.build, arena, limits, "tree_parse", err);
    pawl_status status = PAWL_OK;
    if (!utf8_valid((pawl_str){reader.text, reader.len}, true, &bad)) {
        while (reader.at < bad && reader.at < reader.len)
            skip_blanks(&reader), reader.at++;
        status = wrong_at(&reader, bad, "the text is not valid UTF-8");
        goto done;
    }
    skip_blanks(&reader);
    status = read_value(&reader, 0, &value);
    if (status != PAWL_OK)
        goto done;
    skip_blanks(&reader);
    if (reader.at != reader.len)
        status = wrong(&reader, "something follows the value");
    else
        *tree = value;
done:
    tree_build_free(&reader.build);
    return status;
}
