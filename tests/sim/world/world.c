/* One simulated world, from its first event to the verdict. */
#include "sim/world/world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/uuid.h"
#include "sim/world/alloc.h"
#include "sim/world/trace.h"

enum {
    STEPS_MAX = 3000000,
    DRAINED_MS = 100,
    /* After the faults stop, everything has ended after this and some multiples of the leases. */
    BOUND_MS = 10000,
    BOUND_LEASES = 8,
    LEAVE_MS = 20000
};

void world_note(struct world *world, const char *what, int64_t a, int64_t b, int64_t c) {
    uint64_t parts[] = {(uint64_t)world->now_ms, (uint64_t)(unsigned char)what[0], (uint64_t)a, (uint64_t)b,
                        (uint64_t)c};
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        world->hash = (world->hash ^ parts[i]) * 0x9e3779b97f4a7c15u;
        world->hash ^= world->hash >> 29;
    }
    if (world->tracing)
        trace_print(world->now_ms, what, (const int64_t[3]){a, b, c});
}

void world_fault(struct world *world, enum fault fault) { world->faults[fault]++; }

void world_push(struct world *world, int64_t in_ms, struct occasion occasion) {
    occasion.at_ms = world->now_ms + (in_ms > 0 ? in_ms : 0);
    queue_push(&world->queue, occasion);
}

void world_then(struct world *world, int index, int64_t in_ms, uint64_t number,
                void (*then)(struct world *world, const struct occasion *occasion)) {
    world_push(world, in_ms,
               (struct occasion){.what = HAPPENS_THEN,
                                 .worker = index,
                                 .number = number,
                                 .life = world->workers[index].life,
                                 .then = then});
}

void world_must(struct world *world, pawl_status status, const pawl_error *error, const char *what) {
    if (status != PAWL_OK)
        history_violated(&world->history, "store", "%s: %s", what, error->text);
}

bool world_strikes(struct world *world, enum fault fault) {
    return !world->healed && rng_chance(&world->rng, world->swarm.chance[fault]);
}

int64_t world_db_ms(const struct world *world) { return SIM_EPOCH_MS + world->now_ms; }

void world_clock(struct world *world, int64_t offset_ms) {
    ground_clock(world->ground, world_db_ms(world) + offset_ms);
}

/* An id with a number inside; the rest of it is random, because shares are ordered by it. */
pawl_uuid world_uuid(struct world *world, int number) {
    pawl_uuid id;
    uint64_t high = rng_next(&world->rng), low = rng_next(&world->rng);
    for (int i = 0; i < 8; i++) {
        id.b[i] = (uint8_t)(high >> (8 * i));
        id.b[8 + i] = (uint8_t)(low >> (8 * i));
    }
    for (int i = 0; i < 4; i++)
        id.b[4 + i] = (uint8_t)((uint32_t)number >> (8 * i));
    return id;
}

/* A receptor's message has the front of its event's id, and the number after the event's. */
int world_number(pawl_uuid id) {
    uint32_t number = 0;
    if (id.b[6] >> 4 == 8)
        return (id.b[4] | id.b[5] << 8) + 1;
    for (int i = 0; i < 4; i++)
        number |= (uint32_t)id.b[4 + i] << (8 * i);
    return (int)number;
}

static bool is_dead(void *self, int message) {
    struct world *world = self;
    struct arena *arena = arena_create(0);
    struct message_rows rows = {0};
    pawl_error error;
    pawl_status status =
        world->store->ops->view.message_find(world->store, world->messages[message].id, arena, &rows, &error);
    bool dead = status == PAWL_OK && rows.count == 1 && rows.rows[0].state == STATE_DEAD;
    arena_free(arena);
    return dead;
}

static void open_store(struct world *world) {
    pawl_error error;
    world->store = ground_fresh(world->ground, world->swarm.partitions, world->swarm.lanes);
    world_clock(world, 0);
    struct settings_change change = {.instance_lease_ms = world->swarm.instance_lease_ms,
                                     .stale_ms = world->swarm.instance_lease_ms * 4,
                                     .dedupe_ms = -1,
                                     .history_ms = -1,
                                     .test_now_ms = -1,
                                     .max_attempts = world->swarm.max_attempts,
                                     .dead_policy = (int)world->swarm.policy};
    world_must(world, world->store->ops->core.settings_change(world->store, &change, &error), &error,
               "settings");
}

static void begin(struct world *world, const struct world_plan *plan) {
    rng_seed(&world->rng, plan->seed);
    swarm_draw(&world->swarm, &world->rng);
    if (plan->mutant != NULL)
        swarm_raise(&world->swarm, plan->mutant->faults);
    world->ground = plan->ground;
    world->mutant = plan->mutant;
    world->tracing = plan->tracing;
    const struct swarm *swarm = &world->swarm;
    struct history_rules rules = {swarm->policy, swarm->max_attempts, swarm->lease_ms,
                                  swarm->instance_lease_ms};
    history_init(&world->history, &rules, (size_t)(swarm->streams * swarm->kind_count));
    world->history.is_dead = is_dead;
    world->history.self = world;
    open_store(world);
    world->messages_left = swarm->messages;
    for (int i = 0; i < swarm->workers; i++) {
        world->workers[i].index = i;
        world->workers[i].world = world;
        world->workers[i].starting = true;
        world_push(world, rng_range(&world->rng, 0, 500),
                   (struct occasion){.what = HAPPENS_START, .worker = i});
    }
    kinds_begin(world);
    if (swarm->messages > 0)
        world_push(world, 0, (struct occasion){.what = HAPPENS_PRODUCE});
    world_push(world, 50, (struct occasion){.what = HAPPENS_FAULT});
    world_push(world, 300, (struct occasion){.what = HAPPENS_OPERATE});
    world_push(world, 1, (struct occasion){.what = HAPPENS_CHECK});
    world_push(world, swarm->fault_ms, (struct occasion){.what = HAPPENS_HEAL});
}

static void heal(struct world *world) {
    world->healed = true;
    world->heal_ms = world->now_ms;
    world->down_until_ms = 0;
    world_note(world, "heal", 0, 0, 0);
    for (int i = 0; i < world->swarm.workers; i++)
        world->workers[i].paused_until_ms = 0;
    world_push(world, DRAINED_MS, (struct occasion){.what = HAPPENS_DRAINED});
}

/* A message that fails uses up its attempts, with a wait of at most a second and a poll for each, before an
 * operator sees it; in the worst case one after the other, because they are of one stream. */
static int64_t bound_ms(const struct world *world) {
    const struct swarm *swarm = &world->swarm;
    int64_t failing_ms = swarm->max_attempts * (1000 + swarm->poll_ms) + 1000;
    return BOUND_MS + BOUND_LEASES * (swarm->lease_ms + swarm->instance_lease_ms) +
           swarm->messages * (swarm->lease_ms / 4 + 200) + world->failing * failing_ms +
           kinds_bound_ms(world);
}

/* Looks whether everything has ended; then the workers are told to leave. */
static void drained(struct world *world) {
    if (world->history.open > 0)
        outside_dead_seen(world);
    bool rest = kinds_drained(world);
    if (rest && world->messages_left == 0 && world->puts_open == 0 && world->history.open == 0) {
        world->drained_ms = world->now_ms;
        world->stopping = true;
        world_note(world, "drained", world->now_ms - world->heal_ms, 0, 0);
        for (int i = 0; i < world->swarm.workers; i++)
            worker_stop(world, i, false);
        return;
    }
    if (world->now_ms - world->heal_ms > bound_ms(world)) {
        history_violated(&world->history, "liveness",
                         "%zu messages and %zu jobs have not ended %" PRId64 " ms after the faults",
                         world->history.open, world->kinds.jobs.open, world->now_ms - world->heal_ms);
        return;
    }
    world_push(world, DRAINED_MS, (struct occasion){.what = HAPPENS_DRAINED});
}

/* Late for a worker that is stopped: everything waits until it goes on. */
static bool deferred(struct world *world, const struct occasion *occasion) {
    bool for_worker = occasion->what == HAPPENS_TIMER || occasion->what == HAPPENS_SLOT ||
                      occasion->what == HAPPENS_WAKE || occasion->what == HAPPENS_REPLY ||
                      occasion->what == HAPPENS_THEN;
    if (!for_worker || occasion->worker < 0)
        return false;
    const struct worker *worker = &world->workers[occasion->worker];
    if (worker->core == NULL || worker->paused_until_ms <= world->now_ms)
        return false;
    world_push(world, worker->paused_until_ms - world->now_ms, *occasion);
    return true;
}

static void happen(struct world *world, const struct occasion *occasion) {
    int index = occasion->worker;
    switch (occasion->what) {
    case HAPPENS_TIMER:
        if (worker_alive(world, index) && world->workers[index].timer == occasion->number)
            worker_event(world, index, (struct engine_event){.type = EVENT_TICK});
        break;
    case HAPPENS_EXECUTE:
        wire_execute(world, occasion->wire);
        wire_unref(world, occasion->wire);
        break;
    case HAPPENS_REPLY:
        wire_reply(world, occasion->wire);
        wire_unref(world, occasion->wire);
        break;
    case HAPPENS_SLOT:
        if (worker_alive(world, index))
            slot_go_on(world, index, occasion->number);
        break;
    case HAPPENS_WAKE:
        if (worker_alive(world, index))
            worker_event(world, index, (struct engine_event){.type = EVENT_WAKE, .place = occasion->place});
        break;
    case HAPPENS_START:
        worker_start(world, index);
        break;
    case HAPPENS_PRODUCE:
        outside_produce(world);
        break;
    case HAPPENS_FAULT:
        outside_fault(world);
        break;
    case HAPPENS_OPERATE:
        if (!world->stopping)
            outside_operate(world);
        break;
    case HAPPENS_CHECK:
        outside_check(world);
        break;
    case HAPPENS_HEAL:
        heal(world);
        break;
    case HAPPENS_DRAINED:
        drained(world);
        break;
    case HAPPENS_THEN:
        if (index < 0 || (worker_alive(world, index) && world->workers[index].life == occasion->life))
            occasion->then(world, occasion);
        break;
    }
}

/* What must hold when nothing happens any more. */
static void check_end(struct world *world) {
    struct arena *arena = arena_create(0);
    struct message_rows rows = {0};
    struct message_filter filter = {.lane = -1, .limit = 5000};
    pawl_error error;
    for (int i = 0; i < world->swarm.workers; i++) {
        if (worker_alive(world, i))
            history_violated(&world->history, "leave", "worker %d has not left", i);
    }
    outside_check(world);
    outside_dead_seen(world);
    world_must(world, world->store->ops->view.messages(world->store, &filter, arena, &rows, &error), &error,
               "messages");
    bool innocents_live = world->swarm.only_poison || world->swarm.calm;
    history_end(&world->history, &rows, world_number, innocents_live);
    kinds_check_end(world);
    arena_free(arena);
}

static void finish(struct world *world, struct verdict *verdict) {
    const struct history *history = &world->history;
    *verdict = (struct verdict){
        .violated = history->violated,
        .rule = history->rule,
        .hash = world->hash,
        .steps = world->steps,
        .requests = world->requests,
        .effects = history->effects,
        .accepted = history->accepted,
        .zombie_effects = history->zombie_effects,
        .stale_refused = history->stale_refused,
        .duplicates = history->duplicates,
        .losses = history->losses,
        .redriven = history->redriven,
        .virtual_ms = world->now_ms,
        .drain_ms = world->drained_ms - world->heal_ms,
        .bound_ms = bound_ms(world),
        .traits = swarm_traits(&world->swarm),
    };
    memcpy(verdict->text, history->text, sizeof(verdict->text));
    memcpy(verdict->faults, world->faults, sizeof(verdict->faults));
    for (size_t i = 0; i < history->message_count; i++) {
        verdict->puts += history->messages[i].applied;
        verdict->dead += history->messages[i].dead;
    }
}

static void world_free(struct world *world) {
    for (int i = 0; i < world->swarm.workers; i++)
        worker_free(&world->workers[i]);
    while (world->queue.count > 0) {
        struct occasion occasion = queue_pop(&world->queue);
        if (occasion.wire != NULL)
            wire_unref(world, occasion.wire);
    }
    queue_free(&world->queue);
    kinds_free(world);
    history_free(&world->history);
    free(world->messages);
    mutant_forget(world);
    free(world);
}

void world_run(const struct world_plan *plan, struct verdict *verdict) {
    struct world *world = sim_alloc(sizeof(*world));
    begin(world, plan);
    while (world->queue.count > 0 && !world->history.violated) {
        struct occasion occasion = queue_pop(&world->queue);
        world->now_ms = occasion.at_ms;
        if (world->stopping && world->now_ms > world->drained_ms + LEAVE_MS)
            break;
        if (deferred(world, &occasion))
            continue;
        if (++world->steps > STEPS_MAX) {
            history_violated(&world->history, "liveness", "no end after %d steps", STEPS_MAX);
            break;
        }
        happen(world, &occasion);
    }
    if (!world->history.violated)
        check_end(world);
    finish(world, verdict);
    world_free(world);
}
