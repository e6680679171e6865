/* The calls a worker makes to its store, and what a lost connection means for the next one. */
#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "engine/runtime/store_thread.h"
#include "work/housekeeping.h"

enum { MAINTAIN_ROWS = 10000 };

static pawl_status ensure_open(struct store_thread *thread, pawl_error *err) {
    if (thread->store != NULL)
        return PAWL_OK;
    struct store *opened = NULL;
    pawl_status status = store_open(&thread->config, &opened, err);
    if (status != PAWL_OK)
        return status;
    thread->store = opened;
    if (thread->of_duties)
        return PAWL_OK;
    bool held = false;
    status = thread->store->ops->core.settings_read(thread->store, &thread->settings, err);
    if (status == PAWL_OK && !uuid_is_nil(thread->instance))
        status = thread->store->ops->core.liveness_hold(thread->store, thread->instance, &held, err);
    if (status != PAWL_OK && status != PAWL_STALE) {
        store_close(thread->store);
        thread->store = NULL;
        return status;
    }
    atomic_store(&thread->open, true);
    return PAWL_OK;
}

/* Ahead of the first call, so that several threads connect in parallel; the first call reports a failure.
 */
void store_call_connect(struct store_thread *thread) {
    pawl_error ignored;
    pawl_status status = ensure_open(thread, &ignored);
    (void)status;
}

/* After a failure that may be the connection's the handle is not trusted any more. */
static void after(struct store_thread *thread, pawl_status status) {
    bool doubtful = status == PAWL_UNAVAILABLE || status == PAWL_UNKNOWN || status == PAWL_DAMAGED ||
                    status == PAWL_INTERNAL;
    if (!doubtful || thread->store == NULL)
        return;
    atomic_store(&thread->open, false);
    store_close(thread->store);
    thread->store = NULL;
}

static pawl_status run_ready(struct store_thread *thread, struct call *call) {
    if (thread->ready != NULL && !thread->ready(thread->ready_self))
        return error_set(&call->error, PAWL_BUSY, "ready", "the readiness check says no");
    return PAWL_OK; /* the store is open, and was read when it was opened */
}

static pawl_status run_register(struct store_thread *thread, struct call *call) {
    const struct store_core_ops *ops = &thread->store->ops->core;
    bool held = false;
    thread->instance = uuid_nil();
    pawl_status status = ops->instance_register(thread->store, &call->instance, &call->grant, &call->error);
    if (status == PAWL_OK) {
        thread->instance = call->instance.id;
        thread->full = thread->lanes_short = false;
        status = ops->liveness_hold(thread->store, thread->instance, &held, &call->error);
    }
    if (status == PAWL_OK)
        status = thread->store->ops->relay->pauses(thread->store, call->arena, &call->pauses, &call->error);
    if (status == PAWL_OK)
        status =
            thread->store->ops->view.durability(thread->store, call->arena, &call->durability, &call->error);
    call->settings = thread->settings;
    call->many_writers = thread->store->caps.many_writers;
    return status;
}

static bool serves(int kinds, int kind) { return (kinds & KIND_BIT(kind)) != 0; }

/* The peers, and whether it is worth watching them. They are not for an instance that owns every lane, unless
 * it serves jobs, which are of no lane. */
static pawl_status count_peers(struct store_thread *thread, struct call *call) {
    int owned = 0, kinds = 0;
    thread->lanes_short = false;
    if (call->beat.others == 0)
        return PAWL_OK;
    for (int kind = 1; kind <= KIND_COUNT; kind++) {
        owned += serves(call->instance.kinds, kind) ? call->beat.lanes_owned[kind] : 0;
        kinds += serves(call->instance.kinds, kind);
    }
    if (owned >= kinds * thread->settings.lane_count && (call->instance.kinds & KIND_BIT_JOBS) == 0)
        return PAWL_OK;
    struct instance_rows rows = {0};
    pawl_status status = thread->store->ops->view.instances(thread->store, call->arena, &rows, &call->error);
    if (status == PAWL_OK)
        call->peers = engine_peers_of(&(struct engine_peers_in){&rows, thread->instance, &call->instance,
                                                                &thread->settings, &call->beat, call->full});
    thread->lanes_short = call->peers.lanes_short;
    return status;
}

/* With a beat, and before the last word. What could not be passed on goes with the next. */
static void pass_on(struct store_thread *thread, pawl_status beat) {
    pawl_error err = {0};
    if (beat != PAWL_OK || thread->observer == NULL)
        return;
    if (observe_pass_on(thread->observer, thread->store, &err) != PAWL_OK)
        log_failure(thread->log, LOG_LEVEL_INFO, "rollups_not_added", &err);
}

/* A beat of a worker that has registered again meanwhile says nothing about the new instance. The beat itself
 * has been committed: what could not be compared is compared with the next, and the lease counts. */
static pawl_status settle(struct store_thread *thread, struct call *call, enum engine_channel channel) {
    pawl_error err = {0};
    const struct grants_settle *known = call->known[channel];
    if (thread->store == NULL || known == NULL || !uuid_equal(known->instance, thread->instance))
        return PAWL_OK;
    pawl_status status =
        thread->store->ops->core.grants_settle(thread->store, known, &call->settled[channel], &err);
    call->has_settled[channel] = status == PAWL_OK;
    if (status == PAWL_STALE || status == PAWL_DAMAGED) {
        call->error = err;
        return status;
    }
    if (status != PAWL_OK && !thread->unsettled)
        log_failure(thread->log, LOG_LEVEL_WARN, "grants_not_settled", &err);
    thread->unsettled = status != PAWL_OK;
    after(thread, status);
    return PAWL_OK;
}

static pawl_status run_beat(struct store_thread *thread, struct call *call) {
    const struct store_core_ops *ops = &thread->store->ops->core;
    pawl_status status = PAWL_OK;
    if (call->full != thread->full || thread->lanes_short)
        status = ops->instance_full(thread->store, thread->instance, call->full, &call->error);
    if (status == PAWL_OK) {
        thread->full = call->full;
        status = ops->heartbeat(thread->store, thread->instance, call->processed, &call->beat, &call->error);
    }
    pawl_error ignored;
    if (status == PAWL_OK && call->full && call->beat.lanes_given > 0)
        (void)ops->wake(thread->store, &ignored); /* an idle worker takes them now, or with its next beat */
    if (status == PAWL_OK && call->beat.pauses > 0)
        status = thread->store->ops->relay->pauses(thread->store, call->arena, &call->pauses, &call->error);
    if (!call->brief)
        pass_on(thread, status);
    if (status == PAWL_OK)
        status = count_peers(thread, call);
    for (enum engine_channel channel = 0; status == PAWL_OK && channel < CHANNEL_COUNT; channel++)
        status = settle(thread, call, channel);
    return status;
}

static pawl_status run_left(struct store_thread *thread, struct call *call) {
    bool lags = false;
    pawl_status status =
        store_left(thread->store, call->instance.kinds, call->queue, call->arena, &call->left, &call->error);
    if (status == PAWL_OK && call->left.due == 0 && thread->perspectives != NULL)
        status = perspectives_left(thread->perspectives, thread->store, call->arena, &lags, &call->error);
    call->left.due += lags;
    return status;
}

/* How long asking for work takes. A batch that asks for none says nothing about it. */
static pawl_status run_batch(struct store_thread *thread, struct call *call) {
    const struct work_batch *batch = call->batch;
    int64_t began_us = clock_boot_us();
    size_t claimed = 0;
    bool asked = false;
    pawl_status status = store_batch(thread->store, batch, call->arena, &call->result, &call->error);
    for (int kind = 1; kind <= KIND_COUNT; kind++) {
        asked = asked || ((batch->flags & BATCH_SKIP_CLAIM) == 0 && batch->claim_max[kind] > 0);
        claimed += status == PAWL_OK ? call->result.claimed[kind].count : 0;
    }
    if (asked)
        observe_claim(thread->observer, ROLLUP_MESSAGES, clock_boot_us() - began_us, status == PAWL_OK,
                      claimed);
    return status;
}

static pawl_status run_jobs_finish(struct store_thread *thread, struct call *call) {
    int64_t began_us = clock_boot_us();
    pawl_status status = thread->store->ops->jobs->finish(thread->store, call->finish, call->arena,
                                                          &call->finished, &call->error);
    if (call->finish->claim.max > 0)
        observe_claim(thread->observer, ROLLUP_JOB, clock_boot_us() - began_us, status == PAWL_OK,
                      status == PAWL_OK ? call->finished.jobs.count : 0);
    return status;
}

/* A worker that stops before its first housekeeping would never anchor what it did. An anchor that
 * fails does not delay the stop: the next one names the same heads. */
static pawl_status run_deregister(struct store_thread *thread, struct call *call) {
    pawl_error unanchored = {0};
    pass_on(thread, PAWL_OK);
    if (thread->store->ops->jobs->audit_anchor(thread->store, 0, &call->head, &unanchored) != PAWL_OK)
        call->head = (struct audit_head){0};
    return thread->store->ops->core.instance_deregister(thread->store, thread->instance, &call->error);
}

/* Housekeeping that fails is done at the next turn, by us or by a peer. */
static pawl_status run_maintain(struct store_thread *thread, struct call *call) {
    struct housekeeping round = {0};
    pawl_status status =
        housekeeping_round(thread->store, call->instance.id, MAINTAIN_ROWS, &round, &call->error);
    call->next_ms = round.more ? 0 : -1;
    call->head = round.head;
    return status;
}

/* Whether the turn may go on: its lease is taken or renewed first. */
static pawl_status take_lease(struct store_thread *thread, struct call *call) {
    struct duty_work *work = call->work;
    struct duty_take take = {str_from(work->duty->rule.name), call->instance.id, work->duty->rule.lease_ms};
    pawl_status status =
        thread->store->ops->relay->duty_take(thread->store, &take, &work->grant, &call->error);
    if (status != PAWL_OK)
        work->grant.held = false;
    return status;
}

static pawl_status leave_duty(struct store_thread *thread, struct duty_work *work, struct duty_turn *turn) {
    pawl_error ignored;
    if (!work->grant.held)
        return PAWL_OK;
    if (work->duty->leave != NULL)
        work->duty->leave(work->duty->self, turn);
    work->grant.held = false;
    pawl_status status = thread->store->ops->relay->duty_leave(thread->store, str_from(work->duty->rule.name),
                                                               turn->token, &ignored);
    return status == PAWL_STALE ? PAWL_OK : status; /* another has it already */
}

/* One turn of a duty. A broker that fails says nothing about the handle. */
static pawl_status run_duty(struct store_thread *thread, struct call *call) {
    struct duty_work *work = call->work;
    pawl_status status = call->order.take ? take_lease(thread, call) : PAWL_OK;
    struct duty_turn turn = {.store = thread->store,
                             .instance = call->instance.id,
                             .token = work->grant.held ? work->grant.token : 0,
                             .stop = work->stop,
                             .next_ms = -1};
    if (call->order.leave)
        status = leave_duty(thread, work, &turn);
    else if (status == PAWL_OK && (work->grant.held || work->duty->rule.lease_ms == 0))
        status = work->duty->run(work->duty->self, &turn, &call->error);
    work->grant.held = work->grant.held && !turn.lease_ended;
    call->held = work->grant.held;
    call->next_ms = turn.next_ms;
    work->lengthy = turn.lengthy;
    if (call->order.leave || !turn.elsewhere)
        after(thread, status);
    return status;
}

/* It may have been taken back meanwhile: that is just as good. */
static pawl_status run_cancel_end(struct store_thread *thread, struct call *call) {
    char id[UUID_TEXT_BYTES];
    pawl_status status = thread->store->ops->relay->pause_clear(
        thread->store, PAUSE_MESSAGE, str_from(uuid_format(call->message, id)), &call->error);
    return status == PAWL_NOT_FOUND ? PAWL_OK : status;
}

static pawl_status run_report(struct store_thread *thread, struct call *call) {
    const struct engine_report *report = &call->report;
    const struct store_core_ops *ops = &thread->store->ops->core;
    struct answer_list answers = {0};
    pawl_status status;
    if (report->failed) {
        struct messages_fail in = {call->instance.id, report->kind, &report->fail, 1};
        status = ops->messages_fail(thread->store, &in, call->arena, &answers, &call->error);
    } else {
        struct messages_complete in = {call->instance.id, report->kind, &report->complete, 1, false};
        status = ops->messages_complete(thread->store, &in, call->arena, &answers, &call->error);
    }
    if (status != PAWL_OK)
        return status;
    if (answers.count != 1)
        return error_set(&call->error, PAWL_INTERNAL, "report", "one result, %zu answers", answers.count);
    call->answer = answers.answers[0];
    call->fate = answers.outcomes != NULL ? answers.outcomes[0] : FAIL_NONE;
    return PAWL_OK;
}

/* A failure is told once, until a turn succeeds. */
void store_call_ended(struct store_thread *thread, const struct call *call) {
    struct duty_work *work = call->work;
    if (work == NULL)
        return;
    if (!call->held && work->duty->leave != NULL)
        work->duty->leave(work->duty->self, &(struct duty_turn){0});
    if (call->status != PAWL_OK && !work->failing)
        log_event(thread->log, LOG_LEVEL_WARN, "duty_failed", "duty=%s error=%s", work->duty->rule.name,
                  call->error.text);
    work->failing = call->status != PAWL_OK;
}

static pawl_status run_call(struct store_thread *thread, struct call *call) {
    const struct store_core_ops *ops = &thread->store->ops->core;
    switch (call->type) {
    case CALL_READY:
        return run_ready(thread, call);
    case CALL_REGISTER:
        return run_register(thread, call);
    case CALL_BEAT:
        return run_beat(thread, call);
    case CALL_LOOK:
        return ops->peers_look(thread->store, thread->instance, &call->look, &call->error);
    case CALL_LEFT:
        return run_left(thread, call);
    case CALL_MAINTAIN:
        return run_maintain(thread, call);
    case CALL_BATCH:
    case CALL_CLAIM:
        return run_batch(thread, call);
    case CALL_REPORT:
        return run_report(thread, call);
    case CALL_JOBS_FINISH:
        return run_jobs_finish(thread, call);
    case CALL_JOBS_RENEW:
        return thread->store->ops->jobs->renew(thread->store, call->renew, call->arena, &call->renewed,
                                               &call->error);
    case CALL_JOBS_FREE:
        return schedule_free_ms(thread->store, call->rest_ms, &call->free_ms, &call->error);
    case CALL_SCHEDULES:
        return schedule_duty(thread->store, &call->fired, &call->error);
    case CALL_DUTY:
        return run_duty(thread, call);
    case CALL_EXCHANGE:
        return perspectives_tell(thread->perspectives, thread->store, call->exchange, call->arena,
                                 &call->exchanged, &call->error);
    case CALL_WAIT_BEGIN:
        return ops->wait_begin(thread->store, thread->instance, call->instance.kinds, &call->late,
                               &call->error);
    case CALL_WAIT_END:
        return ops->wait_end(thread->store, thread->instance, &call->error);
    case CALL_WAKE:
        return ops->wake(thread->store, &call->error);
    case CALL_CANCEL_END:
        return run_cancel_end(thread, call);
    case CALL_WAKER_OPEN:
        return store_waker_open(&thread->config, &call->waker, &call->error);
    case CALL_DEREGISTER:
        return run_deregister(thread, call);
    }
    return PAWL_INTERNAL;
}

static void run(struct store_thread *thread, struct call *call) {
    call->status = ensure_open(thread, &call->error);
    if (call->status != PAWL_OK)
        return;
    call->status = run_call(thread, call);
    /* A duty has judged its own failure; a waker is a separate connection: its failure says nothing. */
    if (call->type != CALL_DUTY && call->type != CALL_WAKER_OPEN)
        after(thread, call->status);
}

void store_call_run(struct store_thread *thread, struct call *call) {
    if (call->order.lost)
        call->work->grant.held = false; /* the broker's session is all there is to close */
    else
        run(thread, call);
    store_call_ended(thread, call);
}
