/* Jobs for any worker that is free: enqueued in a transaction of their own, or inside yours. */
#ifndef PAWL_JOBS_H
#define PAWL_JOBS_H

#include "pawl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One job to enqueue. A ptr of NULL and 0 mean absent, or the default. */
typedef struct pawl_job {
    pawl_str type;       /* who handles it; required, unless a task is named */
    pawl_str task;       /* a task of the store: fills in what is left out here */
    pawl_str payload;    /* JSON; absent: {} */
    pawl_str queue;      /* "default" */
    pawl_str key;        /* limits and fair shares are per key; absent: none */
    pawl_str unique_key; /* at most one unfinished job has it */
    pawl_str traceparent;
    int priority;     /* -1000 … 1000: one step is worth a minute of waiting */
    int max_attempts; /* 25 */
    int64_t delay_ms;
    int64_t due_ms;      /* absolute; instead of delay_ms */
    int64_t deadline_ms; /* absolute: not started or tried again from then on */
    int64_t timeout_ms;  /* of one attempt; 0 = the worker's */
    bool audit;          /* every attempt leaves a task_run row */
    bool events;         /* and an event on the spine */
} pawl_job;

/*
 * Enqueues in a transaction of its own. ids (may be NULL) receives count ids: of the job, or of the
 * unfinished one that holds its unique key. request (nil: none): enqueueing again under the same key writes
 * nothing and answers ids of 0. PAWL_NOT_FOUND: a task does not exist; PAWL_CONFLICT: the agent of a task
 * lacks a scope; the others are written, unless it is your transaction and you roll it back.
 */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_enqueue(pawl_store *store, const pawl_job *jobs, size_t count,
                                                 pawl_uuid request, int64_t *ids, pawl_error *err);

struct pg_conn; /* libpq's PGconn */
struct sqlite3;

/* The same inside the open transaction of a connection of yours, under the rules of pawl_send_pg and
 * pawl_send_sqlite (pawl_pg.h, pawl_sqlite.h): the jobs exist exactly when it commits. A handler ends its job
 * in its own transaction with pawl_finish_pg or pawl_finish_sqlite. */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_enqueue_pg(struct pg_conn *conn, const char *schema,
                                                    const pawl_job *jobs, size_t count, int64_t *ids,
                                                    pawl_error *err);
PAWL_API PAWL_MUSTCHECK pawl_status pawl_enqueue_sqlite(struct sqlite3 *db, const pawl_job *jobs,
                                                        size_t count, int64_t *ids, pawl_error *err);

#ifdef __cplusplus
}
#endif

#endif
