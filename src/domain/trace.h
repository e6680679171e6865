/* W3C trace context, and the decision whether a trace is recorded. */
#ifndef DOMAIN_TRACE_H
#define DOMAIN_TRACE_H

#include "base/arena.h"
#include "base/limits.h"
#include "pawl.h"

enum { TRACE_ID_BYTES = 16, SPAN_ID_BYTES = 8, TRACEPARENT_BYTES = 56, TRACE_SAMPLED = 1 };

struct trace_context {
    uint8_t trace_id[TRACE_ID_BYTES];
    uint8_t span_id[SPAN_ID_BYTES];
    uint8_t flags; /* TRACE_SAMPLED */
};

/* "00-4bf9…-00f0…-01". An unknown version is read as far as version 00 goes. False leaves *context alone. */
PAWL_MUSTCHECK bool trace_parse(pawl_str text, struct trace_context *context);

/* Always version 00. Returns text. */
char *trace_format(const struct trace_context *context, char text[static TRACEPARENT_BYTES]);

/* Which traces are recorded: those whose parent was, if it follows the parent; otherwise all, none, or a
 * fraction that depends only on the trace's id, so that all systems agree. */
struct trace_sampler {
    bool follows_parent;
    double ratio; /* 0 = none, 1 = all */
};

/* The names of OTEL_TRACES_SAMPLER; argument is OTEL_TRACES_SAMPLER_ARG and may be absent. False: unknown
 * name, or a share that is no number from 0 to 1; *sampler is left alone. */
PAWL_MUSTCHECK bool trace_sampler_parse(pawl_str name, pawl_str argument, struct trace_sampler *sampler);

/* parent is NULL for the first span of a trace. */
bool trace_sampled(const struct trace_sampler *sampler, const struct trace_context *parent,
                   const uint8_t trace_id[static TRACE_ID_BYTES]);

enum { TRACESTATE_BYTES = PAWL_TRACESTATE_BYTES_MAX + 1 };

/* Whether it is a valid W3C list of at most PAWL_TRACESTATE_BYTES_MAX bytes. */
bool trace_state_valid(pawl_str text);

/* The tracestate in these headers, or in the metadata they contain, if the traceparent is valid; absent if
 * there is none or it is malformed. The text is in out. */
pawl_str trace_state_read(pawl_str traceparent, pawl_str headers, char out[static TRACESTATE_BYTES]);

/* The JSON object with a tracestate added; unchanged if it already has one, if the tracestate is malformed,
 * or if the result would be larger than bytes_max. object may be absent. New text is in the arena. */
pawl_str trace_state_add(struct arena *arena, pawl_str object, pawl_str state, size_t bytes_max);

#endif
