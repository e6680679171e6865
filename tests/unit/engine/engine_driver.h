/* Drives the engine's core by hand: a virtual clock, answers made up by the test, every action remembered. */
#ifndef TESTS_ENGINE_DRIVER_H
#define TESTS_ENGINE_DRIVER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "engine/core/core.h"

enum { DRIVER_ITEMS_MAX = 256, DRIVER_LOG_MAX = 4096, DRIVER_LEASE_MS = 30000 };

struct driver_grant {
    struct item items[DRIVER_ITEMS_MAX];
    struct work_batch_result result;
    enum store_answer answers[DRIVER_ITEMS_MAX];
    enum fail_outcome fates[DRIVER_ITEMS_MAX];
};

struct driver {
    struct engine_core *core;
    struct engine_actions actions;
    struct engine_config config;
    struct engine_handler handlers[4];
    int64_t now_ms, timer_ms;
    const struct work_batch *batch;    /* on its way */
    const struct work_batch *claim;    /* the same, of a claim beside it */
    const struct grants_settle *known; /* what the last beat said is held */
    const struct grants_settle *known_jobs;
    const struct jobs_finish *finish; /* on its way, as is renew */
    const struct jobs_renew *renew;
    const struct perspectives_exchange *exchange;
    int schedules, frees;
    int turns[DUTY_OTHERS + 4], leaves; /* of duties */
    bool take;                          /* of the last turn */
    int checks, registers, beats, looks, batches, starts, cancels, deregisters, exits, started, idle, freed;
    int waits, wait_ends, claims, cancel_ends;
    bool exit_forced, register_fresh, checking;
    bool full, brief; /* what the last beat said */
    pawl_status exit_status;
    enum stop_reason cancel_reason;
    int cancel_slot;
    struct engine_run runs[16]; /* by slot; count 0 = free */
    struct engine_report reports[64];
    size_t report_count;
    int log_count[ENGINE_LOG_COUNT];
    int64_t log_last[ENGINE_LOG_COUNT][3];
    int64_t seq, token;
    struct driver_grant *held[512]; /* the core has not given them back */
};

static inline int driver_match(void *self, const struct item *item, pawl_str *paused) {
    (void)self;
    if (item->type.len > 0 && item->type.ptr[0] == '-') {
        *paused = STR("-*");
        return -2;
    }
    if (item->type.len > 0 && item->type.ptr[0] == '?')
        return -1;
    if (item->type.len > 0 && item->type.ptr[0] == '!')
        return -3;
    return item->type.len > 0 && item->type.ptr[0] == 'b' ? 1 : 0;
}

static inline void driver_record(struct driver *d, const struct engine_action *a) {
    switch (a->type) {
    case ACTION_CHECK_READY:
        d->checks++;
        d->checking = true;
        break;
    case ACTION_REGISTER:
        d->registers++;
        d->register_fresh = a->fresh;
        break;
    case ACTION_BEAT:
        d->beats++;
        d->full = a->full;
        d->brief = a->brief;
        d->known = a->known[CHANNEL_MESSAGES];
        d->known_jobs = a->known[CHANNEL_JOBS];
        break;
    case ACTION_LOOK:
        d->looks++;
        break;
    case ACTION_BATCH:
        d->batches++;
        d->batch = a->batch;
        break;
    case ACTION_CLAIM:
        d->claims++;
        d->claim = a->batch;
        break;
    case ACTION_REPORT:
        d->reports[d->report_count++] = a->report;
        break;
    case ACTION_JOBS_FINISH:
        d->finish = a->finish;
        break;
    case ACTION_JOBS_RENEW:
        d->renew = a->renew;
        break;
    case ACTION_JOBS_FREE:
        d->frees++;
        break;
    case ACTION_DUTY:
        if (a->order.leave)
            d->leaves++;
        else if (a->order.duty == DUTY_SCHEDULES)
            d->schedules++;
        else
            d->turns[a->order.duty]++;
        d->take = a->order.take;
        break;
    case ACTION_EXCHANGE:
        d->exchange = a->exchange;
        break;
    case ACTION_FREE_RESULT:
        free(a->owner);
        break;
    case ACTION_START:
        d->starts++;
        d->runs[a->slot] = a->run;
        break;
    case ACTION_CANCEL:
        d->cancels++;
        d->cancel_reason = a->reason;
        d->cancel_slot = a->slot;
        break;
    case ACTION_CANCEL_END:
        d->cancel_ends++;
        break;
    case ACTION_FREE_GRANT:
        for (size_t i = 0; i < 512; i++) {
            if (d->held[i] == a->grant)
                d->held[i] = NULL;
        }
        free(a->grant);
        d->freed++;
        break;
    case ACTION_TIMER:
        d->timer_ms = a->at_ms;
        break;
    case ACTION_WAIT_BEGIN:
        d->waits++;
        break;
    case ACTION_WAIT_END:
        d->wait_ends++;
        break;
    case ACTION_DEREGISTER:
        d->deregisters++;
        break;
    case ACTION_NOTIFY_STARTED:
        d->started++;
        break;
    case ACTION_NOTIFY_IDLE:
        d->idle++;
        break;
    case ACTION_LOG:
        d->log_count[a->log]++;
        memcpy(d->log_last[a->log], a->numbers, sizeof(a->numbers));
        break;
    case ACTION_EXIT:
        d->exits++;
        d->exit_forced = a->forced;
        d->exit_status = a->status;
        break;
    }
}

static inline void driver_step(struct driver *d, struct engine_event event) {
    event.now_ms = d->now_ms;
    d->timer_ms = INT64_MAX;
    assert_int_equal(engine_step(d->core, &event, &d->actions), PAWL_OK);
    for (size_t i = 0; i < d->actions.count; i++)
        driver_record(d, &d->actions.items[i]);
}

static inline void driver_event(struct driver *d, enum engine_event_type type) {
    driver_step(d, (struct engine_event){.type = type});
}

static inline void driver_init(struct driver *d) {
    memset(d, 0, sizeof(*d));
    d->now_ms = 1000000;
    d->token = 100;
    d->handlers[0] = (struct engine_handler){.bundled = false};
    d->handlers[1] = (struct engine_handler){.bundled = true};
    d->config = (struct engine_config){
        .instance = {.service = STR("s"), .host = STR("h"), .pid = 1, .kinds = KIND_BIT(KIND_OUTBOX)},
        .slots = 4,
        .batch = 100,
        .lease_ms = DRIVER_LEASE_MS,
        .instance_lease_ms = 15000,
        .heartbeat_ms = 5000,
        .poll_ms = 1000,
        .drain_ms = 10000,
        .idle_polls = 2,
        .policy = POLICY_SKIP,
        .handler_count = 2,
        .match = driver_match,
        .seed = 42,
    };
    d->config.handlers = d->handlers;
}

static inline void driver_create(struct driver *d) {
    d->core = engine_core_create(&d->config);
    assert_non_null(d->core);
    driver_event(d, EVENT_STARTED);
}

/* Answers checks, registration and beats until a batch is on its way. */
static inline void driver_registered(struct driver *d) {
    struct engine_event event = {.type = EVENT_REGISTERED, .instance_lease_ms = 15000};
    event.instance.b[0] = (uint8_t)d->registers;
    driver_step(d, event);
}

static inline void driver_ready(struct driver *d) {
    assert_true(d->checking);
    d->checking = false;
    driver_event(d, EVENT_READY);
}

static inline void driver_up(struct driver *d) {
    driver_create(d);
    driver_ready(d);
    driver_registered(d);
    driver_ready(d);
    assert_non_null(d->batch);
}

static inline struct driver_grant *driver_grant_new(struct driver *d) {
    struct driver_grant *grant = calloc(1, sizeof(*grant));
    assert_non_null(grant);
    grant->result.now_ms = 5;
    grant->result.lease_until_ms = 5 + 15000;
    for (int i = 0; i < DRIVER_ITEMS_MAX; i++) {
        grant->answers[i] = ANSWER_APPLIED;
        grant->fates[i] = FAIL_RETRY;
    }
    for (int kind = 1; kind <= KIND_COUNT; kind++) {
        grant->result.completed[kind] =
            (struct answer_list){grant->answers, NULL, d->batch->completion_count[kind]};
        grant->result.failed[kind] =
            (struct answer_list){grant->answers, grant->fates, d->batch->failure_count[kind]};
        grant->result.released[kind] =
            (struct answer_list){grant->answers, NULL, d->batch->release_count[kind]};
        grant->result.renewed[kind] =
            (struct answer_list){grant->answers, NULL, d->batch->renewal_count[kind]};
    }
    grant->result.claimed[KIND_OUTBOX].items = grant->items;
    return grant;
}

/* One claimed message; stream NULL = none. All of a grant have one token. */
static inline struct item *driver_item(struct driver *d, struct driver_grant *grant, const char *stream,
                                       const char *type) {
    struct item_list *list = &grant->result.claimed[KIND_OUTBOX];
    struct item *item = &grant->items[list->count++];
    item->token = d->token;
    item->lease_until_ms = 5 + d->config.lease_ms;
    item->seq = ++d->seq;
    item->id.b[15] = (uint8_t)d->seq;
    item->id.b[14] = (uint8_t)(d->seq >> 8);
    item->kind = KIND_OUTBOX;
    item->stream = str_from(stream);
    item->type = str_from(type);
    item->attempt = 1;
    return item;
}

static inline void driver_answer(struct driver *d, struct driver_grant *grant) {
    assert_non_null(d->batch);
    d->batch = NULL;
    d->token++;
    size_t at = 0;
    while (d->held[at] != NULL)
        at++;
    d->held[at] = grant;
    driver_step(d, (struct engine_event){.type = EVENT_BATCH, .result = &grant->result, .grant = grant});
}

/* The batch on its way comes back with nothing claimed. */
static inline void driver_answer_empty(struct driver *d) { driver_answer(d, driver_grant_new(d)); }

static inline void driver_fail_batch(struct driver *d, pawl_status status) {
    d->batch = NULL;
    driver_step(d, (struct engine_event){.type = EVENT_BATCH, .status = status});
}

static inline void driver_finish(struct driver *d, int slot, const enum outcome_type *types) {
    struct engine_outcome outcomes[ENGINE_BUNDLE_MAX];
    size_t count = d->runs[slot].count;
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++)
        outcomes[i] = (struct engine_outcome){.type = types[i], .error = STR("why"), .delay_ms = -1};
    d->runs[slot].count = 0;
    driver_step(d, (struct engine_event){.type = EVENT_FINISHED,
                                         .slot = slot,
                                         .outcomes = outcomes,
                                         .count = count,
                                         .elapsed_us = (int64_t)count * 20});
}

static inline void driver_done(struct driver *d, int slot) {
    enum outcome_type types[ENGINE_BUNDLE_MAX];
    for (int i = 0; i < ENGINE_BUNDLE_MAX; i++)
        types[i] = OUTCOME_DONE;
    driver_finish(d, slot, types);
}

static inline void driver_wait(struct driver *d, int64_t by_ms) {
    d->now_ms += by_ms;
    driver_event(d, EVENT_TICK);
}

static inline void driver_free(struct driver *d) {
    engine_core_free(d->core);
    engine_actions_free(&d->actions);
    for (size_t i = 0; i < 512; i++)
        free(d->held[i]);
}

/* The turn of a duty has ended. */
static inline void driver_duty(struct driver *d, size_t duty, pawl_status status, bool held) {
    driver_step(d, (struct engine_event){
                       .type = EVENT_DUTY, .duty = duty, .status = status, .held = held, .next_ms = -1});
}

static inline void driver_beat_ok(struct driver *d, int peers, bool busy) {
    struct beat_result beat = {.now_ms = 5, .lease_until_ms = 5 + 15000};
    driver_step(d,
                (struct engine_event){.type = EVENT_BEAT,
                                      .beat = &beat,
                                      .peers = {.count = peers, .busy = busy, .idle = peers > 0 && !busy}});
}

/* From driver_init on: the worker serves perspectives, whose streams its last handler advances. */
static inline void driver_perspectives(struct driver *d, int kinds) {
    d->config.instance.kinds = KIND_BIT(KIND_PERSPECTIVE) | kinds;
    d->config.advance_handler = (int)d->config.handler_count++;
    d->config.checkpoints = true;
}

/* Answers the exchange on its way: renewals with `renewed`, the claim with `count` streams under one token.
 */
static inline void driver_exchanged(struct driver *d, enum store_answer renewed, size_t count) {
    struct driver_streams {
        struct perspectives_answer answer;
        struct checkpoint_grant granted[DRIVER_ITEMS_MAX];
        enum store_answer answers[DRIVER_ITEMS_MAX];
    } *grant = calloc(1, sizeof(*grant));
    assert_non_null(grant);
    assert_non_null(d->exchange);
    grant->answer =
        (struct perspectives_answer){.renewed = {grant->answers, NULL, d->exchange->renewal_count},
                                     .granted = grant->granted,
                                     .count = count};
    for (size_t i = 0; i < d->exchange->renewal_count; i++)
        grant->answers[i] = renewed;
    d->token++;
    for (size_t i = 0; i < count; i++)
        grant->granted[i] = (struct checkpoint_grant){
            .stream = STR("s"), .perspective = STR("p@1"), .version = 3, .head = 9, .token = d->token};
    d->exchange = NULL;
    size_t at = 0;
    while (d->held[at] != NULL)
        at++;
    d->held[at] = (struct driver_grant *)(void *)grant;
    driver_step(d,
                (struct engine_event){.type = EVENT_EXCHANGED, .exchanged = &grant->answer, .grant = grant});
}

#endif
