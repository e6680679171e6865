/* Enqueueing jobs: functions of the public API, and checking before whether a job could run at all. */
#include "work/enqueue.h"

#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "pawl_jobs.h"
#include "store/foreign.h"
#include "work/pipeline/job.h"
#include "work/send.h"

static pawl_status check_deadline(const struct job_new *job, int64_t now_ms, pawl_error *err) {
    int64_t due_ms = job->due_ms != 0 ? job->due_ms : now_ms + job->delay_ms;
    char end[CLOCK_ISO_BYTES], start[CLOCK_ISO_BYTES];
    if (due_ms < now_ms)
        due_ms = now_ms;
    if (job->deadline_ms > due_ms)
        return PAWL_OK;
    return error_set(err, PAWL_INVALID, "job",
                     "it could never start: its end is %s and it is due at %s (the database's clock); give a "
                     "later end",
                     clock_format_iso(job->deadline_ms, end), clock_format_iso(due_ms, start));
}

/* A job that brings its own pipeline. */
static pawl_status check_pipeline(const struct job_new *job, struct arena *arena, pawl_error *err) {
    const struct tree *payload = NULL;
    pawl_status status =
        tree_parse(arena, str_absent(job->payload) ? STR("{}") : job->payload, NULL, &payload, err);
    return status == PAWL_OK ? pipeline_payload_check(payload, arena, err) : status;
}

pawl_status enqueue_check(struct store *store, const struct jobs_enqueue *in, struct arena *arena,
                          pawl_error *err) {
    const struct job_new *before = NULL;
    int64_t now_ms = 0;
    pawl_status status = PAWL_OK;
    for (size_t i = 0; status == PAWL_OK && i < in->count; i++) {
        const struct job_new *job = &in->jobs[i];
        bool same = before != NULL && before->payload.ptr == job->payload.ptr &&
                    before->task.ptr == job->task.ptr && before->type.ptr == job->type.ptr;
        before = job;
        if (job->deadline_ms > 0 && now_ms == 0)
            status = store->ops->core.clock_read(store, &now_ms, err);
        if (status == PAWL_OK && job->deadline_ms > 0)
            status = check_deadline(job, now_ms, err);
        if (status != PAWL_OK || same)
            continue;
        if (!str_absent(job->task))
            status = pipeline_task_check(store, job->task, job->payload, arena, err);
        else if (str_equal_cstr(job->type, PIPELINE_JOB_TYPE))
            status = check_pipeline(job, arena, err);
    }
    return status;
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
        return error_no_memory(err, "pawl_enqueue");
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

static pawl_status enqueue_to(const struct place *place, const pawl_job *jobs, size_t count,
                              pawl_uuid request, int64_t *ids, pawl_error *err) {
    struct arena *arena = arena_create(0);
    struct jobs_enqueue put;
    struct enqueue_result result;
    pawl_status status = put_of(arena, jobs, count, &put, err);
    put.request = request;
    if (status == PAWL_OK && place->store != NULL)
        status = enqueue_check(send_store(place->store), &put, arena, err);
    if (status == PAWL_OK)
        status = PLACE_CALL(place, traced_enqueue, sqlite_enqueue_in_transaction,
                            postgres_enqueue_in_transaction, &put, arena, &result, err);
    if (status == PAWL_OK)
        status = answers_of(&result, jobs, count, ids, err);
    arena_free(arena);
    return status;
}

pawl_status pawl_enqueue(pawl_store *store, const pawl_job *jobs, size_t count, pawl_uuid request,
                         int64_t *ids, pawl_error *err) {
    return enqueue_to(&(struct place){.store = store}, jobs, count, request, ids, err);
}

pawl_status pawl_enqueue_pg(struct pg_conn *conn, const char *schema, const pawl_job *jobs, size_t count,
                            int64_t *ids, pawl_error *err) {
    struct place place = {.postgres = conn, .schema = schema};
    return enqueue_to(&place, jobs, count, uuid_nil(), ids, err);
}

pawl_status pawl_enqueue_sqlite(struct sqlite3 *db, const pawl_job *jobs, size_t count, int64_t *ids,
                                pawl_error *err) {
    return enqueue_to(&(struct place){.sqlite = db}, jobs, count, uuid_nil(), ids, err);
}
