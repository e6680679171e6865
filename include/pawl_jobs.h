/* Enqueueing jobs, which any free worker may run: in a new transaction, or inside yours. */
#ifndef PAWL_JOBS_H
#define PAWL_JOBS_H

#include "pawl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One job to enqueue. A ptr of NULL and 0 mean absent, or the default. */
typedef struct pawl_job {
    pawl_str type;       /* chooses the handler; required, unless a task is named */
    pawl_str task;       /* a stored task, which provides whatever is absent here */
    pawl_str payload;    /* JSON; absent: {} */
    pawl_str queue;      /* "default" */
    pawl_str key;        /* limits and fair shares are per key; absent: none */
    pawl_str unique_key; /* at most one unfinished job may have it */
    pawl_str traceparent;
    int priority;     /* -1000 … 1000: one step is worth a minute of waiting */
    int max_attempts; /* 25 */
    int64_t delay_ms;
    int64_t due_ms;      /* absolute; instead of delay_ms */
    int64_t deadline_ms; /* absolute: after this it is neither started nor retried */
    int64_t timeout_ms;  /* of one attempt; 0 = the worker's */
    bool audit;          /* record every attempt as a task_run row */
    bool events;         /* record every attempt as a spine event */
} pawl_job;

/* Enqueues in a new transaction. ids (may be NULL) receives count ids: of the job, or of the unfinished job
 * that holds its unique key. request (nil: none): enqueueing again with the same key writes nothing and
 * returns ids of 0. PAWL_NOT_FOUND: a task does not exist; PAWL_CONFLICT: the agent of a task lacks a scope;
 * in both cases the other jobs are written. */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_enqueue(pawl_store *store, const pawl_job *jobs, size_t count,
                                                 pawl_uuid request, int64_t *ids, pawl_error *err);

struct pg_conn; /* libpq's PGconn */
struct sqlite3;

/* The same inside an open transaction on your own connection, under the rules of pawl_send_pg and
 * pawl_send_sqlite (pawl_pg.h, pawl_sqlite.h): the jobs exist only if it commits. A handler can end its job
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
