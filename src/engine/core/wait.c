/* Being woken: a directive that is made when there is nothing to do, and taken back under load. */
#include "engine/core/int.h"

enum { BUSY_MS = 1000, WAIT_RETRY_MS = 5000 };

/* Messages: a running job keeps no worker from being woken. */
static bool in_hand(const struct engine_core *core) { return core->grant_count[CHANNEL_MESSAGES] > 0; }

/* Whether polls may be less frequent: a put will wake us. */
bool core_wait_quiet(const struct engine_core *core) {
    return core->wakes && core->wait_on && !core->wait_late;
}

void core_wait_forget(struct engine_core *core) {
    core->wait_on = false;
    core->wait_until_ms = 0;
}

void core_wait_answered(struct engine_core *core, const struct engine_event *event) {
    core->wait_trying = false;
    if (event->status != PAWL_OK) {
        core_wait_forget(core);
        core->wait_retry_ms = core->now_ms + WAIT_RETRY_MS;
        return;
    }
    core->wait_on = true;
    core->wait_late = event->wait_late;
    /* A put may not have seen the wish: make it again soon. */
    core->wait_until_ms = event->wait_late ? 0 : core->now_ms + PAWL_WAIT_MS;
    core->wait_retry_ms = core->now_ms + core->config.poll_ms;
    core->next_poll_ms = core->now_ms; /* what was put before the directive wakes no worker */
    core->woken = true;
}

/*
 * Work has arrived. An idle worker that knows where looks only there, which costs the store a fraction of a
 * poll; one that is busy, or was woken for several places, looks everywhere.
 */
void core_wait_woken(struct engine_core *core, struct lane_name place) {
    if (place.kind == 0)
        core_jobs_wake(core);
    bool idle = core->cycle == CYCLE_IDLE && !core->resend && !in_hand(core) && core_wait_quiet(core);
    bool first = core->place.kind == 0 && core->next_poll_ms > core->now_ms;
    if (place.kind != 0 && idle && first) {
        core->place = place;
        return;
    }
    core->place.kind = 0;
    core->next_poll_ms = core->now_ms;
    core->woken = true;
}

static void act(struct engine_core *core, enum engine_action_type type) { (void)core_act(core, type); }

void core_wait_decide(struct engine_core *core) {
    if (!core->wakes || !core->registered || core->stopping || core->wait_trying)
        return;
    if (!in_hand(core)) {
        core->busy_since_ms = 0;
        bool due = core->now_ms + PAWL_WAIT_MS / 4 >= core->wait_until_ms &&
                   core->now_ms >= core->wait_retry_ms;
        bool polls = (core->config.instance.kinds & KIND_BITS_ALL) != 0;
        if (due && (core->metrics.empty_polls > 0 || !polls)) {
            core->wait_trying = true;
            act(core, ACTION_WAIT_BEGIN);
        }
        return;
    }
    if (core->busy_since_ms == 0)
        core->busy_since_ms = core->now_ms;
    if (core->wait_on && core->now_ms - core->busy_since_ms >= BUSY_MS) {
        core_wait_forget(core);
        act(core, ACTION_WAIT_END);
    }
}
