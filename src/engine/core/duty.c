/* The worker's duties in its core: when they have no turns, and what a turn is. */
#include "engine/core/int.h"

/* The core sets the times of its first two itself: they depend on what goes on in the fleet. */
bool core_duties_add(struct engine_core *core) {
    const struct engine_config *config = &core->config;
    const struct duty_rule own[DUTY_OTHERS] = {
        [DUTY_BEAT] = {.name = "beat", .to_the_end = true},
        [DUTY_LOOK] = {.name = "look"},
        [DUTY_SCHEDULES] = {.name = "schedules", .period_ms = config->poll_ms},
        [DUTY_HOUSEKEEPING] = {.name = "housekeeping",
                               .first_ms = config->cleanup_ms / 2,
                               .period_ms = config->cleanup_ms / 2,
                               .jitter_ms = config->cleanup_ms,
                               .unhurried = true}};
    bool added = true;
    core->duties.random = config->seed;
    for (size_t i = 0; added && i < DUTY_OTHERS + config->duty_count; i++) {
        const struct duty_rule *rule = i < DUTY_OTHERS ? &own[i] : &config->duties[i - DUTY_OTHERS].rule;
        added = duties_add(&core->duties, rule, 0);
    }
    return added;
}

/* The clock of the core begins with its first event. */
void core_duties_start(struct engine_core *core) {
    for (size_t i = DUTY_SCHEDULES; i < core->duties.count; i++)
        core->duties.items[i].due_ms += core->now_ms;
}

/* What needs the store has no turns while it does not answer, except for leased duties: by the failure they
 * learn that they may not have the lease any more. */
static void set_off(struct engine_core *core) {
    struct duties *all = &core->duties;
    bool works = core_works(core);
    for (size_t i = DUTY_OTHERS; i < all->count; i++) {
        const struct duty_rule *rule = &all->items[i].rule;
        all->items[i].off = !rule->anytime && (rule->lease_ms > 0 ? !core->registered : !works);
    }
    all->items[DUTY_BEAT].off = !core->registered || core->deregistering;
    all->items[DUTY_LOOK].off = !core_life_look_wanted(core);
    all->items[DUTY_SCHEDULES].off = !works || core->jobs.lost || !core_serves(core, CHANNEL_JOBS);
    all->items[DUTY_HOUSEKEEPING].off = !works || core->config.cleanup_ms == 0;
}

static void beat(struct engine_core *core) {
    bool idle = core_life_idle(core), brief = idle && core->now_ms < core->whole_beat_ms;
    if (!brief)
        core->whole_beat_ms = idle ? core->now_ms + ENGINE_WHOLE_BEAT_MS : 0;
    core->news = false;
    core->beat_sent_ms = core->now_ms;
    /* A worker that stops leaves its lanes to others. */
    core->said_full = core->stopping || core_slots_full(core);
    struct engine_action *action = core_act(core, ACTION_BEAT);
    if (action == NULL)
        return;
    action->full = core->said_full;
    action->brief = brief;
    for (enum engine_channel channel = 0; !brief && channel < CHANNEL_COUNT; channel++)
        action->known[channel] = core_known(core, channel);
}

static void carry_out(struct engine_core *core, const struct duty_order *order) {
    if (order->duty == DUTY_BEAT) {
        beat(core);
    } else if (order->duty == DUTY_LOOK) {
        core_duty(core, DUTY_LOOK)->due_ms = core->now_ms + ENGINE_LOOK_MS;
        (void)core_act(core, ACTION_LOOK);
    } else {
        struct engine_action *action = core_act(core, ACTION_DUTY);
        if (action != NULL)
            action->order = *order;
    }
}

/* Much work done leaves much to clean up. */
static void clean_sometimes(struct engine_core *core) {
    const struct engine_metrics *now = &core->metrics;
    int64_t done = now->completed + now->failed + now->jobs.completed + now->jobs.failed +
                   now->jobs.cancelled;
    if (done - core->cleaned_done < ENGINE_CLEAN_DONE)
        return;
    core->cleaned_done = done;
    duties_wake(&core->duties, DUTY_HOUSEKEEPING, core->now_ms);
}

void core_duties_decide(struct engine_core *core) {
    struct duty_order order;
    clean_sometimes(core);
    set_off(core);
    while (duties_next(&core->duties, core->metrics.instance, core->now_ms, &order))
        carry_out(core, &order);
}

/* The last thing before the worker is no instance any more. */
void core_duties_leave(struct engine_core *core) {
    duties_stop(&core->duties, true);
    core_duties_decide(core);
}

void core_duties_answered(struct engine_core *core, const struct engine_event *event) {
    struct duty_end end = {
        .failed = event->status != PAWL_OK, .held = event->held, .next_ms = event->next_ms};
    duties_ended(&core->duties, event->duty, &end, core->now_ms);
    if (event->duty == DUTY_SCHEDULES && event->count > 0)
        core_jobs_wake(core);
}
