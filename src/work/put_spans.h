/* Putting something into the store under a span that says so: a message, a job, an event. */
#ifndef WORK_PUT_SPANS_H
#define WORK_PUT_SPANS_H

#include "store/store.h"
#include "telemetry/tracer.h"

/* Who puts. A tracer of NULL: the call goes to the store as it is. Whatever is put is given the traceparent
 * of its span; the one it came with, or else `parent`, is above that. */
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
