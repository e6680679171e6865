/* Reading a CloudEvent from its JSON form; the data keeps its exact bytes. */
#include <string.h>

#include "base/error.h"
#include "base/json/json.h"
#include "base/json/scan.h"
#include "base/limits.h"
#include "base/str.h"
#include "transport/event.h"

/* A string without its quotes and escapes. ptr NULL: out of memory. */
static pawl_str unquote(struct arena *arena, pawl_str quoted) {
    if (memchr(quoted.ptr, '\\', quoted.len) == NULL)
        return (pawl_str){quoted.ptr + 1, quoted.len - 2};
    char *text = arena_alloc(arena, quoted.len);
    return (pawl_str){text, text != NULL ? json_unescape(quoted, text) : 0};
}

/* The exact text of the next value, whatever is in it. The whole text was checked before. */
static pawl_str take_value(struct json_scan *scan) {
    struct json_token token;
    size_t depth = scan->depth;
    if (!json_next(scan, &token))
        return STR("null");
    const char *begin = token.raw.ptr;
    while (scan->depth > depth && json_next(scan, &token))
        ;
    return (pawl_str){begin, (size_t)(token.raw.ptr + token.raw.len - begin)};
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
        return error_no_memory(err, "event");
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
    struct json_scan scan = {.text = text, .line = 1, .depth_max = PAWL_JSON_DEPTH_MAX};
    struct json_token token;
    bool version = false;
    pawl_status status = PAWL_OK;
    while (status == PAWL_OK && json_next(&scan, &token) && token.kind != TOKEN_END) {
        if (token.kind != TOKEN_KEY)
            continue;
        pawl_str key = unquote(arena, token.raw);
        if (key.ptr == NULL)
            return error_no_memory(err, "event");
        status = take_member(arena, &found, key, take_value(&scan), &version, err);
    }
    if (status == PAWL_OK && !version)
        return error_set(err, PAWL_INVALID, "event", "not a CloudEvent: specversion is missing");
    if (status == PAWL_OK)
        *event = found;
    return status;
}
