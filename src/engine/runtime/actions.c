/* Carrying out what the core decides. */
#include <string.h>
#include <sys/timerfd.h>

#include "base/error.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "engine/runtime/runtime.h"

enum { CANCEL_IDS_MAX = 1000 }; /* asked for at once; the rest at the next heartbeat */

static void fatal(struct runtime *runtime, pawl_status status, const char *what) {
    runtime->exiting = true;
    runtime->forced = true;
    runtime->exit_status = error_set(&runtime->exit_error, status, "worker", "%s", what);
}

static void ask(struct runtime *runtime, enum runtime_thread thread, enum call_type type,
                const struct engine_action *action) {
    struct call *call = call_new(type);
    if (call == NULL) {
        fatal(runtime, PAWL_NO_MEMORY, "out of memory");
        return;
    }
    call->instance = runtime->config.engine.instance;
    call->instance.id = engine_metrics(runtime->core).instance;
    call->batch = action->batch;
    call->report = action->report;
    memcpy(call->known, action->known, sizeof(call->known));
    call->finish = action->finish;
    call->renew = action->renew;
    call->exchange = action->exchange;
    call->rest_ms = runtime->config.engine.rest_ms;
    call->queue = runtime->config.engine.queue;
    call->order = action->order;
    call->full = action->full;
    call->brief = action->brief;
    call->processed = type == CALL_BEAT ? runtime_done(runtime) : 0;
    if (type == CALL_REPORT && action->report.failed && action->report.fail.error.len > 0) {
        /* The core drops the message, and its text with it, when the instance is evicted meanwhile. */
        pawl_str *text = &call->report.fail.error;
        text->ptr = arena_copy(call->arena, text->ptr, text->len);
        if (text->ptr == NULL)
            text->len = 0;
    }
    if (type == CALL_REGISTER) {
        pawl_error error;
        call->instance.lease_ms = runtime->config.engine.instance_lease_ms;
        call->instance.id = runtime->config.engine.instance.id;
        if (action->fresh && uuid_next(&call->instance.id, &error) != PAWL_OK) {
            call_free(call);
            fatal(runtime, PAWL_INTERNAL, error.text);
            return;
        }
    }
    if (type == CALL_DUTY || type == CALL_MAINTAIN)
        runtime_duty(runtime, call);
    else
        store_thread_call(runtime->threads[thread], call);
}

/* A call that the runtime makes for itself. */
void runtime_ask_control(struct runtime *runtime, enum call_type type) {
    ask(runtime, THREAD_CONTROL, type, &(struct engine_action){0});
}

static void check_ready(struct runtime *runtime, const struct engine_action *action) {
    /* An open store without a check of the user's is ready: no need to wait for a thread to say so. */
    if (runtime->config.ready == NULL && atomic_load(&runtime->threads[THREAD_WORK]->open))
        runtime->ready_inline = true;
    else
        ask(runtime, THREAD_WORK, CALL_READY, action);
}

static void start(struct runtime *runtime, const struct engine_action *action) {
    const struct engine_run *run = &action->run;
    const struct handler_table *table = runtime->config.handlers;
    bool own = (size_t)run->handler >= table->count; /* its document says what is called */
    const struct handler *handler = own ? NULL : &table->handlers[run->handler];
    if (run->jobs == NULL && handler != NULL && handler->kind == HANDLER_PROCESS && handler->pipe == NULL &&
        handler->batch == NULL) {
        runtime_process_start(runtime, action->slot, run);
        return;
    }
    struct bundle *bundle = &runtime->bundles[action->slot];
    bundle->slot = action->slot;
    bundle->handler = handler;
    bundle->observer = runtime->config.observer;
    bundle->perspectives = runtime->config.perspectives;
    bundle->count = run->count;
    bundle->fence_ms = run->fence_ms;
    stop_set(&bundle->handle.cancel, STOP_NONE);
    for (size_t i = 0; i < run->count; i++)
        atomic_store_explicit(&bundle->asked[i], false, memory_order_relaxed);
    bundle->running = true;
    bundle->jobs[0] = NULL;
    bundle->checkpoint = NULL;
    bundle->handle.progress = NULL;
    bundle->handle.began_us = 0;
    if (run->jobs != NULL)
        runtime_jobs_bundle(runtime, bundle, run);
    else if (run->checkpoints != NULL)
        bundle->checkpoint = run->checkpoints[0];
    else
        memcpy(bundle->items, run->items, run->count * sizeof(*run->items));
    memcpy(bundle->groups, run->groups, run->count * sizeof(*run->groups));
    pawl_error error;
    if (pool_start(runtime->pool, bundle, &error) != PAWL_OK)
        fatal(runtime, PAWL_NO_MEMORY, error.text);
}

static void cancel(struct runtime *runtime, const struct engine_action *action) {
    struct bundle *bundle = &runtime->bundles[action->slot];
    if (runtime->processes[action->slot].child.pid != 0)
        runtime_process_cancel(runtime, action->slot, action->reason);
    else if (action->reason == STOP_ASKED && bundle->handler != NULL && bundle->jobs[0] == NULL &&
             bundle->handler->batch == NULL)
        atomic_store(&bundle->asked[action->at], true);
    else
        stop_set(&bundle->handle.cancel, action->reason);
}

static void cancel_end(struct runtime *runtime, pawl_uuid id) {
    handler_table_uncancel(runtime->config.handlers, id);
    struct call *call = call_new(CALL_CANCEL_END);
    if (call == NULL)
        return; /* it is asked for again, and answered again */
    call->message = id;
    store_thread_call(runtime->threads[THREAD_CONTROL], call);
}

void runtime_ask_cancel(struct runtime *runtime, const struct pause_rows *rows) {
    pawl_uuid ids[CANCEL_IDS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < rows->count && count < CANCEL_IDS_MAX; i++)
        count += rows->rows[i].scope == PAUSE_MESSAGE && uuid_parse(rows->rows[i].name, &ids[count]);
    if (count > 0)
        runtime_step(runtime, (struct engine_event){.type = EVENT_CANCEL, .ids = ids, .count = count});
}

static void finish(struct runtime *runtime, const struct engine_action *action) {
    runtime->exiting = true;
    runtime->forced = action->forced;
    if (action->status != PAWL_OK && runtime->exit_status == PAWL_OK) {
        runtime->exit_status = action->status;
        if (runtime->exit_error.status == PAWL_OK)
            error_set(&runtime->exit_error, action->status, "worker", "the worker cannot register");
    }
}

/* The actions that are calls of the store, and the thread that makes each. */
static const struct {
    bool is_call;
    enum runtime_thread thread;
    enum call_type call;
} store_calls[] = {
    [ACTION_REGISTER] = {true, THREAD_CONTROL, CALL_REGISTER},
    [ACTION_BEAT] = {true, THREAD_CONTROL, CALL_BEAT},
    [ACTION_LOOK] = {true, THREAD_CONTROL, CALL_LOOK},
    [ACTION_BATCH] = {true, THREAD_WORK, CALL_BATCH},
    [ACTION_CLAIM] = {true, THREAD_CLAIMS, CALL_CLAIM},
    [ACTION_REPORT] = {true, THREAD_CONTROL, CALL_REPORT},
    [ACTION_JOBS_FINISH] = {true, THREAD_JOBS, CALL_JOBS_FINISH},
    [ACTION_JOBS_RENEW] = {true, THREAD_JOBS, CALL_JOBS_RENEW},
    [ACTION_JOBS_FREE] = {true, THREAD_JOBS, CALL_JOBS_FREE},
    [ACTION_EXCHANGE] = {true, THREAD_PERSPECTIVES, CALL_EXCHANGE},
    [ACTION_WAIT_BEGIN] = {true, THREAD_CONTROL, CALL_WAIT_BEGIN},
    [ACTION_WAIT_END] = {true, THREAD_CONTROL, CALL_WAIT_END},
    [ACTION_DEREGISTER] = {true, THREAD_CONTROL, CALL_DEREGISTER},
    [ACTION_EXIT] = {0},
};

static void carry_out(struct runtime *runtime, const struct engine_action *action) {
    if (store_calls[action->type].is_call) {
        ask(runtime, store_calls[action->type].thread, store_calls[action->type].call, action);
        return;
    }
    switch (action->type) {
    case ACTION_CHECK_READY:
        check_ready(runtime, action);
        break;
    case ACTION_DUTY:
        ask(runtime, THREAD_COUNT, action->order.duty == DUTY_HOUSEKEEPING ? CALL_MAINTAIN : CALL_DUTY,
            action);
        break;
    case ACTION_START:
        start(runtime, action);
        break;
    case ACTION_CANCEL:
        cancel(runtime, action);
        break;
    case ACTION_CANCEL_END:
        cancel_end(runtime, action->id);
        break;
    case ACTION_FREE_GRANT:
        call_release(&runtime->held, action->grant);
        break;
    case ACTION_FREE_RESULT:
        arena_free(action->owner);
        break;
    case ACTION_TIMER:
        runtime->core_timer_ms = action->at_ms;
        break;
    case ACTION_NOTIFY_STARTED:
        runtime->idle.messages = false;
        runtime_idle_started(runtime);
        break;
    case ACTION_NOTIFY_IDLE:
        runtime->idle.messages = true;
        break;
    case ACTION_LOG:
        runtime_log(runtime, action);
        break;
    case ACTION_EXIT:
        finish(runtime, action);
        break;
    default: /* a call of the store */
        break;
    }
}

/* A program that could not be started has not tried its message; without a wait it was too late to start it.
 */
static void tell_failed_starts(struct runtime *runtime) {
    while (runtime->failed_count > 0 && !runtime->exiting) {
        size_t at = --runtime->failed_count;
        struct engine_outcome outcome = {.type = OUTCOME_SNOOZE, .delay_ms = runtime->failed_waits_ms[at]};
        if (outcome.delay_ms == 0)
            outcome.type = OUTCOME_NOT_RUN;
        struct engine_event event = {.type = EVENT_FINISHED,
                                     .slot = runtime->failed_slots[at],
                                     .outcomes = &outcome,
                                     .count = 1,
                                     .elapsed_us = 1000};
        runtime_step(runtime, event);
    }
}

static void step_once(struct runtime *runtime, struct engine_event event) {
    event.now_ms = clock_boot_ms();
    runtime->core_timer_ms = INT64_MAX;
    pawl_status status = engine_step(runtime->core, &event, &runtime->actions);
    for (size_t i = 0; i < runtime->actions.count; i++)
        carry_out(runtime, &runtime->actions.items[i]);
    if (status != PAWL_OK)
        fatal(runtime, status, "out of memory");
}

void runtime_step(struct runtime *runtime, struct engine_event event) {
    step_once(runtime, event);
    while (runtime->ready_inline && !runtime->exiting) {
        runtime->ready_inline = false;
        step_once(runtime, (struct engine_event){.type = EVENT_READY});
    }
    tell_failed_starts(runtime);
}
