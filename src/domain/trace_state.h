/* W3C tracestate: what vendors add to a traceparent. It is kept in the headers of a message, or in the
 * metadata of an event, under its own name; it goes wherever the traceparent goes. */
#ifndef DOMAIN_TRACE_STATE_H
#define DOMAIN_TRACE_STATE_H

#include "base/arena.h"
#include "base/limits.h"
#include "pawl.h"

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
