/* What a slot does with jobs: each runs as a C function, a program, or a pipeline. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "engine/runtime/pool.h"
#include "handler/program_run.h"
#include "work/authority.h"
#include "work/observe.h"
#include "work/run/page_job.h"
#include "work/run/start.h"

enum { PROGRESS_BYTES_MAX = 65536 };

static void tell_progress(struct bundle *bundle, pawl_str json) {
    char *copy = malloc(json.len + 1);
    if (copy == NULL)
        return;
    memcpy(copy, json.ptr, json.len);
    copy[json.len] = '\0';
    pthread_mutex_lock(&bundle->pool->lock);
    free(bundle->progress[bundle->at].text);
    bundle->progress[bundle->at].text = copy;
    bundle->progress[bundle->at].len = json.len;
    bundle->progressed = true;
    pthread_mutex_unlock(&bundle->pool->lock);
}

static bool take_progress(struct run_handle *handle, pawl_str json) {
    tell_progress((struct bundle *)handle, json);
    return true;
}

static void step_ended(void *self) {
    struct bundle *bundle = self;
    pthread_mutex_lock(&bundle->pool->lock);
    bundle->progressed = true;
    pthread_mutex_unlock(&bundle->pool->lock);
}

/* A job as the message of a handler: its number is the seq, and the end of its id. */
static pawl_message message_of(const struct job *job) {
    pawl_message message = {.kind = PAWL_JOB,
                            .seq = job->id,
                            .token = job->token,
                            .attempt = job->attempts,
                            .type = job->type,
                            .topic = job->queue,
                            .stream = job->key,
                            .payload = job->payload,
                            .traceparent = job->traceparent,
                            .consumer = job->task,
                            .progress = job->progress,
                            .sent_ms = job->put_ms};
    for (int i = 0; i < 8; i++)
        message.id.b[8 + i] = (uint8_t)((uint64_t)job->id >> (56 - 8 * i));
    return message;
}

static void run_function(struct bundle *bundle, const struct job *job, struct job_result_in *result) {
    pawl_result said_more = {.retry_after_ms = -1};
    pawl_message message = message_of(job);
    message.run = &bundle->handle;
    pawl_outcome said = bundle->handler->function(&message, &said_more, bundle->handler->self);
    result->end = said == PAWL_DONE ? JOB_END_DONE : said == PAWL_REJECT ? JOB_END_PERMANENT : JOB_END_RETRY;
    result->delay_ms = said_more.retry_after_ms;
    if (said == PAWL_SNOOZE)
        result->end = JOB_END_SNOOZE;
    if (said == PAWL_DONE || said == PAWL_SNOOZE)
        return;
    said_more.error[sizeof(said_more.error) - 1] = '\0';
    struct arena *arena = arena_create(0);
    result->owner = arena;
    const char *text = said_more.error[0] != '\0' ? said_more.error : "the handler gave no reason";
    result->error = str_from(arena != NULL ? arena_strdup(arena, text) : NULL);
    if (atomic_load(&bundle->handle.cancel))
        result->end = JOB_END_CANCELLED;
}

static void write_job(struct buf *buf, const struct job *job) {
    struct json_writer json;
    char key[32];
    snprintf(key, sizeof(key), "job:%lld", (long long)job->id);
    json_writer_init(&json, buf);
    json_begin_object(&json);
    json_key(&json, "id");
    json_int(&json, job->id);
    json_key(&json, "kind");
    json_cstr(&json, "job");
    json_key(&json, "type");
    json_str(&json, job->type);
    json_key(&json, "queue");
    json_str(&json, job->queue);
    json_key(&json, "task");
    json_str(&json, job->task);
    json_key(&json, "key");
    json_str(&json, job->key);
    json_key(&json, "attempt");
    json_int(&json, job->attempts);
    json_key(&json, "token");
    json_int(&json, job->token);
    json_put_str(&json, "idempotency_key", str_from(key));
    json_key(&json, "schedule");
    json_str(&json, job->schedule);
    json_key(&json, "instant_ms");
    json_int(&json, job->instant_ms);
    json_key(&json, "sent_ms");
    json_int(&json, job->put_ms);
    json_key(&json, "traceparent");
    json_str(&json, job->traceparent);
    json_key(&json, "progress");
    json_raw(&json, job->progress);
    json_key(&json, "payload");
    json_raw(&json, job->payload);
    json_end_object(&json);
    buf_append_char(buf, '\n');
}

/* Once per attempt: a program that says one wrong thing mostly says it again. */
static void refuse_progress(struct bundle *bundle, pawl_str json, const struct json_fault *fault) {
    const struct job *job = bundle->jobs[bundle->at];
    if (bundle->refused_progress)
        return;
    bundle->refused_progress = true;
    if (json.len > PROGRESS_BYTES_MAX)
        log_event(bundle->world->log, LOG_LEVEL_WARN, "progress_refused",
                  "job=%lld attempt=%d reason=\"%zu bytes; at most %d are kept\"", (long long)job->id,
                  job->attempts, json.len, PROGRESS_BYTES_MAX);
    else
        log_event(bundle->world->log, LOG_LEVEL_WARN, "progress_refused",
                  "job=%lld attempt=%d reason=\"not JSON: %s at byte %zu\"", (long long)job->id,
                  job->attempts, fault->reason, fault->offset);
}

static void program_progress(void *self, pawl_str json) {
    struct json_fault fault = {0};
    if (json.len <= PROGRESS_BYTES_MAX && json_valid(json, PAWL_JSON_DEPTH_MAX, &fault))
        tell_progress(self, json);
    else
        refuse_progress(self, json, &fault);
}

/* The last line of its output, when it is JSON, is the job's output. */
static pawl_str output_of(struct arena *arena, pawl_str output) {
    pawl_str text = str_trim(output);
    size_t at = text.len;
    while (at > 0 && text.ptr[at - 1] != '\n')
        at--;
    pawl_str last = {text.ptr + at, text.len - at};
    if (last.len == 0 || last.len > PAWL_PAYLOAD_BYTES_DEFAULT ||
        !json_valid(last, PAWL_JSON_DEPTH_MAX, NULL))
        return (pawl_str){NULL, 0};
    return (pawl_str){arena_copy(arena, last.ptr, last.len), last.len};
}

/* What cannot be started here is the worker's trouble: nothing was tried. */
static void give_back(struct job_result_in *result, int64_t wait_ms) {
    result->end = JOB_END_NOT_RUN;
    result->delay_ms = wait_ms;
}

static void judge_program(struct arena *arena, const struct program_result *end,
                          struct job_result_in *result) {
    static const enum job_end meant[] = {[HANDLED_NOT_RUN] = JOB_END_CANCELLED,
                                         [HANDLED_DONE] = JOB_END_DONE,
                                         [HANDLED_RETRY] = JOB_END_RETRY,
                                         [HANDLED_PERMANENT] = JOB_END_PERMANENT,
                                         [HANDLED_SNOOZE] = JOB_END_SNOOZE};
    if (end->process.outcome == PROCESS_NOT_STARTED) {
        give_back(result, end->process.wait_ms);
        return;
    }
    result->end = meant[end->verdict.outcome];
    result->delay_ms = end->verdict.delay_ms;
    if (result->end == JOB_END_DONE)
        result->output = output_of(arena, buf_str(&end->output));
    else if (result->end != JOB_END_SNOOZE)
        result->error = str_from(arena_strdup(arena, end->verdict.error));
}

static void tell_late(const struct bundle *bundle, const struct job *job) {
    pawl_str handler = bundle->handler != NULL ? str_from(bundle->handler->name) : job->type;
    log_event(bundle->world->log, LOG_LEVEL_WARN, "handler_timeout", "handler=%.*s job=%lld after_ms=%lld",
              STR_ARG(handler), (long long)job->id,
              (long long)((clock_boot_us() - bundle->handle.began_us) / 1000));
}

static void run_program(struct bundle *bundle, const struct job *job, struct job_result_in *result) {
    struct arena *arena = arena_create(0);
    struct program_result end = {0};
    struct buf body;
    result->owner = arena;
    result->end = JOB_END_RETRY;
    if (arena == NULL)
        return;
    struct environment_pair pairs[] = {
        {"PAWL_JOB_ID", arena_printf(arena, "%lld", (long long)job->id)},
        {"PAWL_KIND", "job"},
        {"PAWL_TYPE", job->type.ptr},
        {"PAWL_QUEUE", job->queue.ptr},
        {"PAWL_TASK", job->task.ptr},
        {"PAWL_ATTEMPT", arena_printf(arena, "%d", job->attempts)},
        {"PAWL_TOKEN", arena_printf(arena, "%lld", (long long)job->token)},
        {"PAWL_IDEMPOTENCY_KEY", arena_printf(arena, "job:%lld", (long long)job->id)},
        {"TRACEPARENT", job->traceparent.ptr},
    };
    buf_init(&body, 0);
    write_job(&body, job);
    bundle->refused_progress = false;
    struct program_call call = {.argv = bundle->handler->argv,
                                .launcher = tools_launcher(bundle->world->tools),
                                .pipe = bundle->handler->pipe,
                                .what = "job",
                                .body = buf_str(&body),
                                .pairs = pairs,
                                .pair_count = sizeof(pairs) / sizeof(*pairs),
                                .limits = {bundle->deadline_ms, &bundle->handle.cancel},
                                .fence_ms = bundle->fence_ms,
                                .timeout_ms = bundle->timeout_ms,
                                .on_progress = program_progress,
                                .self = bundle};
    if (body.failed) {
        result->error = STR("out of memory");
    } else {
        program_run(&call, &end);
        judge_program(arena, &end, result);
        buf_free(&end.output);
    }
    if (end.process.outcome == PROCESS_TIMED_OUT)
        tell_late(bundle, job);
    buf_free(&body);
}

/* Work that is made of tools: pipelines, and what belongs to runs. */
static void run_own(struct bundle *bundle, const struct job *job, struct job_result_in *result) {
    atomic_bool refused = false;
    atomic_llong not_started_ms = 0;
    struct pipeline_run_in in = {.world = bundle->world,
                                 .job = job,
                                 .instance = bundle->instance,
                                 .lease_ms = bundle->lease_ms,
                                 .claimed_ms = bundle->claimed_ms,
                                 .deadline_ms = bundle->deadline_ms,
                                 .cancel = &bundle->handle.cancel,
                                 .agent = job->agent,
                                 .refused = &refused,
                                 .not_started_ms = &not_started_ms,
                                 .progress = step_ended,
                                 .self = bundle};
    if (!str_absent(job->task))
        pipeline_run(&in, result);
    else if (str_equal_cstr(job->type, RUN_PAGE_TYPE))
        page_job_run(&in, result);
    else if (str_equal_cstr(job->type, RUN_CONSOLIDATE_TYPE))
        consolidate_job_run(&in, result);
    else if (str_equal_cstr(job->type, RUN_PLAN_TYPE))
        plan_job_run(&in, result);
    else
        pipeline_run(&in, result);
    result->refused = atomic_load(&refused) && result->end == JOB_END_PERMANENT;
    bool failed = !result->refused && (result->end == JOB_END_RETRY || result->end == JOB_END_PERMANENT);
    if (failed && pipeline_not_started_ms(&in) > 0)
        give_back(result, pipeline_not_started_ms(&in));
}

/* Whether its agent may have the handler run; else the result says why. */
static bool may_handle(struct bundle *bundle, const struct job *job, struct job_result_in *result) {
    struct arena *arena = arena_create(0);
    struct pipeline_run_in in = {
        .world = bundle->world, .job = job, .cancel = &bundle->handle.cancel, .agent = job->agent};
    struct job_new same = {.task = job->task, .type = job->type};
    pawl_error err = {0};
    pawl_status status = arena != NULL ? authority_job(&in, &same, NULL, arena, &err) : PAWL_NO_MEMORY;
    if (status == PAWL_OK) {
        arena_free(arena);
        return true;
    }
    result->owner = arena;
    result->refused = status == PAWL_INVALID || status == PAWL_NOT_FOUND;
    result->end = result->refused ? JOB_END_PERMANENT : JOB_END_RETRY;
    result->error = str_from(arena != NULL ? arena_strdup(arena, err.text) : "out of memory");
    return false;
}

static enum rollup_result counts_as(enum job_end end) {
    switch (end) {
    case JOB_END_DONE:
    case JOB_END_SETTLED:
        return ROLLUP_DONE;
    case JOB_END_RETRY:
        return ROLLUP_RETRY;
    case JOB_END_PERMANENT:
        return ROLLUP_PERMANENT;
    case JOB_END_CANCELLED:
    case JOB_END_NOT_RUN:
    case JOB_END_SNOOZE:
    case JOB_END_WAIT:
        break;
    }
    return ROLLUP_OTHER;
}

/* A job that ran out of time reports that, whatever noticed it first: the slot's own clock, a step's, or
 * the core, which asks it to stop. A program's exit already reports it. */
static void judge_late(const struct bundle *bundle, struct job_result_in *result) {
    enum stop_reason why = stop_read(&bundle->handle.cancel);
    bool program = bundle->handler != NULL && bundle->handler->kind != HANDLER_FUNCTION;
    bool late = bundle->deadline_ms > 0 &&
                (why == STOP_TIMEOUT || (why == STOP_NONE && clock_boot_ms() >= bundle->deadline_ms));
    if (program || !late || (result->end != JOB_END_RETRY && result->end != JOB_END_CANCELLED))
        return;
    if (result->owner == NULL)
        result->owner = arena_create(0);
    tell_late(bundle, bundle->jobs[bundle->at]);
    result->end = JOB_END_RETRY;
    result->error = (pawl_str){NULL, 0};
    if (result->owner != NULL)
        result->error = str_from(arena_printf(result->owner, "did not end within its time limit of %lld ms",
                                              (long long)bundle->timeout_ms));
}

void job_bundle_run(struct bundle *bundle) {
    bundle->handle.progress = take_progress;
    for (size_t i = 0; i < bundle->count; i++) {
        struct job_result_in *result = &bundle->results[i];
        bundle->at = i;
        *result = (struct job_result_in){.end = JOB_END_NOT_RUN, .delay_ms = -1};
        int64_t start_us = clock_boot_us();
        /* A worker that was stopped for a while may come back to life right here: the lease is asked each
         * time. */
        if (atomic_load_explicit(&bundle->handle.cancel, memory_order_relaxed) ||
            start_us / 1000 >= bundle->fence_ms)
            continue;
        bundle->handle.began_us = start_us;
        struct observed_job work;
        bool page = bundle->handler == NULL && str_absent(bundle->jobs[i]->task) &&
                    str_equal_cstr(bundle->jobs[i]->type, RUN_PAGE_TYPE);
        const struct job *job =
            observe_job(bundle->world->observer, bundle->jobs[i], page ? ROLLUP_PAGE : ROLLUP_JOB, &work);
        if (bundle->handler == NULL)
            run_own(bundle, job, result);
        else if (!str_absent(job->agent) && !may_handle(bundle, job, result))
            ;
        else if (bundle->handler->kind == HANDLER_FUNCTION)
            run_function(bundle, job, result);
        else
            run_program(bundle, job, result);
        judge_late(bundle, result);
        observe_job_end(bundle->world->observer, &work, counts_as(result->end), result->error);
        result->duration_ms = (clock_boot_us() - start_us) / 1000;
    }
}
