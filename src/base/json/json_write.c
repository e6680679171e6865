/* The JSON writer: strings with the right escapes, structures with the right commas. */
#include "base/json/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/str.h"
#include "base/utf8.h"

_Static_assert(PAWL_JSON_DEPTH_MAX <= 64, "a level is one bit of a 64-bit number");

static void quote_code(struct buf *buf, uint32_t code, const char *bytes, size_t len) {
    static const char signs[] = "\"\\\n\r\t", letters[] = "\"\\nrt";
    const char *sign = code > 0 && code < 0x80 ? strchr(signs, (int)code) : NULL;
    if (sign != NULL)
        buf_append(buf, (char[]){'\\', letters[sign - signs]}, 2);
    else if (utf8_is_control(code))
        buf_printf(buf, "\\u%04" PRIx32, code);
    else
        buf_append(buf, bytes, len);
}

static bool is_plain(char c) { return c >= ' ' && c < 0x7f && c != '"' && c != '\\'; }

/* What needs no escape is copied at once; that is almost all of a text. */
void json_quote(struct buf *buf, pawl_str text) {
    buf_append_char(buf, '"');
    for (size_t at = 0; at < text.len;) {
        uint32_t code = 0;
        size_t plain = 0;
        while (at + plain < text.len && is_plain(text.ptr[at + plain]))
            plain++;
        size_t step = plain > 0 ? plain : utf8_decode(text.ptr + at, text.len - at, &code);
        if (plain > 0) {
            buf_append(buf, text.ptr + at, plain);
        } else if (step == 0) {
            buf_append_cstr(buf, "\\ufffd");
            step = 1;
        } else {
            quote_code(buf, code, text.ptr + at, step);
        }
        at += step;
    }
    buf_append_char(buf, '"');
}

void json_writer_init(struct json_writer *writer, struct buf *buf) {
    *writer = (struct json_writer){.buf = buf};
}

/* The bit of the innermost open level. */
static uint64_t top_bit(const struct json_writer *writer) { return UINT64_C(1) << (writer->depth - 1); }

/* Everything that may be written in place of a value begins here. */
static void before_value(struct json_writer *writer) {
    if (writer->depth == 0)
        return;
    if (writer->in_object & top_bit(writer)) {
        if (!writer->after_key)
            writer->buf->failed = true;
        writer->after_key = false;
        return;
    }
    if (writer->has_items & top_bit(writer))
        buf_append_char(writer->buf, ',');
    writer->has_items |= top_bit(writer);
}

static void begin(struct json_writer *writer, bool object) {
    before_value(writer);
    if (writer->depth == PAWL_JSON_DEPTH_MAX) {
        writer->buf->failed = true;
        return;
    }
    writer->depth++;
    writer->has_items &= ~top_bit(writer);
    writer->in_object = object ? writer->in_object | top_bit(writer) : writer->in_object & ~top_bit(writer);
    buf_append_char(writer->buf, object ? '{' : '[');
}

static void end(struct json_writer *writer, bool object) {
    if (writer->depth == 0 || writer->after_key || !!(writer->in_object & top_bit(writer)) != object) {
        writer->buf->failed = true;
        return;
    }
    writer->depth--;
    buf_append_char(writer->buf, object ? '}' : ']');
}

void json_begin_object(struct json_writer *writer) { begin(writer, true); }

void json_end_object(struct json_writer *writer) { end(writer, true); }

void json_begin_array(struct json_writer *writer) { begin(writer, false); }

void json_end_array(struct json_writer *writer) { end(writer, false); }

void json_key(struct json_writer *writer, const char *key) {
    if (writer->depth == 0 || writer->after_key || !(writer->in_object & top_bit(writer))) {
        writer->buf->failed = true;
        return;
    }
    if (writer->has_items & top_bit(writer))
        buf_append_char(writer->buf, ',');
    writer->has_items |= top_bit(writer);
    writer->after_key = true;
    json_quote(writer->buf, str_from(key));
    buf_append_char(writer->buf, ':');
}

void json_str(struct json_writer *writer, pawl_str value) {
    if (str_absent(value)) {
        json_null(writer);
        return;
    }
    before_value(writer);
    json_quote(writer->buf, value);
}

void json_cstr(struct json_writer *writer, const char *value) { json_str(writer, str_from(value)); }

void json_int(struct json_writer *writer, int64_t value) {
    before_value(writer);
    buf_printf(writer->buf, "%" PRId64, value);
}

void json_double(struct json_writer *writer, double value) {
    char text[32];
    if (!isfinite(value)) {
        json_null(writer);
        return;
    }
    /* The shorter form when it reads back as the same number. */
    snprintf(text, sizeof text, "%.15g", value);
    if (strtod(text, NULL) != value)
        snprintf(text, sizeof text, "%.17g", value);
    before_value(writer);
    buf_append_cstr(writer->buf, text);
}

void json_bool(struct json_writer *writer, bool value) {
    before_value(writer);
    buf_append_cstr(writer->buf, value ? "true" : "false");
}

void json_null(struct json_writer *writer) {
    before_value(writer);
    buf_append_cstr(writer->buf, "null");
}

void json_raw(struct json_writer *writer, pawl_str value) {
    if (str_absent(value)) {
        json_null(writer);
        return;
    }
    before_value(writer);
    buf_append_str(writer->buf, value);
}

void json_put_str(struct json_writer *writer, const char *key, pawl_str value) {
    json_key(writer, key);
    json_str(writer, value);
}

void json_put_cstr(struct json_writer *writer, const char *key, const char *value) {
    json_key(writer, key);
    json_cstr(writer, value);
}

void json_put_int(struct json_writer *writer, const char *key, int64_t value) {
    json_key(writer, key);
    json_int(writer, value);
}

void json_put_bool(struct json_writer *writer, const char *key, bool value) {
    json_key(writer, key);
    json_bool(writer, value);
}

void json_put_raw(struct json_writer *writer, const char *key, pawl_str value) {
    json_key(writer, key);
    json_raw(writer, value);
}
