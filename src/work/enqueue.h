/* Checking before enqueueing whether a job could run at all. */
#ifndef WORK_ENQUEUE_H
#define WORK_ENQUEUE_H

#include "store/store.h"

/* PAWL_INVALID: a deadline that is over before the job is due, a pipeline or parameters that can never run;
 * tools are not checked, because only the worker knows them. Leaves the store's own checks, such as a missing
 * task, to the store. */
PAWL_MUSTCHECK pawl_status enqueue_check(struct store *store, const struct jobs_enqueue *in,
                                         struct arena *arena, pawl_error *err);

#endif
