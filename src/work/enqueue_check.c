/* Checking before enqueueing whether a job could run at all. */
#include "work/enqueue_check.h"

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "work/pipeline/job.h"

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
