/* What comes from outside: producers, faults, and an operator. */
#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"
#include "sim/world/alloc.h"
#include "sim/world/world.h"

enum { BURST_MAX = 30, CHECK_MS = 2000 };

enum nature outside_nature(struct world *world) {
    static const struct {
        enum fault fault;
        enum nature nature;
    } rows[] = {{FAULT_SLOW, NATURE_SLOW}, {FAULT_HANG, NATURE_HANG}, {FAULT_PERMANENT, NATURE_PERMANENT}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        if (rng_chance(&world->rng, world->swarm.chance[rows[i].fault]))
            return rows[i].nature;
    }
    if (rng_chance(&world->rng, world->swarm.chance[FAULT_FAIL]))
        return rng_chance(&world->rng, 7000) ? NATURE_FLAKY : NATURE_FAILING;
    /* Fewer poisons than attempts: then no innocent may die of them. */
    if (world->poisons + 1 < world->swarm.max_attempts &&
        rng_chance(&world->rng, world->swarm.chance[FAULT_POISON])) {
        world->poisons++;
        return NATURE_POISON;
    }
    return NATURE_NORMAL;
}

static int add_message(struct world *world, const struct sim_message *in, int checked_stream) {
    const struct swarm *swarm = &world->swarm;
    int handler = in->role == ROLE_WAKE ? 0 : in->handler; /* as the workers have it */
    bool innocent = in->nature == NATURE_NORMAL && swarm->handlers[handler].timeout_ms == 0;
    int number = history_message_new(&world->history, in->kind, checked_stream, innocent);
    world->failing += in->nature != NATURE_NORMAL;
    world->messages = sim_grow(world->messages, &world->message_capacity, world->message_count + 1,
                               sizeof(*world->messages));
    struct sim_message *message = &world->messages[world->message_count++];
    *message = *in;
    message->id = world_uuid(world, number);
    message->fails_left = (int)rng_range(&world->rng, 1, swarm->max_attempts);
    world_note(world, "message", number, checked_stream, (int64_t)in->nature);
    return number;
}

static void draw_events(struct world *world, struct sim_message *message) {
    message->role = ROLE_WAKE;
    message->event_count = (int)rng_range(&world->rng, 1, SIM_APPEND_MAX);
    for (int i = 0; i < message->event_count; i++) {
        bool bad = world->swarm.kinds_on.bad_events && rng_chance(&world->rng, 500);
        message->values[i] = bad ? -1 : (int)rng_range(&world->rng, 1, 1000);
        message->event_ids[i] = world_uuid(world, 0);
    }
}

/* The message that its receptor will get for the event; its id follows from the event's. */
static void add_receptor(struct world *world, int event) {
    struct sim_message message = {.kind = KIND_INBOX,
                                  .stream = -1,
                                  .handler = world->messages[event].handler,
                                  .nature = outside_nature(world),
                                  .role = ROLE_RECEPTOR,
                                  .parts = 1};
    int number = add_message(world, &message, -1);
    struct arena *arena = arena_create(0);
    pawl_stored_event stored = {.stream = STR("s"),
                                .version = 1,
                                .id = world->messages[event].id,
                                .type = STR("e"),
                                .payload = STR("{}")};
    pawl_outgoing made;
    pawl_error error;
    world_must(world,
               receptor_message(arena, &stored, message.handler > 0 ? STR("r1") : STR("r0"), &made, &error),
               &error, "receptor");
    world->messages[number].id = made.id;
    arena_free(arena);
}

static void message_new(struct world *world, int kind_index, int stream) {
    const struct swarm *swarm = &world->swarm;
    enum store_kind kind = (enum store_kind)swarm->kinds[kind_index];
    bool wake = kind == KIND_PERSPECTIVE && swarm->kinds_on.events;
    struct sim_message message = {.kind = kind,
                                  .stream = stream,
                                  .handler = (int)rng_range(&world->rng, 0, swarm->handler_count - 1),
                                  .nature = wake ? NATURE_NORMAL : outside_nature(world)};
    if (kind == KIND_INBOX && rng_chance(&world->rng, 3000)) {
        message.role = ROLE_SEVERAL;
        message.parts = (int)rng_range(&world->rng, 2, SIM_PARTS_MAX);
    }
    if (wake && stream < 0)
        message.stream = stream = 0;
    if (wake)
        draw_events(world, &message);
    int number = add_message(world, &message, stream >= 0 ? kind_index * swarm->streams + stream : -1);
    if (wake && swarm->kinds_on.receptors)
        add_receptor(world, number);
}

void outside_deliver(struct world *world) {
    struct sim_message message = {.kind = KIND_INBOX, .stream = -1, .nature = outside_nature(world)};
    (void)add_message(world, &message, -1);
}

void outside_produce(struct world *world) {
    struct swarm *swarm = &world->swarm;
    bool burst = world_strikes(world, FAULT_BURST);
    int count = (int)rng_range(&world->rng, burst ? 8 : 1, burst ? BURST_MAX : 4);
    if (count > world->messages_left)
        count = world->messages_left;
    int kind_index = (int)rng_range(&world->rng, 0, swarm->put_kinds - 1);
    int hot = (int)rng_range(&world->rng, 0, swarm->streams - 1);
    int first = (int)world->message_count;
    for (int i = 0; i < count; i++) {
        int stream = swarm->kinds_on.flood || rng_chance(&world->rng, 1000) ? -1
                     : burst                                                ? hot
                             : (int)rng_range(&world->rng, 0, swarm->streams - 1);
        message_new(world, kind_index, stream);
    }
    if (burst)
        world_fault(world, FAULT_BURST);
    world->messages_left -= count;
    wire_send_put(world, first, (int)world->message_count - first);
    if (world->messages_left > 0) {
        int64_t gap_ms = swarm->fault_ms * 2 / (swarm->messages + 1);
        world_push(world, world->healed ? 1 : rng_range(&world->rng, 0, gap_ms * 4),
                   (struct occasion){.what = HAPPENS_PRODUCE});
    }
}

static void fault_worker(struct world *world, int index) {
    struct worker *worker = &world->workers[index];
    if (!worker_alive(world, index))
        return;
    if (world_strikes(world, FAULT_KILL)) {
        world_fault(world, FAULT_KILL);
        worker_kill(world, index);
        return;
    }
    if (world_strikes(world, FAULT_PAUSE)) {
        int64_t lease_ms = world->swarm.lease_ms;
        worker_pause(world, index, rng_range(&world->rng, lease_ms / 4, lease_ms * 3));
        return;
    }
    if (worker->paused_until_ms > world->now_ms)
        return;
    if (world_strikes(world, FAULT_LEAVE) && !worker->stopping) {
        world_fault(world, FAULT_LEAVE);
        worker_stop(world, index, false);
        return;
    }
    if (world_strikes(world, FAULT_LEAVE_NOW)) {
        world_fault(world, FAULT_LEAVE_NOW);
        worker_stop(world, index, true);
        return;
    }
    if (worker->instance >= 0 && world_strikes(world, FAULT_EVICT)) {
        pawl_error error;
        pawl_uuid id = engine_metrics(worker->core).instance;
        world_clock(world, 0);
        if (world->store->ops->core.instance_evict(world->store, id, &error) == PAWL_OK) {
            world->history.instances[world_number(id)].evicted = true;
            world_fault(world, FAULT_EVICT);
            world_note(world, "evict", index, world_number(id), 0);
        }
    }
}

void outside_fault(struct world *world) {
    if (world->healed)
        return;
    for (int i = 0; i < world->swarm.workers; i++)
        fault_worker(world, i);
    if (world_strikes(world, FAULT_KILL_STORM)) {
        world_fault(world, FAULT_KILL_STORM);
        for (int i = 0; i < world->swarm.workers; i++) {
            if (worker_alive(world, i))
                worker_kill(world, i);
        }
    }
    if (world->now_ms >= world->down_until_ms && world_strikes(world, FAULT_DOWN)) {
        world_fault(world, FAULT_DOWN);
        world->down_until_ms = world->now_ms + rng_range(&world->rng, 50, world->swarm.lease_ms * 2);
        world_note(world, "store down", world->down_until_ms, 0, 0);
    }
    if (world_strikes(world, FAULT_EPOCH)) {
        pawl_error error;
        int64_t epoch = 0;
        world_must(world, world->store->ops->core.epoch_raise(world->store, &epoch, &error), &error, "epoch");
        world_fault(world, FAULT_EPOCH);
        world_note(world, "epoch", epoch, 0, 0);
    }
    world_push(world, rng_range(&world->rng, 20, 120), (struct occasion){.what = HAPPENS_FAULT});
}

static void dead_list(struct world *world, struct arena *arena, struct message_rows *rows) {
    pawl_error error;
    struct message_filter filter = {.state = STATE_DEAD, .lane = -1, .limit = (int)world->message_count + 1};
    world_must(world, world->store->ops->view.messages(world->store, &filter, arena, rows, &error), &error,
               "dead letters");
}

void outside_dead_seen(struct world *world) {
    struct arena *arena = arena_create(0);
    struct message_rows rows = {0};
    world_clock(world, 0);
    dead_list(world, arena, &rows);
    history_dead_seen(&world->history, &rows, world_number);
    arena_free(arena);
}

/* The operator has looked: the next run of the message goes well. */
static void repair(struct world *world, int number) {
    world->messages[number].nature = NATURE_NORMAL;
    world_note(world, "repaired", number, 0, 0);
}

static void operate_on(struct world *world, const struct message_row *row, struct arena *arena) {
    const struct store_core_ops *ops = &world->store->ops->core;
    struct dead_ref ref = {row->item.kind, row->item.seq};
    struct answer_list answers = {0};
    pawl_error error;
    int number = world_number(row->item.id);
    /* Nobody else would say that the stream has new events. */
    bool wake = world->messages[number].role == ROLE_WAKE;
    bool must = world->healed && (wake || world->swarm.policy != POLICY_SKIP);
    if (row->reason == DEAD_PARKED || world->history.violated)
        return;
    if (!must && !wake && world_strikes(world, FAULT_DISCARD)) {
        world_must(world, ops->dead_discard(world->store, &ref, 1, arena, &answers, &error), &error,
                   "discard");
        world_fault(world, FAULT_DISCARD);
        world_note(world, "discard", number, (int64_t)answers.answers[0], 0);
        if (answers.answers[0] == ANSWER_APPLIED)
            history_discarded(&world->history, number);
        return;
    }
    if (!must && !world_strikes(world, FAULT_REDRIVE))
        return;
    if (must || rng_chance(&world->rng, 7000))
        repair(world, number);
    world_must(world, ops->dead_redrive(world->store, &ref, 1, arena, &answers, &error), &error, "redrive");
    mutant_after_redrive(world, &ref);
    world_fault(world, FAULT_REDRIVE);
    world_note(world, "redrive", number, (int64_t)answers.answers[0], 0);
    if (answers.answers[0] == ANSWER_APPLIED)
        history_redriven(&world->history, number, world_db_ms(world));
    else
        history_violated(&world->history, "redrive", "dead letter %d was answered %d", number,
                         (int)answers.answers[0]);
}

void outside_operate(struct world *world) {
    struct arena *arena = arena_create(0);
    struct message_rows rows = {0};
    world_clock(world, 0);
    dead_list(world, arena, &rows);
    history_dead_seen(&world->history, &rows, world_number);
    for (size_t i = 0; i < rows.count; i++)
        operate_on(world, &rows.rows[i], arena);
    if (world_strikes(world, FAULT_MAINTAIN)) {
        pawl_error error;
        struct maintain_in in = {.rows_max = 1000};
        struct maintain_result out;
        world_must(world, world->store->ops->core.maintain(world->store, &in, &out, &error), &error,
                   "maintain");
        world_fault(world, FAULT_MAINTAIN);
        world_note(world, "maintain", out.claims_expired, 0, 0);
    }
    arena_free(arena);
    kinds_operate(world);
    if (!world->stopping)
        world_push(world, rng_range(&world->rng, 200, 800), (struct occasion){.what = HAPPENS_OPERATE});
}

/* The store's own invariants. */
void outside_check(struct world *world) {
    struct arena *arena = arena_create(0);
    struct violations found = {0};
    pawl_error error;
    world_clock(world, 0);
    world_must(world, world->store->ops->view.check(world->store, arena, &found, &error), &error, "check");
    if (found.count > 0)
        history_violated(&world->history, "invariant", "%.*s: %.*s", STR_ARG(found.rows[0].invariant),
                         STR_ARG(found.rows[0].detail));
    arena_free(arena);
    if (!world->stopping)
        world_push(world, rng_range(&world->rng, 1, CHECK_MS * 2), (struct occasion){.what = HAPPENS_CHECK});
}
