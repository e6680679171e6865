/* Being an instance: readiness, registration, heartbeats, and the watch over the others. */
#include "base/uuid.h"
#include "engine/core/int.h"

enum { REBALANCE_MS_MIN = 20, LOOK_BEHIND_MS = 3000, LOOK_SOON_MS = 10, NEWS_MS_MIN = 50 };

void core_life_failed(struct engine_core *core) {
    core->backoff_until_ms = core->now_ms + core_backoff_ms(core, ++core->failures);
}

/* One interval, growing, but never so long that recovery is noticed late. */
static int64_t not_ready_delay_ms(struct engine_core *core) {
    int64_t delay_ms = core->config.poll_ms;
    int64_t most_ms = delay_ms > ENGINE_BACKOFF_MS_MAX ? delay_ms : ENGINE_BACKOFF_MS_MAX;
    for (int64_t i = 1; i < core->metrics.not_ready_checks && delay_ms < most_ms; i++)
        delay_ms *= 2;
    return core_jitter(core, delay_ms < most_ms ? delay_ms : most_ms);
}

static void not_ready(struct engine_core *core) {
    int64_t checks = ++core->metrics.not_ready_checks;
    if (!core->registered && core->registrations == 0 && !core->start_skipped) {
        core->start_skipped = true;
        core_log(core, LOG_START_SKIPPED, checks, 0, 0);
    }
    core_log(core, LOG_NOT_READY, checks, 0, 0);
    if (checks == 10 || checks == 100 || checks % 1000 == 0)
        core_log(core, LOG_PAUSED, checks, 0, 0);
    /* What is in hand cannot wait for a poll: its lease would end meanwhile. */
    bool in_hand = core->grant_count[CHANNEL_MESSAGES] > 0;
    core->backoff_until_ms = core->now_ms +
                             (in_hand ? core_backoff_ms(core, (int)checks) : not_ready_delay_ms(core));
}

void core_life_ready(struct engine_core *core, bool ready) {
    if (core->cycle != CYCLE_CHECKING)
        return;
    core->cycle = CYCLE_IDLE;
    if (!ready) {
        not_ready(core);
        return;
    }
    if (core->metrics.not_ready_checks > 0)
        core_log(core, LOG_READY_AGAIN, core->metrics.not_ready_checks, 0, 0);
    core->metrics.not_ready_checks = 0;
    if (core->registered) {
        core_batch_send(core);
    } else if (!core->registering) {
        core->registering = true;
        core->beat_sent_ms = core->now_ms;
        struct engine_action *action = core_act(core, ACTION_REGISTER);
        if (action != NULL)
            action->fresh = !core->config.fixed_id || core->registrations > 0;
    }
}

static void exit_because(struct engine_core *core, pawl_status status) {
    core->exited = true;
    struct engine_action *action = core_act(core, ACTION_EXIT);
    if (action != NULL) {
        action->forced = core->forced;
        action->status = status;
    }
}

void core_life_registered(struct engine_core *core, const struct engine_event *event) {
    core->registering = false;
    if (event->status == PAWL_OK) {
        core->registered = true;
        core->registrations++;
        core->said_full = false;
        core->failures = 0;
        core->metrics.instance = event->instance;
        if (event->instance_lease_ms > 0)
            core->config.instance_lease_ms = event->instance_lease_ms;
        core->may_side = event->beside;
        core_known_epoch(core, event->epoch);
        if (event->policy != POLICY_DEFAULT)
            core->schema_policy = event->policy;
        core_instance_lease(core, core->beat_sent_ms, core->config.instance_lease_ms);
        core_duty(core, DUTY_BEAT)->due_ms = core->now_ms; /* the first beat reports the peers */
        core->next_poll_ms = core->now_ms;                 /* what waits is taken at once */
        core_jobs_wake(core);
        core_perspectives_wake(core);
        core_duty(core, DUTY_LOOK)->due_ms = core->now_ms + ENGINE_LOOK_MS;
        core_log(core, LOG_REGISTERED, core->registrations, core->config.instance_lease_ms, 0);
        return;
    }
    core_log_text(core, LOG_REGISTER_FAILED, event->status, core_error_text(event));
    bool taken = event->status == PAWL_CONFLICT || event->status == PAWL_STALE;
    if ((taken && core->config.fixed_id && core->registrations == 0) || event->status == PAWL_INVALID) {
        exit_because(core, event->status);
        return;
    }
    core_life_failed(core);
}

/* Our peers have taken our work: nothing we hold counts, and we register as a new instance. */
void core_life_evicted(struct engine_core *core) {
    core->metrics.evictions++;
    core_log(core, LOG_EVICTED, core->metrics.evictions, 0, 0);
    core->registered = false;
    core_wait_forget(core);
    core->failures = 0;
    core->backoff_until_ms = core->now_ms;
    for (enum engine_channel channel = 0; channel < CHANNEL_COUNT; channel++)
        core_drop(core, channel);
}

static void look_for(struct engine_core *core, int64_t ms) {
    if (core->look_until_ms < core->now_ms + ms)
        core->look_until_ms = core->now_ms + ms;
}

/* No messages for us, and what is put wakes us. */
static bool is_quiet(const struct engine_core *core) {
    bool messages = (core->config.instance.kinds & KIND_BITS_ALL) != 0; /* else it is never told idle */
    return (core->was_idle || !messages) && core_wait_quiet(core);
}

/* Nothing in hand, and nothing expected. */
bool core_life_idle(const struct engine_core *core) {
    return is_quiet(core) && !core_in_hand(core) && !core->news && core->now_ms >= core->look_until_ms &&
           !core->stopping;
}

/* The time between beats: a worker that is idle, and is woken when work arrives, needs fewer. */
int64_t core_life_beat_ms(const struct engine_core *core) {
    int64_t beat_ms = core->config.heartbeat_ms;
    if (!is_quiet(core))
        return beat_ms;
    int64_t most_ms = core->config.instance_lease_ms / 2;
    beat_ms += beat_ms / 2;
    return beat_ms < most_ms ? beat_ms : most_ms;
}

/* Not idle any more: beats are due as often as they should be. */
void core_life_busy(struct engine_core *core) {
    duties_forward(&core->duties, DUTY_BEAT, core->beat_sent_ms + core->config.heartbeat_ms);
}

/* News do not wait for the beat's turn, but many of them are fetched together. */
static void fetch_news(struct engine_core *core) {
    if (core->news)
        duties_forward(&core->duties, DUTY_BEAT, core->beat_sent_ms + NEWS_MS_MIN);
}

/* Work has arrived, maybe for a peer that died while all were idle; or there is news that only a beat
 * brings. */
void core_life_woken(struct engine_core *core) {
    look_for(core, LOOK_BEHIND_MS);
    core_life_busy(core);
    fetch_news(core);
}

/* A peer may have died with work waiting in its lanes and none in flight. A peer that beats in time is not
 * due before our next beat; for one that is, an idle worker looks once, when its lease ends. */
static void watch_silent(struct engine_core *core, int64_t ends_ms) {
    if (ends_ms <= 0 || core->now_ms + ends_ms > core_duty(core, DUTY_BEAT)->due_ms)
        return;
    struct duty_state *look = core_duty(core, DUTY_LOOK);
    bool idle = core->was_idle && core->now_ms >= core->look_until_ms;
    int64_t at_ms = core->now_ms + ends_ms + LOOK_SOON_MS;
    if (idle || at_ms < look->due_ms)
        look->due_ms = at_ms;
    look_for(core, ends_ms + LOOK_BEHIND_MS);
}

void core_life_beat(struct engine_core *core, const struct engine_event *event) {
    struct duty_state *duty = core_duty(core, DUTY_BEAT);
    duty->running = false;
    if (!core->registered || core->deregistering)
        return;
    if (event->status == PAWL_STALE) {
        core_life_evicted(core);
        return;
    }
    if (event->status != PAWL_OK) {
        core_log_text(core, LOG_BEAT_FAILED, event->status, core_error_text(event));
        duty->due_ms = core->now_ms + core_jitter(core, ENGINE_BACKOFF_MS_MAX / 2);
        return;
    }
    const struct beat_result *beat = event->beat;
    core_instance_lease(core, core->beat_sent_ms, beat->lease_until_ms - beat->now_ms);
    duty->due_ms = core->beat_sent_ms + core_life_beat_ms(core);
    fetch_news(core);
    core->metrics.peers = event->peers.count;
    core->peer_idle = event->peers.idle;
    core->metrics.heartbeats++;
    core->jobs.lost = core->perspectives.lost = false; /* an instance that was not evicted is alive again */
    for (enum engine_channel channel = 0; channel < CHANNEL_COUNT; channel++) {
        if (event->settled[channel] != NULL)
            core_known_settled(core, channel, event->settled[channel]);
    }
    /* A worker with too few lanes looks until its peers have given theirs up: no other can take them. */
    if (event->peers.busy || event->peers.lanes_short)
        look_for(core, core->config.heartbeat_ms + ENGINE_LOOK_MS);
    watch_silent(core, event->peers.ends_ms);
    if (beat->lanes_taken > 0) {
        core->next_poll_ms = core->now_ms;
        core->woken = true; /* a claim on its way knows nothing of them */
        core_duty(core, DUTY_LOOK)->due_ms =
            core->now_ms; /* what it took may have moved its share by one more */
    }
}

void core_life_looked(struct engine_core *core, const struct engine_event *event) {
    core_duty(core, DUTY_LOOK)->running = false;
    if (event->status != PAWL_OK || !core->registered)
        return;
    if (event->look->evicted > 0) {
        core_log(core, LOG_PEER_EVICTED, event->look->evicted, 0, 0);
        core_jobs_wake(core); /* what the dead had in hand is ready */
        core_perspectives_wake(core);
    }
    /* A lock is gone: every worker looks at the moment its owner counts as dead. */
    int64_t believe_ms = event->look->believe_ms;
    if (believe_ms >= 0) {
        int64_t wait_ms = believe_ms > LOOK_SOON_MS ? believe_ms : LOOK_SOON_MS;
        duties_forward(&core->duties, DUTY_LOOK, core->now_ms + wait_ms);
        look_for(core, LOOK_BEHIND_MS);
    }
    /* A beat takes the lanes that became free; the poll after it takes their work. */
    if (event->look->evicted > 0 || event->look->rebalance_wanted)
        duties_forward(&core->duties, DUTY_BEAT, core->beat_sent_ms + REBALANCE_MS_MIN);
}

/* Peers are watched while they, or we ourselves, have work in flight, and a little longer: the one that has
 * just finished its share is the one to notice that another has not. An idle fleet costs nothing. */
bool core_life_look_wanted(struct engine_core *core) {
    if (core_in_hand(core) || (core_serves(core, CHANNEL_JOBS) && !core_jobs_idle(core)))
        look_for(core, LOOK_BEHIND_MS);
    bool messages = (core->config.instance.kinds & KIND_BITS_ALL) != 0; /* else it is never told idle */
    bool busy = core->now_ms < core->look_until_ms || (messages && !core->was_idle);
    return core->registered && core->metrics.peers > 0 && busy && !core->stopping;
}

/* When the others hear that all slots are taken, after what waited was given back, or that one is free again,
 * with less hurry: lanes should not go back and forth. */
static int64_t full_due_ms(const struct engine_core *core) {
    if (!core->registered || core->deregistering || core->stopping || core->duties.items[DUTY_BEAT].running)
        return INT64_MAX;
    if (core->said_full)
        return core_slots_full(core) ? INT64_MAX : core->beat_sent_ms + ENGINE_LOOK_MS;
    for (int kind = 1; kind <= KIND_COUNT; kind++) {
        if (core->pending[REPORT_RELEASE][kind].count + core->sending[REPORT_RELEASE][kind].count > 0)
            return INT64_MAX;
    }
    return core_slots_full_ms(core);
}

void core_life_decide(struct engine_core *core) {
    bool may_try = core->now_ms >= core->backoff_until_ms && core->cycle == CYCLE_IDLE;
    if (!core->registered && may_try && !core->registering && !core->stopping) {
        core->cycle = CYCLE_CHECKING;
        (void)core_act(core, ACTION_CHECK_READY);
    }
    if (full_due_ms(core) <= core->now_ms)
        duties_forward(&core->duties, DUTY_BEAT, core->now_ms);
    core_duties_decide(core);
    if (!core->registered || core->deregistering)
        return;
    if (core_side_wanted(core))
        core_side_send(core);
    core_jobs_decide(core);
    core_perspectives_decide(core);
    if (core_batch_wanted(core)) {
        core->cycle = CYCLE_CHECKING;
        (void)core_act(core, ACTION_CHECK_READY);
    }
}

int64_t core_life_due_ms(const struct engine_core *core) {
    bool registers = !core->registered && !core->registering && core->cycle == CYCLE_IDLE && !core->stopping;
    return registers ? core->backoff_until_ms : full_due_ms(core);
}
