/* The job side of a worker at work. */
#include "engine/jobs/job_side.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "domain/pattern.h"
#include "engine/jobs/job_slot.h"
#include "work/observe.h"
#include "work/run/paces.h"
#include "work/run/start.h"
#include "work/schedule_duty.h"
#include "work/shared_store.h"

enum { ACTIONS_MAX = 4096 /* of one turn: then the mailbox is looked at */ };

/* Having nothing to do, and being sure of it. */
struct job_rest {
    bool quiet;      /* a put wakes us */
    int64_t look_ms; /* when the store is asked again whether there is anything */
};

struct job_side {
    struct job_side_config config;
    struct job_core *core;
    struct job_rule *rules;
    struct job_slots slots; /* its lock guards everything below up to the thread's own */
    struct shared_store shared;
    struct pipeline_world_of_worker world;
    pthread_t thread;
    bool started, ended;
    pawl_uuid instance;
    int stops;
    bool woken, quiet;
    pawl_error damage; /* of the database; its status is PAWL_OK while there is none */
    struct job_core_metrics metrics;
    bool was_idle;
    /* The thread's own. */
    struct store *store;
    int64_t unmatched_ms; /* when it was last told that nothing here fits a job */
    int stops_seen;
    int64_t duty_ms;
    int duty_failures;
    struct job_rest rest;
    bool unsettled; /* the last comparison of grants failed, and that was told */
};

/* What needs no handler: its document says what is called. */
static bool is_own_type(pawl_str type) {
    return str_equal_cstr(type, PIPELINE_JOB_TYPE) || str_equal_cstr(type, RUN_PAGE_TYPE) ||
           str_equal_cstr(type, RUN_CONSOLIDATE_TYPE) || str_equal_cstr(type, RUN_PLAN_TYPE);
}

static int match(void *self, const struct job *job) {
    struct job_side *side = self;
    if (!str_absent(job->task) || is_own_type(job->type))
        return (int)side->config.handlers->count;
    const struct handler_table *table = side->config.handlers;
    /* The table's own search remembers its answers, and belongs to the loop's thread. What only publishes
     * messages cannot carry out a job. */
    for (size_t i = 0; i < table->count; i++) {
        const struct handler *handler = &table->handlers[i];
        if (handler->kind != HANDLER_BATCH && handler->batch == NULL &&
            pattern_matches(table->handlers[i].pattern, job->type))
            return (int)i;
    }
    int64_t now_ms = clock_boot_ms();
    if (side->unmatched_ms == 0 || now_ms - side->unmatched_ms >= JOB_CORE_NO_HANDLER_MS) {
        side->unmatched_ms = now_ms;
        log_event(side->config.log, LOG_LEVEL_WARN, "no_handler", "job=%" PRId64 " type=%.*s back_in_ms=%d",
                  job->id, STR_ARG(job->type), JOB_CORE_NO_HANDLER_MS);
    }
    return -1;
}

static pawl_status make_core(struct job_side *side, pawl_error *err) {
    const struct handler_table *table = side->config.handlers;
    side->rules = calloc(table->count + 1, sizeof(*side->rules));
    if (side->rules == NULL)
        return error_set(err, PAWL_NO_MEMORY, "jobs", "out of memory");
    for (size_t i = 0; i < table->count; i++) {
        const struct handler *handler = &table->handlers[i];
        side->rules[i] = (struct job_rule){.bundled = handler->kind == HANDLER_FUNCTION,
                                           .concurrency = handler->concurrency,
                                           .timeout_ms = handler->timeout_ms,
                                           .retry_base_ms = handler->retry_base_ms,
                                           .retry_max_ms = handler->retry_max_ms,
                                           .retry_exact = handler->retry_exact};
    }
    struct handler_backoff backoff = handler_table_backoff(table);
    side->rules[table->count] = (struct job_rule){.timeout_ms = side->config.timeout_ms,
                                                  .retry_base_ms = backoff.base_ms,
                                                  .retry_max_ms = backoff.max_ms,
                                                  .retry_exact = table->defaults.retry_exact};
    struct job_core_config core = {.slots = side->config.slots,
                                   .batch = side->config.batch,
                                   .lease_ms = side->config.lease_ms,
                                   .poll_ms = side->config.poll_ms,
                                   .drain_ms = side->config.drain_ms,
                                   .settle_ms = side->config.heartbeat_ms,
                                   .queue = str_from(side->config.queue),
                                   .rules = side->rules,
                                   .rule_count = table->count + 1,
                                   .match = match,
                                   .match_self = side,
                                   .seed = side->config.seed};
    side->core = job_core_create(&core);
    return side->core != NULL ? PAWL_OK : error_set(err, PAWL_NO_MEMORY, "jobs", "out of memory");
}

pawl_status job_side_create(const struct job_side_config *config, struct job_side **out, pawl_error *err) {
    struct job_side *side = calloc(1, sizeof(*side));
    if (side == NULL)
        return error_set(err, PAWL_NO_MEMORY, "jobs", "out of memory");
    side->config = *config;
    shared_store_init(&side->shared, &config->store);
    side->world = (struct pipeline_world_of_worker){.tools = config->tools,
                                                    .shared = &side->shared,
                                                    .env = config->env,
                                                    .env_count = config->env_count,
                                                    .paces = run_paces_create(),
                                                    .log = config->log,
                                                    .observer = config->observer};
    if (config->tools != NULL)
        tools_log(config->tools, config->log);
    side->slots.world = &side->world;
    side->slots.lease_ms = config->lease_ms;
    pawl_status status = side->world.paces != NULL ? job_slots_open(&side->slots, config->slots, err)
                                                   : error_set(err, PAWL_NO_MEMORY, "jobs", "out of memory");
    if (status == PAWL_OK)
        status = make_core(side, err);
    if (status != PAWL_OK) {
        job_side_free(side);
        return status;
    }
    *out = side;
    return PAWL_OK;
}

void job_side_free(struct job_side *side) {
    if (side == NULL)
        return;
    if (side->slots.items != NULL && !job_slots_close(&side->slots, 0))
        return; /* a stuck handler still uses it */
    job_core_free(side->core);
    shared_store_close(&side->shared);
    run_paces_free(side->world.paces);
    free(side->rules);
    free(side);
}

static void signal_news(struct job_side *side) {
    side->slots.woken = true;
    pthread_cond_signal(&side->slots.news);
}

bool job_side_lost(struct job_side *side) {
    pthread_mutex_lock(&side->slots.lock);
    bool lost = uuid_is_nil(side->instance);
    pthread_mutex_unlock(&side->slots.lock);
    return lost;
}

bool job_side_damaged(struct job_side *side, pawl_error *err) {
    pthread_mutex_lock(&side->slots.lock);
    *err = side->damage;
    pthread_mutex_unlock(&side->slots.lock);
    return err->status == PAWL_DAMAGED;
}

void job_side_instance(struct job_side *side, pawl_uuid instance) {
    pthread_mutex_lock(&side->slots.lock);
    side->instance = instance;
    signal_news(side);
    pthread_mutex_unlock(&side->slots.lock);
}

void job_side_wake(struct job_side *side) {
    pthread_mutex_lock(&side->slots.lock);
    side->woken = true;
    signal_news(side);
    pthread_mutex_unlock(&side->slots.lock);
}

void job_side_quiet(struct job_side *side, bool quiet) {
    pthread_mutex_lock(&side->slots.lock);
    side->quiet = quiet;
    signal_news(side);
    pthread_mutex_unlock(&side->slots.lock);
}

void job_side_stop(struct job_side *side, bool at_once) {
    pthread_mutex_lock(&side->slots.lock);
    side->stops = at_once ? 2 : side->stops > 0 ? side->stops : 1;
    signal_news(side);
    pthread_mutex_unlock(&side->slots.lock);
}

bool job_side_ended(struct job_side *side) {
    pthread_mutex_lock(&side->slots.lock);
    bool ended = side->ended || !side->started;
    pthread_mutex_unlock(&side->slots.lock);
    return ended;
}

struct job_core_metrics job_side_metrics(struct job_side *side) {
    pthread_mutex_lock(&side->slots.lock);
    struct job_core_metrics metrics = side->metrics;
    pthread_mutex_unlock(&side->slots.lock);
    return metrics;
}

bool job_side_idle(struct job_side *side) {
    pthread_mutex_lock(&side->slots.lock);
    bool idle = side->metrics.idle || side->ended;
    pthread_mutex_unlock(&side->slots.lock);
    return idle;
}

/* Something happened: claims and schedules are looked at now. What was put before the wish to be woken does
 * not wake us. */
static void rest_over(struct job_side *side, int64_t now_ms, bool quiet) {
    job_core_claim_at(side->core, 0);
    if (side->duty_ms > now_ms + side->config.poll_ms)
        side->duty_ms = 0;
    side->rest = (struct job_rest){quiet, now_ms + side->config.poll_ms};
}

static void read_progress(struct job_side *side, struct job_slot *slot, int64_t now_ms) {
    slot->progressed = false;
    job_core_gets_on(side->core, now_ms, slot->number);
    for (size_t i = 0; i < slot->count; i++) {
        if (slot->progress[i].text != NULL)
            job_core_progress(side->core, slot->number, i, slot->progress[i].text, slot->progress[i].len);
        slot->progress[i].text = NULL;
    }
}

/* What came in since the last look. The lock is held. */
static void read_mailbox(struct job_side *side, int64_t now_ms) {
    struct job_slots *slots = &side->slots;
    job_core_instance(side->core, side->instance);
    if (side->woken || side->quiet != side->rest.quiet)
        rest_over(side, now_ms, side->quiet);
    side->woken = false;
    /* While no program can be started nothing is claimed. */
    int64_t blocked_ms = start_failures_until_ms(launcher_failures(tools_launcher(side->config.tools)), NULL);
    if (blocked_ms > now_ms)
        job_core_claim_at(side->core, blocked_ms);
    if (side->stops > side->stops_seen) {
        side->stops_seen = side->stops;
        job_core_stop(side->core, now_ms, side->stops > 1);
    }
    for (int i = 0; i < slots->count; i++) {
        struct job_slot *slot = &slots->items[i];
        if (slot->busy && slot->progressed)
            read_progress(side, slot, now_ms);
        if (slot->busy && slot->ended) {
            slot->busy = false;
            job_core_slot_ended(side->core, now_ms, i, slot->results, slot->elapsed_us);
        }
    }
}

static pawl_status open_store(struct job_side *side, pawl_error *err) {
    if (side->store != NULL)
        return PAWL_OK;
    struct store *opened = NULL;
    pawl_status status = store_open(&side->config.store, &opened, err);
    if (status == PAWL_OK)
        side->store = opened;
    return status == PAWL_OK || status == PAWL_NO_MEMORY || status == PAWL_DAMAGED ? status
                                                                                   : PAWL_UNAVAILABLE;
}

static void close_broken(struct job_side *side, pawl_status status, const pawl_error *err) {
    if (status == PAWL_DAMAGED) {
        pthread_mutex_lock(&side->slots.lock);
        side->damage = *err;
        pthread_mutex_unlock(&side->slots.lock);
        side->config.changed(side->config.self);
    }
    if (status != PAWL_UNAVAILABLE && status != PAWL_UNKNOWN && status != PAWL_DAMAGED)
        return;
    store_close(side->store);
    side->store = NULL;
}

static void call_finish(struct job_side *side, const struct job_action *action) {
    struct finish_result result = {0};
    pawl_error err = {0};
    struct arena *arena = arena_create(0);
    int64_t sent_ms = clock_boot_ms(), sent_us = clock_boot_us();
    pawl_status status = arena != NULL ? open_store(side, &err) : PAWL_NO_MEMORY;
    if (status == PAWL_OK) {
        status = side->store->ops->jobs->finish(side->store, action->finish, arena, &result, &err);
        if (action->finish->claim.max > 0)
            observe_claim(side->config.observer, ROLLUP_JOB, clock_boot_us() - sent_us, status == PAWL_OK,
                          status == PAWL_OK ? result.jobs.count : 0);
        close_broken(side, status, &err);
    }
    if (status != PAWL_OK) {
        log_failure(side->config.log, status == PAWL_STALE ? LOG_LEVEL_INFO : LOG_LEVEL_WARN,
                    "jobs_call_failed", &err);
        arena_free(arena);
        arena = NULL;
        if (status == PAWL_STALE) {
            pthread_mutex_lock(&side->slots.lock);
            side->instance = uuid_nil();
            pthread_mutex_unlock(&side->slots.lock);
        }
    }
    job_core_finished_call(side->core, sent_ms, clock_boot_ms(), status, &result, arena);
}

static void call_renew(struct job_side *side, const struct job_action *action) {
    struct renew_result result = {0};
    pawl_error err = {0};
    struct arena *arena = arena_create(0);
    int64_t sent_ms = clock_boot_ms();
    pawl_status status = arena != NULL ? open_store(side, &err) : PAWL_NO_MEMORY;
    if (status == PAWL_OK) {
        status = side->store->ops->jobs->renew(side->store, action->renew, arena, &result, &err);
        close_broken(side, status, &err);
    }
    job_core_renewed(side->core, sent_ms, clock_boot_ms(), status, &result);
    arena_free(arena);
}

static void call_settle(struct job_side *side, const struct job_action *action) {
    struct grants_settled result = {0};
    pawl_error err = {0};
    pawl_status status = open_store(side, &err);
    if (status == PAWL_OK) {
        status = side->store->ops->core.grants_settle(side->store, action->settle, &result, &err);
        close_broken(side, status, &err);
    }
    if (status != PAWL_OK && status != PAWL_STALE && !side->unsettled)
        log_failure(side->config.log, LOG_LEVEL_WARN, "grants_not_settled", &err);
    side->unsettled = status != PAWL_OK;
    if (status == PAWL_OK && result.released > 0)
        log_event(side->config.log, LOG_LEVEL_WARN, "grants_settled", "jobs=%" PRId64 " reason=%s",
                  result.released,
                  "the store had granted them to this worker, which did not know; they are free again");
    job_core_settled(side->core, clock_boot_ms(), status, &result);
}

static pawl_status start(struct job_side *side, const struct job_action *action, pawl_error *err) {
    struct job_slots *slots = &side->slots;
    struct job_slot *slot = &slots->items[action->slot];
    pthread_mutex_lock(&slots->lock);
    stop_set(&slot->handle.cancel, STOP_NONE);
    slot->handler = (size_t)action->rule < side->config.handlers->count
                        ? &side->config.handlers->handlers[action->rule]
                        : NULL;
    memcpy(slot->jobs, action->jobs, action->count * sizeof(*action->jobs));
    slot->count = action->count;
    slot->instance = side->instance;
    slot->fence_ms = action->fence_ms;
    slot->deadline_ms = action->deadline_ms;
    slot->timeout_ms = action->timeout_ms;
    slot->claimed_ms = action->claimed_ms;
    slot->progressed = false;
    pawl_status status = job_slot_start(slots, slot, err);
    pthread_mutex_unlock(&slots->lock);
    return status;
}

/* Carries out what the core wants until it wants to wait. False: the job side ends. */
static bool carry_out(struct job_side *side, int64_t *at_ms) {
    pawl_error err = {0};
    for (int i = 0; i < ACTIONS_MAX; i++) {
        struct job_action action;
        if (!job_core_next(side->core, clock_boot_ms(), &action)) {
            log_event(side->config.log, LOG_LEVEL_ERROR, "jobs_out_of_memory", "reason=%s",
                      "the job side ends");
            return false;
        }
        switch (action.type) {
        case JOB_ACT_WAIT:
            *at_ms = action.at_ms;
            return true;
        case JOB_ACT_DONE:
            return false;
        case JOB_ACT_FINISH:
            call_finish(side, &action);
            *at_ms = 0;
            return true; /* slots may have ended meanwhile: their results come first */
        case JOB_ACT_RENEW:
            call_renew(side, &action);
            break;
        case JOB_ACT_SETTLE:
            call_settle(side, &action);
            break;
        case JOB_ACT_START:
            if (start(side, &action, &err) != PAWL_OK) {
                log_failure(side->config.log, LOG_LEVEL_ERROR, "jobs_no_thread", &err);
                return false;
            }
            break;
        case JOB_ACT_CANCEL:
            stop_set(&side->slots.items[action.slot].handle.cancel, action.reason);
            break;
        case JOB_ACT_FREE_GRANT:
        case JOB_ACT_FREE_RESULT:
            arena_free(action.owner);
            break;
        }
    }
    *at_ms = 0;
    return true;
}

/* Fires schedules that are due: any instance may, the store sees to it that each instant fires once. */
static void do_duty(struct job_side *side, int64_t now_ms) {
    pawl_error err = {0};
    struct schedule_duty_result result = {0};
    if (now_ms < side->duty_ms || side->stops_seen > 0 || uuid_is_nil(side->instance))
        return;
    pawl_status status = open_store(side, &err);
    if (status == PAWL_OK) {
        status = schedule_duty(side->store, &result, &err);
        close_broken(side, status, &err);
    }
    if (status != PAWL_OK && side->duty_failures++ == 0)
        log_failure(side->config.log, LOG_LEVEL_WARN, "schedules_failed", &err);
    if (status == PAWL_OK)
        side->duty_failures = 0;
    if (result.fired > 0) {
        log_event(side->config.log, LOG_LEVEL_INFO, "schedules_fired", "jobs=%lld", (long long)result.fired);
        job_core_claim_at(side->core, 0);
    }
    if (result.faulty > 0)
        log_event(side->config.log, LOG_LEVEL_WARN, "schedules_faulty", "count=%lld first=%s",
                  (long long)result.faulty, result.fault);
    if (result.refused > 0)
        log_event(side->config.log, LOG_LEVEL_WARN, "schedules_refused", "count=%lld first=%s",
                  (long long)result.refused, result.refusal);
    side->duty_ms = clock_boot_ms() + side->config.poll_ms;
}

/* Rests when the store has neither jobs nor a schedule that is due: claiming and firing find nothing until
 * we are woken, or until the time that the store named. */
static void rest_if_idle(struct job_side *side, int64_t now_ms) {
    struct job_rest *rest = &side->rest;
    pawl_error err = {0};
    int64_t free_ms = 0;
    bool may = side->config.rest_ms > 0 && rest->quiet && side->stops_seen == 0 && side->store != NULL;
    if (!may || now_ms < rest->look_ms || !job_core_metrics(side->core).idle)
        return;
    pawl_status status = schedule_free_ms(side->store, side->config.rest_ms, &free_ms, &err);
    close_broken(side, status, &err);
    if (status != PAWL_OK)
        free_ms = 0; /* the next claim will tell */
    rest->look_ms = now_ms + (free_ms > 0 ? free_ms : side->config.rest_ms / 3);
    if (free_ms <= side->config.poll_ms)
        return;
    job_core_claim_at(side->core, now_ms + free_ms);
    side->duty_ms = now_ms + free_ms;
}

/* Signals the waiting threads that the state changed. The lock is held. */
static bool publish(struct job_side *side) {
    side->metrics = job_core_metrics(side->core);
    bool news = side->metrics.idle != side->was_idle;
    side->was_idle = side->metrics.idle;
    return news;
}

static void wait_for_news(struct job_side *side, int64_t at_ms) {
    struct job_slots *slots = &side->slots;
    int64_t wait_ms = at_ms - clock_boot_ms();
    if (side->duty_ms > 0 && side->duty_ms - clock_boot_ms() < wait_ms)
        wait_ms = side->duty_ms - clock_boot_ms();
    struct timespec until = clock_monotonic_after(wait_ms);
    if (wait_ms > 0 && !slots->woken)
        pthread_cond_timedwait(&slots->news, &slots->lock, &until);
    slots->woken = false;
}

static void *side_main(void *self) {
    struct job_side *side = self;
    int64_t at_ms = 0;
    bool goes_on = true;
    while (goes_on) {
        pthread_mutex_lock(&side->slots.lock);
        read_mailbox(side, clock_boot_ms());
        pthread_mutex_unlock(&side->slots.lock);
        rest_if_idle(side, clock_boot_ms());
        do_duty(side, clock_boot_ms());
        goes_on = carry_out(side, &at_ms);
        pthread_mutex_lock(&side->slots.lock);
        bool news = publish(side);
        if (goes_on && !news && at_ms > 0)
            wait_for_news(side, at_ms);
        pthread_mutex_unlock(&side->slots.lock);
        if (news)
            side->config.changed(side->config.self);
    }
    store_close(side->store);
    side->store = NULL;
    pthread_mutex_lock(&side->slots.lock);
    side->ended = true;
    pthread_mutex_unlock(&side->slots.lock);
    side->config.changed(side->config.self);
    return NULL;
}

pawl_status job_side_start(struct job_side *side, pawl_error *err) {
    int code = pthread_create(&side->thread, NULL, side_main, side);
    if (code != 0)
        return error_errno(err, PAWL_NO_MEMORY, "jobs", code, "no thread for jobs");
    side->started = true;
    return PAWL_OK;
}

bool job_side_close(struct job_side *side, int64_t wait_ms) {
    int64_t until_ms = clock_boot_ms() + wait_ms;
    if (!side->started)
        return true;
    job_side_stop(side, true);
    while (!job_side_ended(side) && clock_boot_ms() < until_ms)
        nanosleep(&(struct timespec){0, 2000000}, NULL);
    if (!job_side_ended(side)) {
        pthread_detach(side->thread);
        return false;
    }
    pthread_join(side->thread, NULL);
    return job_slots_close(&side->slots, until_ms - clock_boot_ms());
}
