/* Reading a CloudEvent from its JSON form; the data keeps its exact bytes. */
#include <string.h>

#include "base/error.h"
#include "base/json/json.h"
#include "base/json/scan.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/text/encode.h"
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

/* Data in base64; the buffer's memory does not outlive the call, so it is copied. */
static pawl_status take_base64(struct arena *arena, pawl_str text, pawl_str *data, pawl_error *err) {
    struct buf bytes;
    buf_init(&bytes, 0);
    pawl_status status = base64_decode(&bytes, text)
                             ? str_dup(arena, buf_str(&bytes), data, err)
                             : error_set(err, PAWL_INVALID, "event", "data_base64 is not base64");
    buf_free(&bytes);
    return status;
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
    if (str_equal_cstr(key, "data_base64"))
        return take_base64(arena, text, &event->data, err);
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
