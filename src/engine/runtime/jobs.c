/* The job side, as the worker's loop sees it: our instance and when to stop. */
#include <unistd.h>

#include "base/uuid.h"
#include "engine/runtime/runtime.h"

enum { REST_POLLS = 8 }; /* jobs rest longer than messages: the store says when the next is due */

static void changed(void *self) {
    struct runtime *runtime = self;
    uint64_t one = 1;
    ssize_t wrote = write(runtime->wake_fd, &one, sizeof(one));
    (void)wrote; /* a full counter wakes as well */
}

pawl_status runtime_jobs_start(struct runtime *runtime, pawl_error *err) {
    struct job_side_config config = runtime->config.jobs;
    if ((runtime->config.engine.instance.kinds & KIND_BIT_JOBS) == 0)
        return PAWL_OK;
    config.store = runtime->config.store;
    config.handlers = runtime->config.handlers;
    config.slots = runtime->config.engine.slots;
    config.poll_ms = runtime->config.engine.poll_ms;
    config.rest_ms = runtime->config.engine.quiet_poll_ms * REST_POLLS;
    config.drain_ms = runtime->config.engine.drain_ms;
    config.heartbeat_ms = runtime->config.engine.heartbeat_ms;
    config.seed = runtime->config.engine.seed;
    config.log = &runtime->config.log;
    config.observer = runtime->config.observer;
    config.changed = changed;
    config.self = runtime;
    struct job_side *jobs = NULL;
    pawl_status status = job_side_create(&config, &jobs, err);
    pthread_mutex_lock(&runtime->metrics_lock);
    runtime->jobs = jobs;
    pthread_mutex_unlock(&runtime->metrics_lock);
    if (status == PAWL_OK)
        status = job_side_start(runtime->jobs, err);
    runtime->jobs_held = status == PAWL_OK;
    engine_hold(runtime->core, runtime->jobs_held);
    return status;
}

void runtime_jobs_stop(struct runtime *runtime) {
    if (runtime->jobs != NULL)
        job_side_stop(runtime->jobs, runtime->stops_seen > 1);
}

/* An instance whose lease expired, and that was not evicted, is alive again with its next beat: its id
 * stays, so nothing else would tell the job side. */
void runtime_jobs_revive(struct runtime *runtime) {
    pawl_uuid instance = engine_metrics(runtime->core).instance;
    if (runtime->jobs != NULL && !uuid_is_nil(instance) && job_side_lost(runtime->jobs))
        job_side_instance(runtime->jobs, instance);
}

void runtime_jobs_wake(struct runtime *runtime) {
    if (runtime->jobs != NULL)
        job_side_wake(runtime->jobs);
}

void runtime_jobs_sync(struct runtime *runtime) {
    if (runtime->jobs == NULL)
        return;
    pawl_error damage;
    if (!runtime->exiting && job_side_damaged(runtime->jobs, &damage))
        runtime_damaged(runtime, &damage);
    pawl_uuid instance = engine_metrics(runtime->core).instance;
    if (!uuid_equal(instance, runtime->jobs_instance)) {
        runtime->jobs_instance = instance;
        job_side_instance(runtime->jobs, instance);
    }
    bool busy = !job_side_idle(runtime->jobs);
    if (busy != runtime->jobs_busy) {
        runtime->jobs_busy = busy;
        engine_jobs_busy(runtime->core, busy);
        runtime_step(runtime, (struct engine_event){.type = EVENT_TICK});
    }
    if (engine_woken(runtime->core) != runtime->jobs_quiet) {
        runtime->jobs_quiet = engine_woken(runtime->core);
        job_side_quiet(runtime->jobs, runtime->jobs_quiet);
    }
    if (runtime->jobs_held && job_side_ended(runtime->jobs)) {
        runtime->jobs_held = false;
        engine_hold(runtime->core, false);
        runtime_step(runtime, (struct engine_event){.type = EVENT_TICK});
    }
}

/* The metrics lock is held. */
void runtime_jobs_metrics(struct runtime *runtime, pawl_job_metrics *out) {
    if (runtime->jobs == NULL) {
        *out = runtime->jobs_total;
        return;
    }
    struct job_core_metrics now = job_side_metrics(runtime->jobs);
    *out = (pawl_job_metrics){.processed = now.completed + now.failed + now.cancelled,
                              .succeeded = now.completed,
                              .failed = now.failed,
                              .retried = now.retried,
                              .dead = now.dead,
                              .cancelled = now.cancelled,
                              .processing_ms = now.processing_us / 1000,
                              .leases_acquired = now.claimed,
                              .leases_renewed = now.renewed,
                              .leases_expired = now.fenced + now.stale,
                              .errors = now.lost_calls,
                              .running = now.running,
                              .waiting = (int64_t)now.waiting};
}

/* The last thing a worker says of its jobs. */
static void log_summary(struct runtime *runtime) {
    const pawl_job_metrics *m = &runtime->jobs_total;
    pawl_job_summary summary = pawl_job_metrics_summary(m);
    log_event(&runtime->config.log, LOG_LEVEL_INFO, "jobs_stopped",
              "processed=%lld succeeded=%lld failed=%lld retried=%lld dead=%lld cancelled=%lld leases=%lld "
              "renewed=%lld "
              "expired=%lld errors=%lld success_rate=%.3f mean_ms=%.1f",
              (long long)m->processed, (long long)m->succeeded, (long long)m->failed, (long long)m->retried,
              (long long)m->dead, (long long)m->cancelled, (long long)m->leases_acquired,
              (long long)m->leases_renewed, (long long)m->leases_expired, (long long)m->errors,
              summary.success_rate, summary.mean_ms);
}

bool runtime_jobs_close(struct runtime *runtime, int64_t wait_ms) {
    if (runtime->jobs == NULL)
        return true;
    if (!job_side_close(runtime->jobs, wait_ms))
        return false;
    struct job_side *ended = runtime->jobs;
    pthread_mutex_lock(&runtime->metrics_lock);
    runtime_jobs_metrics(runtime, &runtime->jobs_total);
    runtime->jobs = NULL;
    pthread_mutex_unlock(&runtime->metrics_lock);
    job_side_free(ended);
    log_summary(runtime);
    return true;
}
