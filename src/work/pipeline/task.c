/* Running one step of a pipeline in a thread, with its retries. */
#include "work/pipeline/task.h"

#include <stdio.h>
#include <time.h>

#include "base/str.h"
#include "base/time/clock.h"
#include "work/authority.h"
#include "work/observe.h"

enum { LOOK_MS = 50 };

/* Waits between tries of a step; false: there is no time left for another. */
static bool pause_step(const struct pipeline_task *task, int64_t wait_ms, int64_t deadline_ms) {
    int64_t until_ms = clock_boot_ms() + wait_ms;
    if (until_ms >= deadline_ms)
        return false;
    while (!atomic_load_explicit(task->in->cancel, memory_order_relaxed)) {
        int64_t left_ms = until_ms - clock_boot_ms();
        if (left_ms <= 0)
            return true;
        nanosleep(&(struct timespec){0, (long)(left_ms < LOOK_MS ? left_ms : LOOK_MS) * 1000000L}, NULL);
    }
    return false;
}

static struct tracer *tracer_of(const struct pipeline_task *task) {
    struct observer *observer = task->in->world->observer;
    return observer != NULL ? observer->tracer : NULL;
}

static void end_span(const struct pipeline_task *task, struct span *span) {
    const struct pipeline_step *step = task->planned;
    struct span_attribute attributes[] = {SPAN_TEXT("pawl.step.id", step->id),
                                          SPAN_TEXT("pawl.step.uses", step->uses),
                                          SPAN_NUMBER("pawl.step.index", (int64_t)task->item),
                                          SPAN_NUMBER("pawl.step.attempts", task->attempts),
                                          SPAN_NUMBER("pawl.job.id", task->in->job->id),
                                          SPAN_TEXT("pawl.job.task", task->in->job->task)};
    span_end(span, &(struct span_about){.kind = SPAN_INTERNAL,
                                        .operation = "step",
                                        .object = step->id,
                                        .attributes = attributes,
                                        .attribute_count = sizeof(attributes) / sizeof(*attributes),
                                        .failed = task->status != PAWL_OK,
                                        .error = str_from(task->error.text)});
}

static void call_tool(struct pipeline_task *task) {
    const struct pipeline_step *step = task->planned;
    const struct job *job = task->in->job;
    struct span span;
    span_begin(tracer_of(task), job->traceparent, &span);
    int64_t job_deadline_ms = task->in->deadline_ms > 0 ? task->in->deadline_ms : INT64_MAX;
    int64_t began_ms = clock_boot_ms();
    char key[160];
    snprintf(key, sizeof(key), "job:%lld:%.*s:%zu", (long long)job->id, STR_ARG(step->id), task->item);
    for (task->attempts = 1;; task->attempts++) {
        struct tool_answer answer = {0};
        int64_t deadline_ms = clock_boot_ms() + step->timeout_ms;
        struct tool_call call = {.uses = step->uses,
                                 .arguments = task->with,
                                 .deadline_ms = deadline_ms < job_deadline_ms ? deadline_ms : job_deadline_ms,
                                 .cancel = task->in->cancel,
                                 .traceparent = span_traceparent(&span, job->traceparent),
                                 .idempotency_key = str_from(key),
                                 .context = (void *)task->in,
                                 .not_started_ms = task->in->not_started_ms};
        task->status = authority_call(task->in, &call, task->arena, &answer, &task->error);
        task->output = answer.output;
        task->retry_after_ms = answer.retry_after_ms;
        task->not_started = task->status != PAWL_OK && pipeline_not_started_ms(task->in) > 0;
        if (task->status == PAWL_OK || task->status == PAWL_STALE || task->not_started ||
            pipeline_is_permanent(task->status) || task->attempts >= step->attempts)
            break;
        int64_t wait_ms =
            retry_wait_ms(&step->backoff, task->attempts, (uint64_t)clock_boot_us() * 2654435761u);
        if (!pause_step(task, wait_ms > task->retry_after_ms ? wait_ms : task->retry_after_ms,
                        job_deadline_ms))
            break;
    }
    task->duration_ms = clock_boot_ms() - began_ms;
    end_span(task, &span);
}

static void *task_main(void *self) {
    struct pipeline_task *task = self;
    call_tool(task);
    pthread_mutex_lock(task->lock);
    task->ended = true;
    pthread_cond_signal(task->ended_signal);
    pthread_mutex_unlock(task->lock);
    return NULL;
}

int pipeline_task_start(struct pipeline_task *task) {
    return pthread_create(&task->thread, NULL, task_main, task);
}
