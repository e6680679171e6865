/* Sending, enqueueing and appending with a producer span for each message, job or event. */
#ifndef WORK_PUT_SPANS_H
#define WORK_PUT_SPANS_H

#include "store/store.h"
#include "telemetry/tracer.h"

/* The caller. With tracer NULL the call goes to the store unchanged. Otherwise each item gets the traceparent
 * of its span, whose parent is the item's own traceparent, or else `parent`. */
struct putter {
    struct tracer *tracer;
    pawl_str parent; /* may be absent */
    struct store *store;
    struct arena *arena;
    pawl_str state; /* the tracestate that came with parent; may be absent */
};

PAWL_MUSTCHECK pawl_status traced_put(const struct putter *putter, const struct messages_put *in,
                                      struct put_result *out, pawl_error *err);
PAWL_MUSTCHECK pawl_status traced_enqueue(const struct putter *putter, const struct jobs_enqueue *in,
                                          struct enqueue_result *out, pawl_error *err);
PAWL_MUSTCHECK pawl_status traced_append(const struct putter *putter, const struct events_append *in,
                                         struct append_result *out, pawl_error *err);

#endif
