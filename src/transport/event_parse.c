/* Reading a CloudEvent from its JSON form; the data keeps its exact bytes. */
#include <string.h>

#include "base/error.h"
#include "base/json/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "transport/event.h"

struct scan {
    const char *at, *end;
};

static void skip_blank(struct scan *scan) {
    while (scan->at < scan->end && strchr(" \t\r\n", *scan->at) != NULL)
        scan->at++;
}

/* The text is valid JSON, so a string always ends. Returns it with its quotes. */
static pawl_str take_string(struct scan *scan) {
    const char *begin = scan->at++;
    while (scan->at < scan->end && *scan->at != '"')
        scan->at += *scan->at == '\\' ? 2 : 1;
    scan->at++;
    return (pawl_str){begin, (size_t)(scan->at - begin)};
}

static pawl_str take_value(struct scan *scan) {
    const char *begin = scan->at;
    int depth = 0;
    while (scan->at < scan->end) {
        char c = *scan->at;
        if (c == '"') {
            (void)take_string(scan);
            if (depth == 0)
                break;
            continue;
        }
        if (depth == 0 && (c == ',' || c == '}' || c == ']'))
            break;
        depth += (c == '{' || c == '[') ? 1 : (c == '}' || c == ']') ? -1 : 0;
        scan->at++;
        if (depth == 0 && (c == '}' || c == ']'))
            break;
    }
    return str_trim((pawl_str){begin, (size_t)(scan->at - begin)});
}

static unsigned hex4(const char *at) {
    unsigned value = 0;
    for (int i = 0; i < 4; i++)
        value = value * 16 + (unsigned)hex_digit(at[i]);
    return value;
}

static char *put_utf8(char *out, unsigned code) {
    if (code < 0x80) {
        *out++ = (char)code;
    } else if (code < 0x800) {
        *out++ = (char)(0xc0 | (code >> 6));
        *out++ = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        *out++ = (char)(0xe0 | (code >> 12));
        *out++ = (char)(0x80 | ((code >> 6) & 0x3f));
        *out++ = (char)(0x80 | (code & 0x3f));
    } else {
        *out++ = (char)(0xf0 | (code >> 18));
        *out++ = (char)(0x80 | ((code >> 12) & 0x3f));
        *out++ = (char)(0x80 | ((code >> 6) & 0x3f));
        *out++ = (char)(0x80 | (code & 0x3f));
    }
    return out;
}

/* The text of a JSON string; pairs of surrogates were checked before. NULL ptr: out of memory. */
static pawl_str unquote(struct arena *arena, pawl_str quoted) {
    const char *at = quoted.ptr + 1, *end = quoted.ptr + quoted.len - 1;
    if (memchr(at, '\\', (size_t)(end - at)) == NULL)
        return (pawl_str){at, (size_t)(end - at)};
    char *copy = arena_alloc(arena, quoted.len);
    char *out = copy;
    while (copy != NULL && at < end) {
        if (*at != '\\') {
            *out++ = *at++;
            continue;
        }
        static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
        const char *simple = strchr(names, at[1]);
        if (simple != NULL) {
            *out++ = meant[simple - names];
            at += 2;
            continue;
        }
        unsigned code = hex4(at + 2);
        at += 6;
        if (code >= 0xd800 && code < 0xdc00) {
            code = 0x10000 + ((code - 0xd800) << 10) + (hex4(at + 2) - 0xdc00);
            at += 6;
        }
        out = put_utf8(out, code);
    }
    return (pawl_str){copy, copy != NULL ? (size_t)(out - copy) : 0};
}

static int base64_value(char c) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = c != '\0' ? strchr(digits, c) : NULL;
    return found != NULL ? (int)(found - digits) : -1;
}

static bool base64_decode(struct arena *arena, pawl_str text, pawl_str *out) {
    char *bytes = arena_alloc(arena, text.len + 1);
    size_t len = 0;
    unsigned held = 0, bits = 0;
    while (text.len > 0 && text.ptr[text.len - 1] == '=')
        text.len--;
    for (size_t i = 0; bytes != NULL && i < text.len; i++) {
        int value = base64_value(text.ptr[i]);
        if (value < 0)
            return false;
        held = held << 6 | (unsigned)value;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            bytes[len++] = (char)(held >> bits & 0xff);
        }
    }
    *out = (pawl_str){bytes, len};
    return bytes != NULL;
}

static pawl_status take_member(struct arena *arena, struct event *event, pawl_str key, pawl_str value,
                               bool *version, pawl_error *err) {
    if (str_equal_cstr(key, "data")) {
        event->data = value;
        return PAWL_OK;
    }
    if (str_equal_cstr(value, "null"))
        return PAWL_OK;
    if (value.ptr[0] == '{' || value.ptr[0] == '[')
        return error_set(err, PAWL_INVALID, "event", "the attribute %.*s is not a simple value",
                         STR_ARG(key));
    pawl_str text = value.ptr[0] == '"' ? unquote(arena, value) : value;
    if (text.ptr == NULL)
        return error_set(err, PAWL_NO_MEMORY, "event", "out of memory");
    if (str_equal_cstr(key, "data_base64")) {
        if (!base64_decode(arena, text, &event->data))
            return error_set(err, PAWL_INVALID, "event", "data_base64 is not base64");
        return PAWL_OK;
    }
    if (!event_set(event, key, text))
        return error_set(err, PAWL_INVALID, "event", "specversion is %.*s; 1.0 is understood", STR_ARG(text));
    *version = *version || str_equal_cstr(key, "specversion");
    return PAWL_OK;
}

pawl_status event_parse(struct arena *arena, pawl_str text, struct event *event, pawl_error *err) {
    pawl_error inner;
    text = str_trim(text);
    if (json_check(text, "event", &inner) != PAWL_OK)
        return error_set(err, PAWL_INVALID, "event", "not a CloudEvent: %s", inner.text);
    if (text.ptr[0] != '{')
        return error_set(err, PAWL_INVALID, "event", "not a CloudEvent: the JSON is not an object");
    struct event found = {0};
    struct scan scan = {text.ptr + 1, text.ptr + text.len - 1};
    bool version = false;
    pawl_status status = PAWL_OK;
    skip_blank(&scan);
    while (scan.at < scan.end && status == PAWL_OK) {
        pawl_str key = unquote(arena, take_string(&scan));
        if (key.ptr == NULL)
            return error_set(err, PAWL_NO_MEMORY, "event", "out of memory");
        skip_blank(&scan);
        scan.at++; /* the colon */
        skip_blank(&scan);
        pawl_str value = take_value(&scan);
        status = take_member(arena, &found, key, value, &version, err);
        skip_blank(&scan);
        if (scan.at < scan.end)
            scan.at++; /* the comma */
        skip_blank(&scan);
    }
    if (status == PAWL_OK && !version)
        return error_set(err, PAWL_INVALID, "event", "not a CloudEvent: specversion is missing");
    if (status == PAWL_OK)
        *event = found;
    return status;
}
