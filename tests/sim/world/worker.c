/* A worker of the simulation: an incarnation of the real core, its clock and its end. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "sim/world/alloc.h"
#include "sim/world/world.h"

bool worker_alive(const struct world *world, int index) { return world->workers[index].core != NULL; }

int64_t worker_boot_ms(const struct worker *worker, int64_t now_ms) {
    return worker->clock_offset_ms + now_ms + now_ms * worker->clock_ppm / 1000000;
}

int64_t worker_when_ms(const struct worker *worker, int64_t boot_ms, int64_t now_ms) {
    int64_t left_ms = boot_ms - worker_boot_ms(worker, now_ms);
    if (left_ms <= 0)
        return now_ms;
    int64_t at_ms = now_ms + left_ms * 1000000 / (1000000 + worker->clock_ppm);
    while (worker_boot_ms(worker, at_ms) < boot_ms)
        at_ms++;
    return at_ms;
}

static int match(void *self, const struct item *item, pawl_str *paused) {
    (void)paused;
    const struct worker *worker = self;
    bool wake = item->type.ptr[0] == 'p'; /* pawl.append */
    int handler = wake ? 0 : (item->type.ptr[1] - '0') % worker->world->swarm.handler_count;
    return handler == worker->no_handler && !worker->world->healed ? -1 : handler;
}

/* A strategy of the user's: a few together, or when one has waited. */
static bool flush(void *self, size_t pending, int64_t oldest_age_ms) {
    (void)self;
    return pending >= 3 || oldest_age_ms >= 15;
}

static void configure(struct world *world, struct worker *worker) {
    const struct swarm *swarm = &world->swarm;
    memcpy(worker->handlers, swarm->handlers, sizeof(swarm->handlers));
    job_handlers(swarm, &worker->handlers[swarm->handler_count]);
    int kinds = 0;
    for (int i = 0; i < swarm->kind_count; i++)
        kinds |= KIND_BIT(swarm->kinds[i]);
    if (swarm_has_jobs(swarm))
        kinds |= KIND_BIT_JOBS;
    worker->config = (struct engine_config){
        .instance = {.service = STR("sim"),
                     .host = STR("host"),
                     .pid = worker->index + 1,
                     .kinds = kinds,
                     .lease_ms = swarm->instance_lease_ms,
                     .slots = swarm->slots},
        .slots = swarm->slots,
        .batch = swarm->batch,
        .lease_ms = swarm->lease_ms,
        .job_lease_ms = swarm->lease_ms,
        .instance_lease_ms = swarm->instance_lease_ms,
        .heartbeat_ms = swarm->heartbeat_ms,
        .poll_ms = swarm->poll_ms,
        .quiet_poll_ms = swarm->quiet_poll_ms,
        .drain_ms = swarm->drain_ms,
        .weights = {swarm->weights[CHANNEL_MESSAGES], swarm->weights[CHANNEL_JOBS]},
        .idle_polls = 2,
        .max_attempts = swarm->max_attempts,
        .policy = swarm->policy,
        .strategy = {swarm->strategy, flush, NULL},
        .handlers = worker->handlers,
        .handler_count = (size_t)swarm->handler_count + SWARM_JOB_HANDLERS + 1,
        .advance_handler = swarm->handler_count + SWARM_JOB_HANDLERS,
        .checkpoints = swarm->kinds_on.events,
        .match = match,
        .match_job = job_match,
        .match_self = worker,
        .duties = worker->duties,
        .duty_count = kinds_duties(world, worker->duties),
        .seed = rng_next(&world->rng),
    };
    mutant_weights(world, worker->config.weights);
}

static void set_clock(struct world *world, struct worker *worker) {
    worker->clock_offset_ms = rng_range(&world->rng, 1000, 1000000000);
    worker->clock_ppm = 0;
    if (!world->healed && rng_chance(&world->rng, world->swarm.chance[FAULT_CLOCK])) {
        world_fault(world, FAULT_CLOCK);
        worker->clock_ppm = rng_range(&world->rng, -world->swarm.drift_ppm_max, world->swarm.drift_ppm_max);
    }
    worker->clock_ppm += mutant_clock_ppm(world);
}

void worker_start(struct world *world, int index) {
    struct worker *worker = &world->workers[index];
    worker->starting = false;
    if (worker->core != NULL || world->stopping)
        return;
    worker->life++;
    worker->stopping = worker->troubled = false;
    worker->instance = -1;
    worker->paused_until_ms = 0;
    worker->no_handler = -1;
    if (world_strikes(world, FAULT_NO_HANDLER)) {
        worker->no_handler = (int)rng_range(&world->rng, 0, world->swarm.handler_count - 1);
        world_fault(world, FAULT_NO_HANDLER);
    }
    configure(world, worker);
    set_clock(world, worker);
    worker->core = engine_core_create(&worker->config);
    if (worker->core == NULL)
        abort();
    worker->slots = sim_alloc((size_t)world->swarm.slots * sizeof(*worker->slots));
    worker->held.next = worker->held.prev = &worker->held;
    worker->job_slots = job_slots_new(world->swarm.slots);
    worker->stream_slots = stream_slots_new(world->swarm.slots);
    world_note(world, "start", index, (int64_t)worker->life, worker->clock_ppm);
    world_fault(world, FAULT_JOIN);
    worker_event(world, index, (struct engine_event){.type = EVENT_STARTED});
    worker_event(world, index, (struct engine_event){.type = EVENT_WAKER, .wakes = world->swarm.wakes});
}

void worker_free(struct worker *worker) {
    engine_core_free(worker->core);
    worker->core = NULL;
    engine_actions_free(&worker->actions);
    while (worker->held.next != NULL && worker->held.next != &worker->held)
        delivery_free(worker->held.next);
    free(worker->slots);
    job_slots_free(worker->job_slots, worker->world->swarm.slots);
    free(worker->stream_slots);
    worker->slots = NULL;
    worker->job_slots = NULL;
    worker->stream_slots = NULL;
}

/* It is gone, however it went; sooner or later another one takes its place. */
static void gone(struct world *world, int index) {
    struct worker *worker = &world->workers[index];
    if (worker->instance >= 0)
        world->history.instances[worker->instance].watched = false;
    wires_of_dead(world, index, worker->life);
    worker_free(worker);
    if (!world->stopping && !worker->starting) {
        worker->starting = true;
        world_push(world, rng_range(&world->rng, 1, world->healed ? 200 : world->swarm.lease_ms * 2),
                   (struct occasion){.what = HAPPENS_START, .worker = index});
    }
}

static void die(struct world *world, int index) {
    slots_die(world, index);
    job_slots_die(world, index);
    stream_slots_die(world, index);
    gone(world, index);
}

void worker_kill(struct world *world, int index) {
    world_note(world, "killed", index, (int64_t)world->workers[index].life, 0);
    die(world, index);
}

void worker_pause(struct world *world, int index, int64_t for_ms) {
    struct worker *worker = &world->workers[index];
    if (worker->core == NULL || worker->paused_until_ms > world->now_ms)
        return;
    worker->paused_until_ms = world->now_ms + for_ms;
    world_fault(world, FAULT_PAUSE);
    world_note(world, "paused", index, for_ms, 0);
}

void worker_stop(struct world *world, int index, bool now) {
    struct worker *worker = &world->workers[index];
    if (worker->core == NULL)
        return;
    worker->stopping = true;
    if (worker->instance >= 0)
        world->history.instances[worker->instance].watched = false;
    world_note(world, now ? "stop now" : "stop", index, 0, 0);
    worker_event(world, index, (struct engine_event){.type = now ? EVENT_STOP_NOW : EVENT_STOP});
}

static void arm_timer(struct world *world, struct worker *worker, int64_t boot_ms) {
    worker->timer = ++world->numbers;
    int64_t at_ms = worker_when_ms(worker, boot_ms, world->now_ms);
    world_push(world, at_ms - world->now_ms,
               (struct occasion){.what = HAPPENS_TIMER, .worker = worker->index, .number = worker->timer});
}

/* The worst moment to die for what was claimed, of whatever kind: nothing of it has begun. */
static bool dies_unstarted(struct world *world, int index, int slot) {
    if (!world_strikes(world, FAULT_UNSTARTED))
        return false;
    world_fault(world, FAULT_UNSTARTED);
    world_note(world, "died unstarted", index, slot, 0);
    return true;
}

/* True: the worker has left. */
static bool carry_out(struct world *world, struct worker *worker, const struct engine_action *action) {
    int index = worker->index;
    switch (action->type) {
    case ACTION_CHECK_READY:
        wire_send(world, index, WIRE_READY, action);
        break;
    case ACTION_REGISTER:
        wire_send(world, index, WIRE_REGISTER, action);
        break;
    case ACTION_BEAT:
        wire_send(world, index, WIRE_BEAT, action);
        break;
    case ACTION_LOOK:
        wire_send(world, index, WIRE_LOOK, action);
        break;
    case ACTION_BATCH:
        wire_send(world, index, WIRE_BATCH, action);
        break;
    case ACTION_CLAIM:
        wire_send(world, index, WIRE_CLAIM, action);
        break;
    case ACTION_REPORT:
        wire_send(world, index, WIRE_REPORT, action);
        break;
    case ACTION_DEREGISTER:
        wire_send(world, index, WIRE_DEREGISTER, action);
        break;
    case ACTION_START:
        if (dies_unstarted(world, index, action->slot))
            return true;
        if (action->run.checkpoints != NULL)
            stream_slot_start(world, index, action);
        else if (action->run.jobs == NULL)
            slot_start(world, index, action);
        else
            job_slot_start(world, index, action);
        break;
    case ACTION_CANCEL:
        if (worker->slots[action->slot].busy)
            slot_cancel(world, index, action->slot, action->reason);
        else if (stream_slot_busy(world, index, action->slot))
            stream_slot_cancel(world, index, action->slot, action->reason);
        else
            job_slot_cancel(world, index, action->slot, (int)action->reason);
        break;
    case ACTION_JOBS_FINISH:
    case ACTION_JOBS_RENEW:
        job_call(world, index, action);
        break;
    case ACTION_DUTY:
        kinds_turn(world, index, &action->order);
        break;
    case ACTION_EXCHANGE:
        perspective_call(world, index, action->exchange);
        break;
    case ACTION_FREE_GRANT:
        delivery_free(action->grant);
        break;
    case ACTION_TIMER:
        arm_timer(world, worker, action->at_ms);
        break;
    case ACTION_EXIT:
        world_note(world, "exit", index, action->forced, action->status);
        return true;
    case ACTION_LOG:
        world_note(world, "log", index, (int64_t)action->log, action->numbers[0]);
        break;
    case ACTION_WAIT_BEGIN:
        wire_send(world, index, WIRE_WAIT_BEGIN, action);
        break;
    case ACTION_WAIT_END:
        wire_send(world, index, WIRE_WAIT_END, action);
        break;
    case ACTION_JOBS_FREE: /* it never rests here */
    case ACTION_FREE_RESULT:
    case ACTION_CANCEL_END:
    case ACTION_NOTIFY_STARTED:
    case ACTION_NOTIFY_IDLE:
        break;
    }
    return false;
}

void worker_event(struct world *world, int index, struct engine_event event) {
    struct worker *worker = &world->workers[index];
    event.now_ms = worker_boot_ms(worker, world->now_ms);
    pawl_status status = engine_step(worker->core, &event, &worker->actions);
    if (status != PAWL_OK)
        abort();
    bool left = false;
    for (size_t i = 0; i < worker->actions.count && !left; i++)
        left = carry_out(world, worker, &worker->actions.items[i]);
    if (left)
        die(world, index);
}
