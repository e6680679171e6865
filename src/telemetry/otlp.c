/* Spans as OTLP's JSON: ids in hexadecimal, 64-bit numbers as texts. */
#include <inttypes.h>
#include <stdio.h>

#include "base/json/json.h"
#include "base/json/tree.h"
#include "base/str.h"
#include "telemetry/tracer_int.h"

enum { STATUS_ERROR = 2, NUMBER_BYTES = 24, HEX_BYTES = 2 * TRACE_ID_BYTES + 1 };

static void write_hex(struct json_writer *json, const char *key, const uint8_t *bytes, size_t count) {
    char text[HEX_BYTES];
    hex_format(bytes, count, text);
    json_put_cstr(json, key, text);
}

static void write_i64(struct json_writer *json, const char *key, int64_t number) {
    char text[NUMBER_BYTES];
    snprintf(text, sizeof(text), "%" PRId64, number);
    json_put_cstr(json, key, text);
}

static void begin_value(struct json_writer *json, const char *key) {
    json_begin_object(json);
    json_put_cstr(json, "key", key);
    json_key(json, "value");
    json_begin_object(json);
}

static pawl_str cut(pawl_str text) {
    if (text.len <= TRACER_TEXT_BYTES_MAX)
        return text;
    return (pawl_str){text.ptr, TRACER_TEXT_BYTES_MAX}; /* half a character becomes U+FFFD */
}

void otlp_text(struct json_writer *json, const char *key, pawl_str text) {
    begin_value(json, key);
    json_put_str(json, "stringValue", cut(text));
    json_end_object(json);
    json_end_object(json);
}

void otlp_number(struct json_writer *json, const char *key, int64_t number) {
    begin_value(json, key);
    write_i64(json, "intValue", number);
    json_end_object(json);
    json_end_object(json);
}

static void write_links(struct json_writer *json, const struct span_about *about) {
    struct trace_context context;
    if (about->link_count == 0)
        return;
    json_key(json, "links");
    json_begin_array(json);
    for (size_t i = 0, made = 0; i < about->link_count && made < TRACER_LINKS_MAX; i++) {
        if (!trace_parse(about->links[i], &context))
            continue;
        made++;
        json_begin_object(json);
        write_hex(json, "traceId", context.trace_id, TRACE_ID_BYTES);
        write_hex(json, "spanId", context.span_id, SPAN_ID_BYTES);
        json_end_object(json);
    }
    json_end_array(json);
}

static void write_name(struct json_writer *json, const struct span_about *about) {
    struct buf name;
    buf_init(&name, TRACER_TEXT_BYTES_MAX);
    buf_append_cstr(&name, about->operation);
    if (about->object.len > 0)
        buf_printf(&name, " %.*s", STR_ARG(about->object));
    json_put_str(json, "name", name.failed ? str_from(about->operation) : buf_str(&name));
    buf_free(&name);
}

void otlp_span(struct buf *buf, const struct span *span, const struct span_about *about, int64_t took_us) {
    struct json_writer json;
    json_writer_init(&json, buf);
    json_begin_object(&json);
    write_hex(&json, "traceId", span->context.trace_id, TRACE_ID_BYTES);
    write_hex(&json, "spanId", span->context.span_id, SPAN_ID_BYTES);
    if (span->has_parent)
        write_hex(&json, "parentSpanId", span->parent_id, SPAN_ID_BYTES);
    json_put_int(&json, "flags", span->context.flags);
    write_name(&json, about);
    json_put_int(&json, "kind", (int64_t)about->kind);
    write_i64(&json, "startTimeUnixNano", span->wall_us * 1000);
    write_i64(&json, "endTimeUnixNano", (span->wall_us + took_us) * 1000);
    json_key(&json, "attributes");
    json_begin_array(&json);
    for (size_t i = 0; i < about->attribute_count; i++) {
        const struct span_attribute *one = &about->attributes[i];
        if (one->is_number)
            otlp_number(&json, one->key, one->number);
        else if (!str_absent(one->text))
            otlp_text(&json, one->key, one->text);
    }
    json_end_array(&json);
    write_links(&json, about);
    json_key(&json, "status");
    json_begin_object(&json);
    if (about->failed) {
        json_put_int(&json, "code", STATUS_ERROR);
        json_put_str(&json, "message", str_absent(about->error) ? STR("") : cut(about->error));
    }
    json_end_object(&json);
    json_end_object(&json);
}

void otlp_envelope_begin(struct buf *buf, pawl_str resource) {
    buf_append_cstr(buf, "{\"resourceSpans\":[{\"resource\":");
    buf_append_str(buf, resource);
    buf_append_cstr(buf, ",\"scopeSpans\":[{\"scope\":{\"name\":\"pawl\",\"version\":\"" PAWL_VERSION
                         "\"},\"spans\":[");
}

void otlp_envelope_end(struct buf *buf) { buf_append_cstr(buf, "]}]}]}"); }

/* {"partialSuccess":{"rejectedSpans":"3"}}; a number is as good. */
int64_t otlp_rejected(pawl_str answer, struct arena *arena) {
    const struct tree *tree = NULL;
    if (answer.len == 0 || tree_parse(arena, answer, NULL, &tree, NULL) != PAWL_OK)
        return 0;
    const struct tree *partial = tree_get_cstr(tree, "partialSuccess");
    int64_t rejected = tree_get_i64(partial, "rejectedSpans");
    pawl_str text = tree_get_text(partial, "rejectedSpans");
    if (!str_absent(text))
        return str_to_i64(text, 0, INT32_MAX, &rejected) ? rejected : 0;
    return rejected > 0 ? rejected : 0;
}
