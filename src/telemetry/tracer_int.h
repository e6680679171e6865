/* Shared by the files of the tracer only. */
#ifndef TELEMETRY_TRACER_INT_H
#define TELEMETRY_TRACER_INT_H

#include "base/arena.h"
#include "base/buf.h"
#include "http/http.h"
#include "telemetry/tracer.h"

/* Texts in the arena it was read with. */
struct tracer_config {
    const char *url;
    const char *ca_file;
    struct http_header headers[TRACER_HEADERS_MAX];
    size_t header_count;
    pawl_str resource; /* the JSON object that describes this process */
    struct trace_sampler sampler;
    int64_t queue_max, batch_max, delay_ms, export_ms, call_ms;
};

/* tracer_config.c: false: tracing is off. Invalid values are logged and replaced by their defaults. */
PAWL_MUSTCHECK bool tracer_config_read(const char *service, struct arena *arena, struct log *log,
                                       struct tracer_config *config);

/* otlp.c: a span as OTLP's JSON has it, and what surrounds many of them. */
void otlp_span(struct buf *buf, const struct span *span, const struct span_about *about, int64_t took_us);
void otlp_envelope_begin(struct buf *buf, pawl_str resource);
void otlp_envelope_end(struct buf *buf);

struct json_writer;
void otlp_text(struct json_writer *json, const char *key, pawl_str text);
void otlp_number(struct json_writer *json, const char *key, int64_t number);

/* How many spans the collector rejected in a successful response. */
int64_t otlp_rejected(pawl_str answer, struct arena *arena);

#endif
