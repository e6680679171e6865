/* What the store has answered, as events of the core. */
#include <inttypes.h>

#include "base/str.h"
#include "base/time/clock.h"
#include "engine/runtime/runtime.h"

/* Logged, because the log is out of reach for someone who changes the database. */
static void tell_head(struct runtime *runtime, const struct audit_head *head) {
    if (head->number == 0 || head->number == runtime->audit_number)
        return;
    log_event(&runtime->config.log, LOG_LEVEL_INFO, "audit_head", "number=%" PRId64 " hash=%s", head->number,
              head->hash);
    runtime->audit_number = head->number;
}

/* Never pretend durability: what was found is logged at every start, as a warning when it is not enough. */
static void tell_durability(struct runtime *runtime, const struct durability *durability) {
    bool safe = durability->crash && durability->failover;
    log_event(&runtime->config.log, safe ? LOG_LEVEL_INFO : LOG_LEVEL_WARN, "durability",
              "survives_crash=%s survives_failover=%s found=%.*s", durability->crash ? "true" : "false",
              durability->failover ? "true" : "false", STR_ARG(durability->found));
}

static void registered(struct runtime *runtime, const struct call *call, struct engine_event *event) {
    event->type = EVENT_REGISTERED;
    if (call->status == PAWL_OK)
        tell_durability(runtime, &call->durability);
    if (call->status == PAWL_OK)
        handler_table_pause(runtime->config.handlers, &call->pauses);
    event->instance = call->instance.id;
    event->instance_lease_ms = call->grant.lease_until_ms - call->grant.now_ms;
    event->epoch = call->grant.epoch;
    observe_clock(runtime->config.observer, call->status == PAWL_OK ? call->grant.now_ms : 0);
    event->policy = (enum dead_policy)call->settings.dead_policy;
    /* A user's check of readiness comes before every call; then there is only one at a time. */
    event->beside = call->many_writers && runtime->config.ready == NULL;
    if (call->status == PAWL_OK && runtime->waker_state == WAKER_CLOSED)
        runtime->waker_due_ms = 0;
    else if (call->status != PAWL_OK)
        runtime->exit_error = call->error; /* what to say if the core gives up because of it */
}

static void beaten(struct runtime *runtime, const struct call *call, struct engine_event *event) {
    event->type = EVENT_BEAT;
    if (call->status == PAWL_OK)
        handler_table_pause(runtime->config.handlers, &call->pauses);
    event->beat = &call->beat;
    for (enum engine_channel channel = 0; channel < CHANNEL_COUNT; channel++)
        event->settled[channel] = call->has_settled[channel] ? &call->settled[channel] : NULL;
    observe_clock(runtime->config.observer, call->status == PAWL_OK ? call->beat.now_ms : 0);
    event->peers = call->peers;
}

/* Trying again would only hide it: the worker ends and says what it is. */
static void damaged(struct runtime *runtime, const pawl_error *error) {
    log_failure(&runtime->config.log, LOG_LEVEL_ERROR, "database_damaged", error);
    runtime->exit_error = *error;
    runtime->exit_status = PAWL_DAMAGED;
    runtime->exiting = true;
    runtime->forced = true;
}

/* Takes an answer that the core need not hear of. */
static bool answered_apart(struct runtime *runtime, struct call *call) {
    if (call->status == PAWL_DAMAGED) {
        damaged(runtime, &call->error);
        return true;
    }
    switch (call->type) {
    case CALL_WAKER_OPEN:
        runtime_waker_opened(runtime, call);
        return true;
    case CALL_LEFT:
        runtime_idle_answer(runtime, call);
        return true;
    case CALL_WAIT_END:
    case CALL_WAKE:
    case CALL_CANCEL_END:
        return true; /* nothing waits for these */
    case CALL_DUTY:
        return call->order.leave && !call->order.lost;
    default:
        return false;
    }
}

/* The end of a turn. */
static void duty_ended(struct runtime *runtime, const struct call *call, struct engine_event *event) {
    *event = (struct engine_event){.type = EVENT_DUTY,
                                   .status = call->status,
                                   .duty = call->order.duty,
                                   .held = call->held,
                                   .next_ms = call->next_ms};
    if (call->type == CALL_MAINTAIN && call->status != PAWL_OK)
        log_event(&runtime->config.log, LOG_LEVEL_WARN, "duty_failed", "duty=housekeeping error=%s",
                  call->error.text);
    if (call->type == CALL_SCHEDULES) {
        runtime_jobs_fired(runtime, call);
        event->next_ms = -1;
        event->count = (size_t)call->fired.fired;
    } else if (call->type == CALL_MAINTAIN && call->status == PAWL_OK) {
        tell_head(runtime, &call->head);
    }
}

/* An answer of a store thread as an event. */
static void tell(struct runtime *runtime, struct call *call, struct engine_event *event) {
    switch (call->type) {
    case CALL_READY:
        event->type = call->status == PAWL_OK ? EVENT_READY : EVENT_NOT_READY;
        if (call->status != PAWL_OK && engine_metrics(runtime->core).not_ready_checks % 10 == 0)
            log_failure(&runtime->config.log, LOG_LEVEL_INFO, "not_ready_because", &call->error);
        break;
    case CALL_REGISTER:
        registered(runtime, call, event);
        break;
    case CALL_BEAT:
        beaten(runtime, call, event);
        break;
    case CALL_LOOK:
        event->type = EVENT_LOOKED;
        event->look = &call->look;
        break;
    case CALL_BATCH:
    case CALL_CLAIM:
        event->type = call->type == CALL_BATCH ? EVENT_BATCH : EVENT_CLAIMED;
        event->result = &call->result;
        if (call->status == PAWL_OK)
            observe_clock(runtime->config.observer, call->result.now_ms);
        break;
    case CALL_JOBS_FINISH:
        event->type = EVENT_JOBS_FINISHED;
        event->finish = &call->finished;
        if (call->status != PAWL_OK)
            log_failure(&runtime->config.log, call->status == PAWL_STALE ? LOG_LEVEL_INFO : LOG_LEVEL_WARN,
                        "jobs_call_failed", &call->error);
        break;
    case CALL_JOBS_RENEW:
        event->type = EVENT_JOBS_RENEWED;
        event->renewed = &call->renewed;
        break;
    case CALL_JOBS_FREE:
        event->type = EVENT_JOBS_FREE;
        event->free_ms = call->free_ms;
        break;
    case CALL_EXCHANGE:
        event->type = EVENT_EXCHANGED;
        event->exchanged = &call->exchanged;
        break;
    case CALL_REPORT:
        event->type = EVENT_REPORTED;
        event->report = call->report.number;
        event->answers = &call->answer;
        event->fails = &call->fate;
        break;
    case CALL_DEREGISTER:
        tell_head(runtime, &call->head);
        event->type = EVENT_DEREGISTERED;
        break;
    case CALL_WAIT_BEGIN:
        event->type = EVENT_WAITING;
        event->wait_late = call->late;
        break;
    default: /* a turn of a duty; the rest, see answered_apart */
        duty_ended(runtime, call, event);
        break;
    }
}

/* The memory of what may have been granted goes to the core. */
static void answered(struct runtime *runtime, struct call *call) {
    struct engine_event event = {.status = call->status, .error = &call->error, .grant = call};
    call->next = NULL;
    if (answered_apart(runtime, call)) {
        call_free(call);
        return;
    }
    tell(runtime, call, &event);
    bool kept = call->status == PAWL_OK && (call->type == CALL_BATCH || call->type == CALL_CLAIM ||
                                            call->type == CALL_JOBS_FINISH || call->type == CALL_EXCHANGE);
    if (kept)
        call_hold(&runtime->held, call);
    bool beat = call->type == CALL_BEAT && call->status == PAWL_OK; /* the step may free a batch */
    runtime_step(runtime, event);
    if (beat)
        runtime_ask_cancel(runtime, &call->pauses);
    if (!kept)
        call_free(call);
}

void runtime_take_answers(struct runtime *runtime, struct store_thread *thread) {
    for (struct call *call = store_thread_take(thread); call != NULL;) {
        struct call *next = call->next;
        answered(runtime, call);
        call = next;
    }
}
