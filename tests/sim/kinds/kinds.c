/* All kinds of work beside messages, together. */
#include "sim/kinds/kinds.h"

#include <inttypes.h>
#include <stdlib.h>

#include "sim/world/world.h"

/* By how much of the slots' time, by weight, one side may be ahead while both wait: what the core forgets of
 * earlier use, what the other side takes until its work is found, and the handlers that then run to their
 * end. */
static void flood_begins(struct world *world) {
    const struct swarm *swarm = &world->swarm;
    if (!swarm->kinds_on.flood)
        return;
    int64_t found_ms = swarm->poll_ms + 4 * swarm->latency_ms;
    world->kinds.share =
        (struct history_share){.h = &world->history,
                               .weight = {swarm->weights[CHANNEL_MESSAGES], swarm->weights[CHANNEL_JOBS]},
                               .bound_ms = ENGINE_TURN_MS + swarm->slots * (found_ms + swarm->handler_ms)};
}

void kinds_begin(struct world *world) {
    sim_events_begin(world);
    sim_subscription_begin(world);
    flood_begins(world);
    if (!swarm_has_jobs(&world->swarm))
        return;
    sim_jobs_begin(world);
    sim_schedules_begin(world);
    sim_failover_begin(world);
    sim_runs_begin(world);
}

size_t kinds_duties(const struct world *world, struct duty *duties) {
    const struct swarm *swarm = &world->swarm;
    size_t count = 0;
    if (world->kinds.subscription.count > 0)
        duties[count++] = (struct duty){.rule = {.name = "subscription",
                                                 .period_ms = swarm->poll_ms,
                                                 .jitter_ms = 100,
                                                 .lease_ms = SIM_DUTY_LEASE_MS}};
    if (swarm->kinds_on.receptors)
        duties[count++] = (struct duty){.rule = {.name = "receptors", .period_ms = swarm->poll_ms * 2}};
    return count;
}

/* The subscription comes first, if there is one. */
size_t kinds_duty(const struct world *world, enum sim_duty duty) {
    bool second = duty == SIM_DUTY_FEED && world->kinds.subscription.count > 0;
    return second ? DUTY_OTHERS + 1 : DUTY_OTHERS;
}

/* The worst moment to be stopped, also beyond the lease: another worker takes the duty over, and this one
 * goes on where it was. */
static void stop_holder(struct world *world, int index) {
    if (!world_strikes(world, FAULT_PAUSE))
        return;
    world_fault(world, FAULT_LATE_DUTY);
    worker_pause(world, index, rng_range(&world->rng, SIM_DUTY_LEASE_MS / 2, 4 * SIM_DUTY_LEASE_MS));
}

void kinds_turn(struct world *world, int index, const struct duty_order *order) {
    if (order->duty == DUTY_SCHEDULES)
        sim_schedules_turn(world, index);
    else if (world->kinds.subscription.count > 0 && order->duty == kinds_duty(world, SIM_DUTY_SUBSCRIPTION))
        sim_subscription_turn(world, index, order);
    else
        sim_receptors_turn(world, index);
    stop_holder(world, index);
}

void kinds_free(struct world *world) {
    history_jobs_free(&world->kinds.jobs);
    free(world->kinds.job_rows);
    sim_events_free(world);
    sim_failover_free(world);
}

bool kinds_drained(struct world *world) {
    const struct kinds *kinds = &world->kinds;
    if (kinds->jobs.open > 0)
        sim_jobs_seen(world, false);
    return kinds->jobs_left == 0 && kinds->calls_open == 0 && kinds->jobs.open == 0 &&
           sim_schedules_drained(world) && sim_runs_drained(world) && sim_events_drained(world) &&
           sim_subscription_drained(world);
}

void kinds_check_end(struct world *world) {
    sim_events_end(world);
    if (!swarm_has_jobs(&world->swarm))
        return;
    sim_jobs_seen(world, true);
    sim_schedules_end(world);
    sim_runs_end(world);
}

void kinds_operate(struct world *world) {
    sim_events_operate(world);
    if (!swarm_has_jobs(&world->swarm))
        return;
    sim_jobs_operate(world);
    sim_runs_operate(world);
}

/* A job that does not go well waits for each attempt, for its lease and for the sweep; those of one key one
 * after the other. */
int64_t kinds_bound_ms(const struct world *world) {
    const struct swarm *swarm = &world->swarm;
    int64_t failing_ms = swarm->max_attempts * (2000 + swarm->poll_ms) + 4000;
    int64_t planned_ms = 0;
    for (int i = 0; i < swarm->kinds_on.schedules; i++)
        planned_ms += world->kinds.schedules[i].history.count * world->kinds.schedules[i].history.interval_ms;
    return planned_ms + (int64_t)world->kinds.jobs.count * (swarm->lease_ms / 4 + 500) +
           world->kinds.failing * failing_ms;
}

void kinds_left(struct world *world, int instance) {
    history_jobs_left(&world->kinds.jobs, instance, world_db_ms(world));
}

void kinds_meet_jobs(struct world *world, const struct job_list *list) {
    for (size_t i = 0; i < list->count; i++)
        sim_runs_meet(world, &list->jobs[i]);
}

void kinds_meet_rows(struct world *world, const struct job_rows *rows) {
    for (size_t i = 0; i < rows->count; i++)
        sim_runs_meet(world, &rows->rows[i].job);
}
