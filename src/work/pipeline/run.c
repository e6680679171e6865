/* Running a pipeline job: planning, starting steps, recording their results. */
#include "work/pipeline/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/json/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "work/pipeline/job.h"
#include "work/pipeline/nested.h"
#include "work/pipeline/task.h"
#include "work/pipeline/wait.h"

struct run {
    const struct pipeline_run_in *in;
    struct pipeline_run_in own; /* in, with the agent that the task may have */
    struct arena *arena;        /* lives as long as the result */
    struct arena *plan_arena;
    struct pipeline_job job;
    struct template_scope context;
    struct step_record *records;
    size_t record_count, record_capacity;
    struct wait_state waits;
    struct pipeline_task tasks[PIPELINE_PARALLEL_MAX];
    size_t running;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    struct buf timings; /* for the audit */
    bool lost;          /* the lease has ended: nothing more may be done */
    bool retryable;     /* a step failed and may be retried */
    bool permanent;     /* a step failed for good */
    int64_t delay_ms;   /* what a failed tool asked for */
};

static bool cancelled(const struct run *run) {
    return atomic_load_explicit(run->in->cancel, memory_order_relaxed);
}

static pawl_status add_record(struct run *run, struct step_record record, pawl_error *err) {
    if (run->record_count == run->record_capacity) {
        size_t wanted = run->record_capacity > 0 ? run->record_capacity * 2 : 32;
        struct step_record *grown = realloc(run->records, wanted * sizeof(*grown));
        if (grown == NULL)
            return error_no_memory(err, "pipeline");
        run->records = grown;
        run->record_capacity = wanted;
    }
    run->records[run->record_count++] = record;
    return PAWL_OK;
}

static bool find_step(const struct pipeline *pipeline, pawl_str id, size_t *at) {
    for (size_t i = 0; i < pipeline->steps_count; i++) {
        if (str_equal(pipeline->steps[i].id, id)) {
            *at = i;
            return true;
        }
    }
    return false;
}

/* Steps that earlier attempts finished are not run again. */
static pawl_status read_records(struct run *run, pawl_error *err) {
    struct shared_store *shared = run->in->world->shared;
    struct store *store = NULL;
    struct job_steps steps = {0};
    pawl_status status = shared_store_take(shared, &store, err);
    if (status != PAWL_OK)
        return status;
    status = store->ops->jobs->steps_read(store, run->in->job->id, run->arena, &steps, err);
    shared_store_give(shared, status);
    for (size_t i = 0; status == PAWL_OK && i < steps.count; i++) {
        const struct job_step *step = &steps.steps[i];
        struct step_record record = {.item = (size_t)step->index, .state = STEP_SUCCEEDED};
        if (!find_step(run->job.pipeline, step->step, &record.step))
            continue; /* of a version of the task that is gone */
        if (step->state == JOB_STEP_WAITING) {
            status = wait_state_read(&run->waits, run->arena, record.step, step->output, err);
            continue;
        }
        if (step->state != JOB_STEP_DONE)
            continue;
        pawl_str output = str_absent(step->output) ? STR("null") : step->output;
        status = tree_parse(run->arena, output, NULL, &record.output, err);
        const struct pipeline_step *planned = &run->job.pipeline->steps[record.step];
        const char *fault = status == PAWL_OK && str_equal_cstr(planned->uses, PIPELINE_RUN_TOOL)
                                ? nested_fault(run->arena, record.output)
                                : NULL;
        if (fault != NULL) { /* it has failed */
            record.state = STEP_FAILED;
            record.error = str_from(fault);
            run->permanent = true;
        }
        if (status == PAWL_OK)
            status = add_record(run, record, err);
    }
    return status;
}

/* Records one step; a step that is not recorded has not happened. */
static pawl_status put_step(struct run *run, const struct job_step *step, pawl_error *err) {
    struct shared_store *shared = run->in->world->shared;
    struct steps_put put = {run->in->instance, {run->in->job->token, run->in->job->id}, step, 1};
    struct arena *arena = arena_create(0);
    pawl_status status = arena != NULL ? PAWL_UNAVAILABLE : error_no_memory(err, "pipeline");
    for (int i = 0; i < PIPELINE_STORE_TRIES && status == PAWL_UNAVAILABLE && !run->lost; i++) {
        struct store *store = NULL;
        struct job_answers answers = {0};
        if (i > 0)
            nanosleep(&(struct timespec){0, 100000000L << (i < 3 ? i : 2)}, NULL);
        status = shared_store_take(shared, &store, err);
        if (status != PAWL_OK)
            continue;
        status = store->ops->jobs->steps_put(store, &put, arena, &answers, err);
        shared_store_give(shared, status);
        if (status == PAWL_UNKNOWN)
            status = PAWL_UNAVAILABLE; /* writing it again is harmless */
        if (status == PAWL_OK && answers.answers[0] == ANSWER_STALE) {
            run->lost = true;
            status = error_set(err, PAWL_STALE, "pipeline", "the lease has ended");
        }
    }
    arena_free(arena);
    return status;
}

static pawl_status start_step(struct run *run, const struct step_ready *ready, pawl_error *err) {
    struct pipeline_task *task = run->tasks;
    struct buf text;
    while (task->busy)
        task++;
    *task = (struct pipeline_task){.in = run->in,
                                   .planned = &run->job.pipeline->steps[ready->step],
                                   .lock = &run->lock,
                                   .ended_signal = &run->ended,
                                   .step = ready->step,
                                   .item = ready->item,
                                   .arena = arena_create(0)};
    if (task->arena == NULL)
        return error_no_memory(err, "pipeline");
    /* The plan's memory is reused while the step runs: it gets a copy. */
    buf_init(&text, 0);
    tree_write(&text, ready->with);
    pawl_status status = tree_parse_buf(task->arena, &text, "pipeline", &task->with, err);
    int code = status == PAWL_OK ? pipeline_task_start(task) : 0;
    if (status == PAWL_OK && code != 0)
        status = error_errno(err, PAWL_NO_MEMORY, "pipeline", code, "no thread for a step");
    if (status == PAWL_OK)
        status = add_record(
            run, (struct step_record){.step = ready->step, .item = ready->item, .state = STEP_RUNNING}, err);
    if (status != PAWL_OK) {
        arena_free(task->arena);
        return status;
    }
    task->busy = true;
    run->running++;
    return PAWL_OK;
}

static struct step_record *record_of(struct run *run, size_t step, size_t item) {
    for (size_t i = run->record_count; i > 0; i--) {
        if (run->records[i - 1].step == step && run->records[i - 1].item == item)
            return &run->records[i - 1];
    }
    return NULL;
}

static void write_timing(struct run *run, const struct pipeline_task *task) {
    buf_append_cstr(&run->timings, run->timings.len > 1 ? ",{\"step\":" : "{\"step\":");
    json_quote(&run->timings, run->job.pipeline->steps[task->step].id);
    buf_printf(&run->timings, ",\"index\":%zu,\"state\":\"%s\",\"attempts\":%d,\"duration_ms\":%lld}",
               task->item, task->status == PAWL_OK ? "succeeded" : "failed", task->attempts,
               (long long)task->duration_ms);
}

/* A step has ended: records its result, and what it means for the job. */
static pawl_status end_step(struct run *run, struct pipeline_task *task, pawl_error *err) {
    struct buf input, output;
    char input_hash[SHA256_TEXT_BYTES] = "", output_hash[SHA256_TEXT_BYTES] = "";
    buf_init(&input, 0);
    buf_init(&output, 0);
    tree_write(&input, task->with);
    if (task->status == PAWL_OK)
        tree_write(&output, task->output);
    pawl_status status = buf_status(&output, "pipeline", err);
    if (status == PAWL_OK)
        status = sha256_hex(buf_str(&input), input_hash, err);
    if (status == PAWL_OK)
        status = sha256_hex(buf_str(&output), output_hash, err);
    struct job_step step = {.step = run->job.pipeline->steps[task->step].id,
                            .index = (int)task->item,
                            .state = task->status == PAWL_OK ? JOB_STEP_DONE : JOB_STEP_FAILED,
                            .attempt = task->attempts,
                            .input_hash = str_from(input_hash),
                            .duration_ms = task->duration_ms};
    if (task->status == PAWL_OK) {
        step.output = buf_str(&output);
        step.output_hash = str_from(output_hash);
    } else {
        step.error = str_from(task->error.text);
    }
    if (status == PAWL_OK && task->status != PAWL_STALE && !task->not_started)
        status = put_step(run, &step, err);
    struct step_record *record = record_of(run, task->step, task->item);
    if (status == PAWL_OK) {
        record->state = task->status == PAWL_OK ? STEP_SUCCEEDED : STEP_FAILED;
        if (task->status == PAWL_OK)
            status = tree_parse(run->arena, buf_str(&output), NULL, &record->output, err);
        else
            record->error = str_from(arena_strdup(run->arena, task->error.text));
        if (task->status != PAWL_OK && pipeline_is_permanent(task->status))
            run->permanent = true;
        else if (task->status != PAWL_OK)
            run->retryable = true;
        if (task->status != PAWL_OK && task->retry_after_ms > run->delay_ms)
            run->delay_ms = task->retry_after_ms;
        write_timing(run, task);
    }
    buf_free(&input);
    buf_free(&output);
    return status;
}

/* Collects steps that have ended; waits for one if there is nothing else to do. */
static pawl_status collect(struct run *run, bool wait, size_t *ended, pawl_error *err) {
    pawl_status status = PAWL_OK;
    *ended = 0;
    while (run->running > 0) {
        struct pipeline_task *done = NULL;
        pthread_mutex_lock(&run->lock);
        while (done == NULL) {
            for (size_t i = 0; i < PIPELINE_PARALLEL_MAX && done == NULL; i++) {
                if (run->tasks[i].busy && run->tasks[i].ended)
                    done = &run->tasks[i];
            }
            if (done != NULL || !wait || *ended > 0)
                break;
            pthread_cond_wait(&run->ended, &run->lock); /* every tool call returns by its deadline */
        }
        pthread_mutex_unlock(&run->lock);
        if (done == NULL)
            break;
        pthread_join(done->thread, NULL);
        if (status == PAWL_OK)
            status = end_step(run, done, err);
        arena_free(done->arena);
        done->busy = false;
        run->running--;
        ++*ended;
        if (run->in->progress != NULL)
            run->in->progress(run->in->self);
    }
    return status;
}

static pawl_status plan(struct run *run, struct pipeline_plan *out, pawl_error *err) {
    arena_reset(run->plan_arena);
    return pipeline_plan(run->plan_arena, run->job.pipeline, &run->context, run->records, run->record_count,
                         out, err);
}

/* Starts the steps that may start. Waiting steps are noted instead, and recorded as done when their time has
 * come. */
static pawl_status start_ready(struct run *run, const struct pipeline_plan *now, size_t *next, bool *changed,
                               pawl_error *err) {
    pawl_status status = PAWL_OK;
    while (status == PAWL_OK && *next < now->ready_count && run->running < PIPELINE_PARALLEL_MAX) {
        const struct step_ready *ready = &now->ready[(*next)++];
        const struct pipeline_step *step = &run->job.pipeline->steps[ready->step];
        bool nested = nested_waits(step, ready->with);
        if (!nested && !str_equal_cstr(step->uses, PIPELINE_WAIT_TOOL)) {
            status = start_step(run, ready, err);
            continue;
        }
        struct wait_verdict verdict = {0};
        status = nested ? nested_look(&run->waits, run->in, run->arena, step, ready, &verdict, err)
                        : wait_state_look(&run->waits, run->in, run->arena, step, ready, &verdict, err);
        if (status == PAWL_OK && verdict.put)
            status = put_step(run, &verdict.step, err);
        if (status == PAWL_OK && verdict.over) {
            status = add_record(run,
                                (struct step_record){.step = ready->step,
                                                     .item = ready->item,
                                                     .state = verdict.failed ? STEP_FAILED : STEP_SUCCEEDED,
                                                     .output = verdict.output,
                                                     .error = verdict.step.error},
                                err);
            run->permanent = run->permanent || verdict.failed;
            *changed = true;
        }
    }
    return status;
}

static pawl_status drive(struct run *run, struct pipeline_plan *now, pawl_error *err) {
    size_t next = 0;
    bool dirty = true;
    int64_t planned_ms = 0;
    while (true) {
        size_t ended = 0;
        bool changed = false;
        if (dirty && (next >= now->ready_count || clock_boot_ms() >= planned_ms + PIPELINE_PLAN_MS)) {
            wait_state_begin(&run->waits);
            pawl_status status = plan(run, now, err);
            if (status != PAWL_OK)
                return status;
            next = 0;
            dirty = false;
            planned_ms = clock_boot_ms();
        }
        bool stop = cancelled(run) || run->lost || pipeline_not_started_ms(run->in) > 0;
        if (!stop && now->outcome == PIPELINE_RUNNING) {
            pawl_status status = start_ready(run, now, &next, &changed, err);
            if (status != PAWL_OK)
                return status;
        }
        dirty = dirty || changed;
        if (run->running == 0 && !changed && (!dirty || stop) && (next >= now->ready_count || stop))
            return PAWL_OK;
        pawl_status status = collect(run, !changed, &ended, err);
        if (status != PAWL_OK)
            return status;
        dirty = dirty || ended > 0;
    }
}

static pawl_str keep(struct run *run, const struct buf *text) {
    char *copy = arena_copy(run->arena, text->ptr != NULL ? text->ptr : "", text->len);
    return (pawl_str){copy, copy != NULL ? text->len : 0};
}

static pawl_str hash_of(struct run *run, pawl_str text) {
    char *digest = arena_alloc(run->arena, SHA256_TEXT_BYTES);
    if (digest == NULL || sha256_hex(text, digest, NULL) != PAWL_OK)
        return (pawl_str){NULL, 0};
    return str_from(digest);
}

static void fail(struct run *run, struct job_result_in *result, pawl_status status, const char *text) {
    result->end = pipeline_is_permanent(status) ? JOB_END_PERMANENT : JOB_END_RETRY;
    result->error = str_from(arena_strdup(run->arena, text));
}

static void conclude(struct run *run, const struct pipeline_plan *now, struct job_result_in *result) {
    struct buf output;
    result->delay_ms = -1;
    if (cancelled(run) || run->lost) {
        result->end = JOB_END_CANCELLED;
        result->error = STR("cancelled");
    } else if (now->outcome == PIPELINE_RUNNING) {
        wait_state_result(&run->waits, result);
    } else if (now->outcome == PIPELINE_FAILED) {
        bool again = run->retryable && !run->permanent;
        fail(run, result, again ? PAWL_UNAVAILABLE : PAWL_INVALID,
             now->error != NULL ? now->error : "a step failed");
        if (again && run->delay_ms > 0)
            result->delay_ms = run->delay_ms;
    } else {
        buf_init(&output, 0);
        if (now->output != NULL)
            tree_write(&output, now->output);
        result->end = JOB_END_DONE;
        result->output = output.len > 0 ? keep(run, &output) : (pawl_str){NULL, 0};
        if (!str_absent(result->output))
            result->output_hash = hash_of(run, result->output);
        buf_free(&output);
    }
    result->input_hash = hash_of(run, run->in->job->payload);
    buf_append_char(&run->timings, ']');
    result->steps = keep(run, &run->timings);
}

static pawl_status make_context(struct run *run, pawl_error *err) {
    struct buf text;
    const struct tree *about = NULL;
    const struct job *job = run->in->job;
    buf_init(&text, 0);
    buf_printf(&text, "{\"id\":%lld,\"attempt\":%d,\"instant_ms\":%lld,\"task\":", (long long)job->id,
               job->attempts, (long long)job->instant_ms);
    if (str_absent(job->task))
        buf_append_cstr(&text, "null");
    else
        json_quote(&text, job->task);
    buf_append_char(&text, '}');
    pawl_status status = tree_parse_buf(run->arena, &text, "pipeline", &about, err);
    run->context = (struct template_scope){.params = run->job.params, .env = run->job.env, .run = about};
    return status;
}

void pipeline_run(const struct pipeline_run_in *in, struct job_result_in *result) {
    struct run run = {.in = in, .delay_ms = -1};
    struct pipeline_plan now = {0};
    pawl_error err = {0};
    int64_t began_ms = clock_boot_ms();
    *result = (struct job_result_in){.end = JOB_END_RETRY, .delay_ms = -1, .error = STR("out of memory")};
    run.arena = arena_create(0);
    run.plan_arena = arena_create(0);
    buf_init(&run.timings, 0);
    buf_append_char(&run.timings, '[');
    pthread_mutex_init(&run.lock, NULL);
    pthread_cond_init(&run.ended, NULL);
    pawl_status status = run.arena != NULL && run.plan_arena != NULL ? PAWL_OK
                                                                     : error_no_memory(&err, "pipeline");
    if (status == PAWL_OK) {
        result->error = (pawl_str){NULL, 0};
        result->owner = run.arena;
        status = pipeline_job_read(in, run.arena, &run.job, &err);
        run.own = *in;
        run.own.agent = run.job.agent;
        run.in = &run.own;
    }
    if (status == PAWL_OK)
        status = make_context(&run, &err);
    if (status == PAWL_OK)
        status = read_records(&run, &err);
    if (status == PAWL_OK)
        status = drive(&run, &now, &err);
    size_t ended = 0;
    while (run.running > 0) /* whatever went wrong, no thread is left running */
        status = collect(&run, true, &ended, &err) == PAWL_OK ? status : PAWL_UNAVAILABLE;
    if (status == PAWL_OK)
        conclude(&run, &now, result);
    else if (run.arena != NULL)
        fail(&run, result, status, err.text);
    result->duration_ms = clock_boot_ms() - began_ms;
    free(run.records);
    buf_free(&run.timings);
    arena_free(run.plan_arena);
    if (result->owner == NULL)
        arena_free(run.arena);
    pthread_mutex_destroy(&run.lock);
    pthread_cond_destroy(&run.ended);
}
