/* What only jobs need of the runtime: the world that their handlers share, what fits them, and what is told.
 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "domain/pattern.h"
#include "engine/runtime/runtime.h"
#include "work/run/paces.h"
#include "work/run/start.h"

pawl_status runtime_jobs_open(struct runtime *runtime, pawl_error *err) {
    const struct runtime_jobs *jobs = &runtime->config.jobs;
    shared_store_init(&runtime->shared, &runtime->config.store);
    runtime->world = (struct pipeline_world_of_worker){.tools = jobs->tools,
                                                       .shared = &runtime->shared,
                                                       .env = jobs->env,
                                                       .env_count = jobs->env_count,
                                                       .paces = run_paces_create(),
                                                       .log = &runtime->config.log,
                                                       .observer = runtime->config.observer};
    return runtime->world.paces != NULL ? PAWL_OK : error_no_memory(err, "jobs");
}

void runtime_jobs_close(struct runtime *runtime) {
    if (runtime->world.shared == NULL)
        return;
    shared_store_close(&runtime->shared);
    run_paces_free(runtime->world.paces);
}

bool runtime_serves_jobs(const struct runtime *runtime) {
    return (runtime->config.engine.instance.kinds & KIND_BIT_JOBS) != 0;
}

/* What needs no handler: its document says what is called. */
static bool is_own_type(pawl_str type) {
    return str_equal_cstr(type, PIPELINE_JOB_TYPE) || str_equal_cstr(type, RUN_PAGE_TYPE) ||
           str_equal_cstr(type, RUN_CONSOLIDATE_TYPE) || str_equal_cstr(type, RUN_PLAN_TYPE);
}

int runtime_jobs_match(struct runtime *runtime, const struct job *job) {
    const struct handler_table *table = runtime->config.handlers;
    if (!str_absent(job->task) || is_own_type(job->type))
        return (int)table->count;
    /* What only publishes messages cannot carry out a job. */
    for (size_t i = 0; i < table->count; i++) {
        const struct handler *handler = &table->handlers[i];
        if (handler->kind != HANDLER_BATCH && handler->batch == NULL &&
            pattern_matches(handler->pattern, job->type))
            return (int)i;
    }
    int64_t now_ms = clock_boot_ms();
    if (runtime->unmatched_ms == 0 || now_ms - runtime->unmatched_ms >= ENGINE_NO_HANDLER_MS) {
        runtime->unmatched_ms = now_ms;
        log_event(&runtime->config.log, LOG_LEVEL_WARN, "no_handler",
                  "job=%" PRId64 " type=%.*s back_in_ms=%d", job->id, STR_ARG(job->type),
                  ENGINE_NO_HANDLER_MS);
    }
    return -1;
}

/* Fills what a slot needs for jobs. */
void runtime_jobs_bundle(struct runtime *runtime, struct bundle *bundle, const struct engine_run *run) {
    bundle->world = &runtime->world;
    bundle->instance = engine_metrics(runtime->core).instance;
    bundle->deadline_ms = run->deadline_ms;
    bundle->timeout_ms = run->timeout_ms;
    bundle->claimed_ms = run->claimed_ms;
    bundle->lease_ms = runtime->config.engine.job_lease_ms;
    bundle->handle.asked = NULL;
    bundle->progressed = false;
    memcpy(bundle->jobs, run->jobs, run->count * sizeof(*run->jobs));
}

/* What the jobs of a slot have told since the last time. */
void runtime_jobs_progress(struct runtime *runtime, struct bundle *bundle) {
    pthread_mutex_lock(&runtime->pool->lock);
    bool progressed = bundle->progressed;
    bundle->progressed = false;
    pthread_mutex_unlock(&runtime->pool->lock);
    for (size_t i = 0; progressed && i < bundle->count; i++) {
        struct engine_event event = {.type = EVENT_PROGRESS, .slot = bundle->slot, .at = i};
        pthread_mutex_lock(&runtime->pool->lock);
        event.text = bundle->progress[i].text;
        event.text_len = bundle->progress[i].len;
        bundle->progress[i].text = NULL;
        pthread_mutex_unlock(&runtime->pool->lock);
        if (i == 0 || event.text != NULL) /* without a text, too: it gets on */
            runtime_step(runtime, event);
    }
}

void runtime_jobs_fired(struct runtime *runtime, const struct call *call) {
    const struct schedule_duty_result *fired = &call->fired;
    struct log *log = &runtime->config.log;
    if (call->status != PAWL_OK && runtime->schedule_failures++ == 0)
        log_event(log, LOG_LEVEL_WARN, "duty_failed", "duty=schedules error=%s", call->error.text);
    if (call->status == PAWL_OK)
        runtime->schedule_failures = 0;
    if (fired->fired > 0)
        log_event(log, LOG_LEVEL_INFO, "schedules_fired", "jobs=%" PRId64, fired->fired);
    if (fired->faulty > 0)
        log_event(log, LOG_LEVEL_WARN, "schedules_faulty", "count=%" PRId64 " first=%s", fired->faulty,
                  fired->fault);
    if (fired->refused > 0)
        log_event(log, LOG_LEVEL_WARN, "schedules_refused", "count=%" PRId64 " first=%s", fired->refused,
                  fired->refusal);
}

pawl_job_metrics runtime_jobs_metrics(const struct engine_job_metrics *now) {
    return (pawl_job_metrics){.processed = now->completed + now->failed + now->cancelled,
                              .succeeded = now->completed,
                              .failed = now->failed,
                              .retried = now->retried,
                              .dead = now->dead,
                              .cancelled = now->cancelled,
                              .processing_ms = now->processing_us / 1000,
                              .leases_acquired = now->claimed,
                              .leases_renewed = now->renewed,
                              .leases_expired = now->fenced + now->stale,
                              .errors = now->lost_calls,
                              .running = now->running,
                              .waiting = (int64_t)now->waiting};
}

/* The last thing a worker says of its jobs. */
void runtime_jobs_summary(struct runtime *runtime) {
    pawl_metrics metrics;
    runtime_metrics(runtime, &metrics);
    const pawl_job_metrics *jobs = &metrics.jobs;
    pawl_job_summary summary = pawl_job_metrics_summary(jobs);
    if (!runtime_serves_jobs(runtime))
        return;
    log_event(&runtime->config.log, LOG_LEVEL_INFO, "jobs_stopped",
              "processed=%lld succeeded=%lld failed=%lld retried=%lld dead=%lld cancelled=%lld leases=%lld "
              "renewed=%lld "
              "expired=%lld errors=%lld success_rate=%.3f mean_ms=%.1f",
              (long long)jobs->processed, (long long)jobs->succeeded, (long long)jobs->failed,
              (long long)jobs->retried, (long long)jobs->dead, (long long)jobs->cancelled,
              (long long)jobs->leases_acquired, (long long)jobs->leases_renewed,
              (long long)jobs->leases_expired, (long long)jobs->errors, summary.success_rate,
              summary.mean_ms);
}
