/* Enqueueing jobs: functions of the public API. */
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "pawl_jobs.h"
#include "store/foreign.h"
#include "store/store.h"
#include "work/enqueue_check.h"
#include "work/send.h"

static pawl_status no_memory(pawl_error *err) {
    return error_set(err, PAWL_NO_MEMORY, "pawl_enqueue", "out of memory");
}

static struct job_new job_of(const pawl_job *in) {
    return (struct job_new){.task = in->task,
                            .type = in->type,
                            .payload = in->payload,
                            .queue = in->queue,
                            .key = in->key,
                            .unique_key = in->unique_key,
                            .traceparent = in->traceparent,
                            .priority = in->priority,
                            .max_attempts = in->max_attempts,
                            .flags = (in->audit ? JOB_AUDIT : 0) | (in->events ? JOB_EVENTS : 0),
                            .due_ms = in->due_ms,
                            .delay_ms = in->delay_ms,
                            .deadline_ms = in->deadline_ms,
                            .timeout_ms = in->timeout_ms};
}

static pawl_status put_of(struct arena *arena, const pawl_job *jobs, size_t count, struct jobs_enqueue *put,
                          pawl_error *err) {
    struct job_new *list = arena_array(arena, count, sizeof(*list));
    if (list == NULL)
        return no_memory(err);
    for (size_t i = 0; i < count; i++)
        list[i] = job_of(&jobs[i]);
    *put = (struct jobs_enqueue){.jobs = list, .count = count};
    return PAWL_OK;
}

/* Reports the first job that was not accepted. */
static pawl_status answers_of(const struct enqueue_result *result, const pawl_job *jobs, size_t count,
                              int64_t *ids, pawl_error *err) {
    if (ids != NULL && count > 0)
        memcpy(ids, result->ids, count * sizeof(*ids));
    for (size_t i = 0; i < count; i++) {
        if (result->answers[i] == ANSWER_NOT_FOUND)
            return error_set(err, PAWL_NOT_FOUND, "pawl_enqueue", "job %zu: there is no task '%.*s'", i,
                             STR_ARG(jobs[i].task));
        if (result->answers[i] == ANSWER_REFUSED)
            return error_set(err, PAWL_CONFLICT, "pawl_enqueue",
                             "job %zu: the agent of the task '%.*s' lacks a scope: see pawl agent refusals",
                             i, STR_ARG(jobs[i].task));
    }
    return PAWL_OK;
}

pawl_status pawl_enqueue(pawl_store *store, const pawl_job *jobs, size_t count, pawl_uuid request,
                         int64_t *ids, pawl_error *err) {
    struct arena *arena = arena_create(0);
    struct jobs_enqueue put;
    struct enqueue_result result;
    pawl_status status = arena != NULL ? put_of(arena, jobs, count, &put, err) : no_memory(err);
    if (status == PAWL_OK) {
        put.request = request;
        struct putter putter = send_putter(store, arena);
        status = enqueue_check(putter.store, &put, arena, err);
        if (status == PAWL_OK)
            status = traced_enqueue(&putter, &put, &result, err);
    }
    if (status == PAWL_OK)
        status = answers_of(&result, jobs, count, ids, err);
    arena_free(arena);
    return status;
}

pawl_status pawl_enqueue_pg(struct pg_conn *conn, const char *schema, const pawl_job *jobs, size_t count,
                            int64_t *ids, pawl_error *err) {
    struct arena *arena = arena_create(0);
    struct jobs_enqueue put;
    struct enqueue_result result;
    pawl_status status = arena != NULL ? put_of(arena, jobs, count, &put, err) : no_memory(err);
    if (status == PAWL_OK)
        status = postgres_enqueue_in_transaction(conn, schema, &put, arena, &result, err);
    if (status == PAWL_OK)
        status = answers_of(&result, jobs, count, ids, err);
    arena_free(arena);
    return status;
}

pawl_status pawl_enqueue_sqlite(struct sqlite3 *db, const pawl_job *jobs, size_t count, int64_t *ids,
                                pawl_error *err) {
    struct arena *arena = arena_create(0);
    struct jobs_enqueue put;
    struct enqueue_result result;
    pawl_status status = arena != NULL ? put_of(arena, jobs, count, &put, err) : no_memory(err);
    if (status == PAWL_OK)
        status = sqlite_enqueue_in_transaction(db, &put, arena, &result, err);
    if (status == PAWL_OK)
        status = answers_of(&result, jobs, count, ids, err);
    arena_free(arena);
    return status;
}
