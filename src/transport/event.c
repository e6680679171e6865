/* A CloudEvent: its attributes, and its JSON form written. */
#include "transport/event.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/json/json.h"
#include "base/json/scan.h"
#include "base/limits.h"
#include "base/str.h"
#include "domain/name.h"

/* In the order in which they are written. */
static const struct {
    const char *name;
    size_t offset;
} attribute_rows[] = {
    {"id", offsetof(struct event, id)},
    {"source", offsetof(struct event, source)},
    {"type", offsetof(struct event, type)},
    {"time", offsetof(struct event, time)},
    {"datacontenttype", offsetof(struct event, data_type)},
    {"partitionkey", offsetof(struct event, stream)},
    {"sequence", offsetof(struct event, sequence)},
    {"correlationid", offsetof(struct event, correlation_id)},
    {"causationid", offsetof(struct event, causation_id)},
    {"traceparent", offsetof(struct event, traceparent)},
    {"tracestate", offsetof(struct event, tracestate)},
    {"pawlheaders", offsetof(struct event, headers)},
};

enum { ROWS = sizeof(attribute_rows) / sizeof(*attribute_rows) };
_Static_assert(ROWS + 1 <= EVENT_ATTRIBUTES_MAX, "specversion and every row fit");

static pawl_str *field(struct event *event, size_t row) {
    return (pawl_str *)((char *)event + attribute_rows[row].offset);
}

size_t event_attributes(const struct event *event, struct event_attribute out[static EVENT_ATTRIBUTES_MAX]) {
    size_t count = 0;
    out[count++] = (struct event_attribute){"specversion", STR("1.0")};
    for (size_t i = 0; i < ROWS; i++) {
        pawl_str value = *(const pawl_str *)((const char *)event + attribute_rows[i].offset);
        if (!str_absent(value))
            out[count++] = (struct event_attribute){attribute_rows[i].name, value};
    }
    return count;
}

bool event_set(struct event *event, pawl_str name, pawl_str value) {
    if (str_equal_cstr(name, "specversion"))
        return str_equal_cstr(value, "1.0");
    for (size_t i = 0; i < ROWS; i++) {
        if (str_equal_cstr(name, attribute_rows[i].name)) {
            *field(event, i) = value;
            break;
        }
    }
    return true;
}

static const char content_type[] = "content-type";

const char *event_header(const char *prefix, const char *attribute, char name[static EVENT_HEADER_BYTES]) {
    if (strcmp(attribute, "datacontenttype") == 0)
        return content_type;
    snprintf(name, EVENT_HEADER_BYTES, "%s%s", prefix, attribute);
    return name;
}

pawl_status event_take_header(struct event *event, const char *prefix, pawl_str name, pawl_str value,
                              bool *binary, pawl_error *err) {
    size_t len = strlen(prefix);
    if (name.len == strlen(content_type) && strncasecmp(name.ptr, content_type, name.len) == 0)
        event->data_type = value;
    if (name.len <= len || strncasecmp(name.ptr, prefix, len) != 0)
        return PAWL_OK;
    pawl_str attribute = {name.ptr + len, name.len - len};
    if (!event_set(event, attribute, value))
        return error_set(err, PAWL_INVALID, "event", "specversion is %.*s; 1.0 is understood",
                         STR_ARG(value));
    *binary = *binary || str_equal_cstr(attribute, "specversion");
    return PAWL_OK;
}

void event_json(struct buf *buf, const struct event *event) {
    struct event_attribute attributes[EVENT_ATTRIBUTES_MAX];
    size_t count = event_attributes(event, attributes);
    struct json_writer json;
    json_writer_init(&json, buf);
    json_begin_object(&json);
    for (size_t i = 0; i < count; i++)
        json_put_str(&json, attributes[i].name, attributes[i].value);
    if (!str_absent(event->data))
        json_put_raw(&json, "data", event->data);
    json_end_object(&json);
}

static pawl_status check_required(const struct event *event, pawl_error *err) {
    const struct event_attribute required[] = {
        {"id", event->id}, {"source", event->source}, {"type", event->type}};
    for (size_t i = 0; i < sizeof(required) / sizeof(*required); i++) {
        if (required[i].value.len == 0)
            return error_set(err, PAWL_INVALID, "event", "the attribute %s is missing", required[i].name);
    }
    struct event_attribute all[EVENT_ATTRIBUTES_MAX];
    size_t count = event_attributes(event, all);
    for (size_t i = 0; i < count; i++) {
        if (all[i].value.len > EVENT_ATTRIBUTE_BYTES_MAX)
            return error_set(err, PAWL_INVALID, "event",
                             "the attribute %s has %zu bytes; at most %d are allowed", all[i].name,
                             all[i].value.len, EVENT_ATTRIBUTE_BYTES_MAX);
    }
    return PAWL_OK;
}

static bool is_json_type(pawl_str type) {
    if (str_absent(type))
        return true;
    pawl_str media = str_before(str_before(type, ';', NULL), ' ', NULL);
    return str_equal_cstr(media, EVENT_DATA_TYPE) || str_equal_cstr(media, "text/json") ||
           (media.len > 5 && memcmp(media.ptr + media.len - 5, "+json", 5) == 0);
}

pawl_status event_check(const struct event *event, pawl_error *err) {
    pawl_status status = check_required(event, err);
    if (status == PAWL_OK)
        status = name_check_type(event->type, err);
    if (status == PAWL_OK && !str_absent(event->stream))
        status = name_check_stream(event->stream, err);
    if (status == PAWL_OK && !is_json_type(event->data_type))
        return error_set(err, PAWL_INVALID, "event", "the data is %.*s; an inbox takes JSON",
                         STR_ARG(event->data_type));
    if (status == PAWL_OK && str_absent(event->data))
        return error_set(err, PAWL_INVALID, "event", "the event has no data");
    pawl_error inner;
    if (status == PAWL_OK && json_check(event->data, "event", &inner) != PAWL_OK)
        return error_set(err, PAWL_INVALID, "event", "the data is not JSON: %s", inner.text);
    if (status == PAWL_OK && !str_absent(event->headers) &&
        (json_check(event->headers, "event", &inner) != PAWL_OK || event->headers.ptr[0] != '{'))
        return error_set(err, PAWL_INVALID, "event", "the attribute pawlheaders is not a JSON object");
    return status;
}

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
    if (base64_decode(&bytes, text))
        return str_keep(arena, &bytes, "event", data, err);
    buf_free(&bytes);
    return error_set(err, PAWL_INVALID, "event", "data_base64 is not base64");
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
