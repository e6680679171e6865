/* Whether jobs that are about to be enqueued could run at all. */
#ifndef WORK_ENQUEUE_CHECK_H
#define WORK_ENQUEUE_CHECK_H

#include "store/store.h"

/* PAWL_INVALID: a deadline that is over before the job is due, a pipeline or parameters that can never run;
 * tools aside, which only the worker knows. A task that does not exist is the store's to say. Does not check
 * what the store does. */
PAWL_MUSTCHECK pawl_status enqueue_check(struct store *store, const struct jobs_enqueue *in,
                                         struct arena *arena, pawl_error *err);

#endif
