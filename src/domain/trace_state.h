/* W3C tracestate: what vendors add to a traceparent. It is kept in the headers of a message, or in the
 * metadata of an event, under its own name; it goes wherever the traceparent goes. */
#ifndef DOMAIN_TRACE_STATE_H
#define DOMAIN_TRACE_STATE_H

#include "base/arena.h"
#include "base/limits.h"
#include "pawl.h"

enum { TRACESTATE_BYTES = PAWL_TRACESTATE_BYTES_MAX + 1 };

/* Whether it is a list as W3C wants it, of at most PAWL_TRACESTATE_BYTES_MAX bytes. */
bool trace_state_valid(pawl_str text);

/* The tracestate in these headers, or in the metadata that they hold, when the traceparent is one; absent
 * when there is none or it is malformed. The text is in out. */
pawl_str trace_state_read(pawl_str traceparent, pawl_str headers, char out[static TRACESTATE_BYTES]);

/* The JSON object with a tracestate added: as it is when it has one, or the tracestate is malformed, or there
 * would be more than bytes_max bytes of it. object may be absent. New text is in the arena. */
pawl_str trace_state_add(struct arena *arena, pawl_str object, pawl_str state, size_t bytes_max);

#endif
