/* Drives the engine's core with jobs only: a virtual clock, and a queue of what the core wants. */
#ifndef TESTS_JOB_DRIVER_H
#define TESTS_JOB_DRIVER_H

#include "support/check.h"

#include <string.h>

#include "base/str.h"
#include "engine/core/core.h"

enum {
    LEASE_MS = 10000,
    POLL_MS = 1000,
    SLOTS = 2,
    BATCH = 8,
    JOBS_MAX = 8,
    QUEUE_MAX = 256,
    NEVER_MS = 1000000000
};

/* What the core wants of the world of jobs; a settle is the jobs' part of a beat, and the rest (readiness,
 * beats, schedules) is answered without a word. */
enum wish { WISH_WAIT = 1, WISH_FINISH, WISH_RENEW, WISH_SETTLE, WISH_START, WISH_CANCEL, WISH_DONE };

struct wished {
    enum wish type;
    int64_t at_ms;
    struct engine_action action;
    const struct jobs_finish *finish;
    const struct jobs_renew *renew;
    const struct grants_settle *settle;
    const struct job *const *jobs;
    size_t count;
};

struct world {
    struct engine_core *core;
    struct engine_actions actions;
    struct engine_handler rules[2];
    struct job jobs[4][JOBS_MAX]; /* of the last grants */
    int turn;
    enum store_answer answers[JOBS_MAX];
    enum job_result results[JOBS_MAX];
    int64_t now_ms, timer_ms;
    int max_attempts;  /* of what is granted */
    int grants, freed; /* arenas that were handed over and came back */
    bool settles;      /* beats are answered by the test */
    bool homeless;     /* it is not registered again before the test says so */
    uint8_t instance;
    struct engine_action queue[QUEUE_MAX];
    size_t queued;
};

static inline int match(void *self, const struct job *job) {
    (void)self;
    return str_equal_cstr(job->type, "unknown") ? -1 : 0;
}

static inline void step(struct world *w, struct engine_event event);

static inline void registered(struct world *w, uint8_t instance) {
    w->homeless = false;
    w->instance = instance;
    step(w, (struct engine_event){
                .type = EVENT_REGISTERED, .instance = {{instance}}, .instance_lease_ms = NEVER_MS});
}

static inline void beaten(struct world *w, const struct grants_settled *settled) {
    struct beat_result beat = {.now_ms = 5, .lease_until_ms = NEVER_MS};
    step(w, (struct engine_event){.type = EVENT_BEAT, .beat = &beat, .settled = {NULL, settled}});
}

static inline void step(struct world *w, struct engine_event event) {
    event.now_ms = w->now_ms;
    assert_int_equal(engine_step(w->core, &event, &w->actions), PAWL_OK);
    struct engine_actions now = w->actions; /* answering takes steps of its own */
    w->actions = (struct engine_actions){0};
    w->timer_ms = INT64_MAX;
    for (size_t i = 0; i < now.count; i++) {
        if (now.items[i].type == ACTION_TIMER)
            w->timer_ms = now.items[i].at_ms;
    }
    for (size_t i = 0; i < now.count; i++) {
        const struct engine_action *a = &now.items[i];
        switch (a->type) {
        case ACTION_CHECK_READY:
            step(w, (struct engine_event){.type = EVENT_READY});
            break;
        case ACTION_REGISTER:
            if (!w->homeless)
                registered(w, (uint8_t)(w->instance + 1));
            break;
        case ACTION_DUTY:
            step(w, (struct engine_event){.type = EVENT_DUTY, .duty = a->order.duty, .next_ms = -1});
            break;
        case ACTION_DEREGISTER:
            step(w, (struct engine_event){.type = EVENT_DEREGISTERED});
            break;
        case ACTION_FREE_GRANT:
            w->freed++;
            break;
        case ACTION_BEAT:
            if (!w->settles || a->known[CHANNEL_JOBS] == NULL) {
                beaten(w, NULL);
                break;
            }
            /* fall through */
        case ACTION_JOBS_FINISH:
        case ACTION_JOBS_RENEW:
        case ACTION_START:
        case ACTION_CANCEL:
        case ACTION_EXIT:
            assert_true(w->queued < QUEUE_MAX);
            w->queue[w->queued++] = *a;
            break;
        default:
            break;
        }
    }
    engine_actions_free(&now);
}

static inline void begin_with(struct world *w, struct engine_handler rule, int64_t heartbeat_ms) {
    *w = (struct world){.rules = {rule}, .now_ms = 100000, .max_attempts = 25};
    w->settles = heartbeat_ms < NEVER_MS;
    struct engine_config config = {.instance = {.service = STR("s"), .kinds = KIND_BIT_JOBS},
                                   .slots = SLOTS,
                                   .batch = BATCH,
                                   .lease_ms = LEASE_MS,
                                   .job_lease_ms = LEASE_MS,
                                   .instance_lease_ms = NEVER_MS,
                                   .heartbeat_ms = heartbeat_ms,
                                   .poll_ms = POLL_MS,
                                   .drain_ms = 2000,
                                   .idle_polls = 2,
                                   .handlers = w->rules,
                                   .handler_count = 2,
                                   .match_job = match,
                                   .seed = 3};
    w->core = engine_core_create(&config);
    assert_non_null(w->core);
    step(w, (struct engine_event){.type = EVENT_STARTED});
}

static inline void begin(struct world *w, struct engine_handler rule) { begin_with(w, rule, NEVER_MS); }

/* The next thing that it wants; when there is none, it waits. */
static inline struct wished next(struct world *w) {
    static const enum wish wishes[] = {
        [ACTION_JOBS_FINISH] = WISH_FINISH, [ACTION_JOBS_RENEW] = WISH_RENEW, [ACTION_BEAT] = WISH_SETTLE,
        [ACTION_START] = WISH_START,        [ACTION_CANCEL] = WISH_CANCEL,    [ACTION_EXIT] = WISH_DONE};
    if (w->queued == 0)
        step(w, (struct engine_event){.type = EVENT_TICK});
    if (w->queued == 0)
        return (struct wished){.type = WISH_WAIT, .at_ms = w->timer_ms};
    struct engine_action a = w->queue[0];
    memmove(w->queue, w->queue + 1, --w->queued * sizeof(*w->queue));
    return (struct wished){.type = wishes[a.type],
                           .action = a,
                           .finish = a.finish,
                           .renew = a.renew,
                           .settle = a.known[CHANNEL_JOBS],
                           .jobs = a.run.jobs,
                           .count = a.run.count};
}

static inline struct wished expect(struct world *w, enum wish type) {
    struct wished wished = next(w);
    assert_int_equal(wished.type, type);
    return wished;
}

/* Answers a call with these jobs; everything reported is applied. */
static inline void answer_with(struct world *w, struct job *jobs, size_t count) {
    for (size_t i = 0; i < JOBS_MAX; i++)
        w->answers[i] = ANSWER_APPLIED;
    struct finish_result result = {w->answers, w->results, JOBS_MAX, {jobs, count}};
    w->grants += count > 0;
    step(w, (struct engine_event){
                .type = EVENT_JOBS_FINISHED, .finish = &result, .grant = count > 0 ? w : NULL});
}

static inline struct job *fresh(struct world *w) { return w->jobs[w->turn++ % 4]; }

/* The same with count jobs whose ids begin with first. */
static inline void answer(struct world *w, int64_t first, size_t count) {
    struct job *jobs = fresh(w);
    for (size_t i = 0; i < count; i++)
        jobs[i] = (struct job){.id = first + (int64_t)i,
                               .token = first,
                               .type = STR("t"),
                               .attempts = 1,
                               .max_attempts = w->max_attempts};
    answer_with(w, jobs, count);
}

static inline void renewed(struct world *w, pawl_status status, const struct renew_result *result) {
    step(w, (struct engine_event){.type = EVENT_JOBS_RENEWED, .status = status, .renewed = result});
}

static inline void end_with(struct world *w, int slot, enum job_end end, size_t count, int64_t elapsed_us) {
    struct job_result_in results[ENGINE_BUNDLE_MAX];
    for (size_t i = 0; i < count; i++)
        results[i] = (struct job_result_in){.end = end, .delay_ms = -1};
    step(w, (struct engine_event){.type = EVENT_FINISHED,
                                  .slot = slot,
                                  .results = results,
                                  .count = count,
                                  .elapsed_us = elapsed_us});
}

static inline void end_slot(struct world *w, int slot, enum job_end end, size_t count) {
    end_with(w, slot, end, count, 5000);
}

static inline struct engine_job_metrics metrics(const struct world *w) {
    return engine_metrics(w->core).jobs;
}

/* It asks for more, and there is nothing. */
static inline void no_more(struct world *w) {
    assert_int_equal(expect(w, WISH_FINISH).finish->count, 0);
    answer(w, 0, 0);
}

static inline void stop(struct world *w) { step(w, (struct engine_event){.type = EVENT_STOP}); }

/* Evicted by its peers. */
static inline void evict(struct world *w) {
    step(w, (struct engine_event){.type = EVENT_BEAT, .status = PAWL_STALE});
}

static inline void finish(struct world *w) {
    engine_core_free(w->core);
    engine_actions_free(&w->actions);
}

#endif
