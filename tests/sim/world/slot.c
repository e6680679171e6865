/* Handlers of the simulation: how long they take, what they do, and when they listen. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "sim/world/world.h"

enum { SNOOZE_MS = 50 };

static struct sim_slot *slot_of(struct world *world, int index, int slot) {
    return &world->workers[index].slots[slot];
}

static void slot_wait(struct world *world, int index, struct sim_slot *slot, int64_t for_ms) {
    slot->number = ++world->numbers;
    world_push(world, for_ms,
               (struct occasion){.what = HAPPENS_SLOT, .worker = index, .number = slot->number});
}

void slot_start(struct world *world, int index, const struct engine_action *action) {
    struct sim_slot *slot = slot_of(world, index, action->slot);
    const struct engine_run *run = &action->run;
    memset(slot, 0, sizeof(*slot));
    slot->busy = true;
    slot->handler = run->handler;
    slot->count = run->count;
    slot->fence_ms = run->fence_ms;
    slot->began_ms = world->now_ms;
    slot->failed_group = -1;
    slot->instance = world->workers[index].instance;
    for (size_t i = 0; i < run->count; i++) {
        slot->messages[i] = world_number(run->items[i]->id);
        slot->tokens[i] = run->items[i]->token;
        slot->groups[i] = run->groups[i];
        slot->outcomes[i] = (struct engine_outcome){.type = OUTCOME_NOT_RUN, .delay_ms = -1};
    }
    mutant_started(world, index, run);
    /* A thread of the pool picks it up a moment later. */
    slot_wait(world, index, slot, rng_range(&world->rng, 0, 2));
}

void slot_cancel(struct world *world, int index, int number, enum stop_reason reason) {
    struct sim_slot *slot = slot_of(world, index, number);
    world_note(world, "cancel", index, number, (int64_t)reason);
    slot->cancelled = true;
    slot->reason = reason;
    if (!slot->in_item)
        return;
    if (rng_chance(&world->rng, world->swarm.chance[FAULT_DEAF])) {
        world_fault(world, FAULT_DEAF);
        return;
    }
    slot->interrupted = true;
    slot_wait(world, index, slot, rng_range(&world->rng, 0, 5));
}

int64_t slot_duration_ms(struct world *world, enum nature *nature) {
    const struct swarm *swarm = &world->swarm;
    switch (*nature) {
    case NATURE_SLOW:
        world_fault(world, FAULT_SLOW);
        return rng_range(&world->rng, swarm->handler_ms, swarm->lease_ms * 8 / 10);
    case NATURE_HANG:
        *nature = NATURE_NORMAL; /* once */
        world_fault(world, FAULT_HANG);
        return rng_range(&world->rng, swarm->lease_ms, swarm->lease_ms * 4);
    default:
        return rng_range(&world->rng, 0, swarm->handler_ms);
    }
}

enum outcome_type slot_verdict(struct world *world, enum nature nature, int *fails_left) {
    switch (nature) {
    case NATURE_FLAKY:
        if (*fails_left <= 0)
            return OUTCOME_DONE;
        (*fails_left)--;
        world_fault(world, FAULT_FAIL);
        return OUTCOME_RETRY;
    case NATURE_FAILING:
        world_fault(world, FAULT_FAIL);
        return OUTCOME_RETRY;
    case NATURE_PERMANENT:
        world_fault(world, FAULT_PERMANENT);
        return OUTCOME_PERMANENT;
    default:
        return OUTCOME_DONE;
    }
}

static void item_over(struct world *world, int index, struct sim_slot *slot, enum outcome_type type) {
    struct engine_outcome *outcome = &slot->outcomes[slot->at];
    outcome->type = type;
    outcome->error = STR("the handler failed");
    outcome->delay_ms = type == OUTCOME_SNOOZE ? SNOOZE_MS : -1;
    if (type == OUTCOME_DONE)
        history_effect(&world->history, slot->run);
    else
        slot->failed_group = slot->groups[slot->at];
    if (type == OUTCOME_SNOOZE)
        history_snoozed(&world->history, slot->messages[slot->at]);
    history_ended(&world->history, slot->run);
    history_share_ended(&world->kinds.share, SIDE_MESSAGES, world->now_ms);
    world_note(world, "ended", index, slot->messages[slot->at], (int64_t)type);
    slot->in_item = slot->interrupted = slot->calling = false;
    slot->at++;
}

static uint64_t call_begins(struct world *world, struct sim_slot *slot) {
    slot->calling = true;
    slot->number = ++world->numbers;
    return slot->number;
}

static bool has_notes(const struct sim_message *message) {
    return message->role == ROLE_RECEPTOR || message->role == ROLE_SEVERAL;
}

/* The first of the message's handlers that has something to do; as many as it has: none. */
static int next_part(const struct sim_slot *slot, const struct sim_message *message) {
    int part = 0;
    while (part < message->parts && (slot->done >> part & 1) != 0)
        part++;
    return part;
}

/* False: the handler goes on, because it has to write down what it did. */
static bool item_ends(struct world *world, int index, int number) {
    struct sim_slot *slot = slot_of(world, index, number);
    struct sim_message *message = &world->messages[slot->messages[slot->at]];
    enum outcome_type type = slot->interrupted
                                 ? slot->reason == STOP_TIMEOUT ? OUTCOME_RETRY : OUTCOME_CANCELLED
                                 : slot_verdict(world, message->nature, &message->fails_left);
    if (has_notes(message) && type == OUTCOME_DONE) {
        int part = next_part(slot, message);
        history_effect(&world->history, slot->run);
        message->effects |= 1u << part;
        sim_receptor_note(world, index, number, call_begins(world, slot), slot->messages[slot->at], part);
        return false;
    }
    item_over(world, index, slot, type);
    return true;
}

/* False: the message killed its worker. */
static bool item_begins(struct world *world, int index, struct sim_slot *slot) {
    int number = slot->messages[slot->at];
    struct sim_message *message = &world->messages[number];
    world_note(world, "begins", index, number, slot->tokens[slot->at]);
    slot->run =
        history_began(&world->history, number, slot->tokens[slot->at], slot->instance, world_db_ms(world));
    history_share_began(&world->kinds.share, SIDE_MESSAGES, world->now_ms);
    slot->in_item = true;
    if (message->nature == NATURE_POISON) {
        world_fault(world, FAULT_POISON);
        history_killed(&world->history, number);
        worker_kill(world, index);
        return false;
    }
    if (message->role != ROLE_PLAIN) {
        uint64_t call = call_begins(world, slot);
        int at = (int)(slot - world->workers[index].slots);
        if (message->role == ROLE_WAKE)
            sim_events_wake(world, index, at, call, number);
        else
            sim_receptor_recall(world, index, at, call, number);
        return true;
    }
    slot_wait(world, index, slot, slot_duration_ms(world, &message->nature));
    /* The worst moment to be stopped: another worker will have the message when it goes on. */
    if (world_strikes(world, FAULT_PAUSE))
        worker_pause(world, index,
                     rng_range(&world->rng, world->swarm.lease_ms / 2, world->swarm.lease_ms * 3));
    return true;
}

static void slot_finished(struct world *world, int index, int number) {
    struct sim_slot *slot = slot_of(world, index, number);
    struct engine_outcome outcomes[ENGINE_BUNDLE_MAX];
    memcpy(outcomes, slot->outcomes, sizeof(outcomes));
    slot->busy = false;
    worker_event(world, index,
                 (struct engine_event){.type = EVENT_FINISHED,
                                       .slot = number,
                                       .outcomes = outcomes,
                                       .count = slot->count,
                                       .elapsed_us = (world->now_ms - slot->began_ms) * 1000});
}

/* The next message of the slot, or its end. */
static void slot_next(struct world *world, int index, int at) {
    struct worker *worker = &world->workers[index];
    struct sim_slot *slot = &worker->slots[at];
    while (slot->at < slot->count) {
        bool fenced = worker_boot_ms(worker, world->now_ms) >= slot->fence_ms && !mutant_unfenced(world);
        if (!slot->cancelled && !fenced && slot->groups[slot->at] != slot->failed_group) {
            (void)item_begins(world, index, slot);
            return;
        }
        slot->at++;
    }
    /* The effects are there and nobody knows. */
    if (world_strikes(world, FAULT_KILL)) {
        world_fault(world, FAULT_KILL);
        worker_kill(world, index);
        return;
    }
    slot_finished(world, index, at);
}

void slot_go_on(struct world *world, int index, uint64_t number) {
    struct worker *worker = &world->workers[index];
    int at = 0;
    while (at < world->swarm.slots && (!worker->slots[at].busy || worker->slots[at].number != number))
        at++;
    if (at == world->swarm.slots)
        return; /* it was interrupted meanwhile */
    if (!worker->slots[at].in_item || item_ends(world, index, at))
        slot_next(world, index, at);
}

static bool waits_for(struct world *world, int index, int at, uint64_t number) {
    const struct sim_slot *slot = slot_of(world, index, at);
    return slot->busy && slot->calling && slot->number == number;
}

void slot_called(struct world *world, int index, int at, uint64_t number, enum outcome_type outcome) {
    if (!waits_for(world, index, at, number))
        return;
    item_over(world, index, slot_of(world, index, at), outcome);
    slot_next(world, index, at);
}

/* The next handler of the message, or its end. */
static void part_next(struct world *world, int index, int at, uint64_t number) {
    struct sim_slot *slot = slot_of(world, index, at);
    struct sim_message *message = &world->messages[slot->messages[slot->at]];
    if (next_part(slot, message) < message->parts) {
        slot->calling = false;
        slot_wait(world, index, slot, slot_duration_ms(world, &message->nature));
        return;
    }
    if (message->effects != (1u << message->parts) - 1)
        history_violated(&world->history, "handlers_all",
                         "message %d is done, of its %d handlers only %x are", slot->messages[slot->at],
                         message->parts, message->effects);
    slot_called(world, index, at, number, OUTCOME_DONE);
}

void slot_recalled(struct world *world, int index, int at, uint64_t number, bool answered, unsigned done) {
    if (!waits_for(world, index, at, number))
        return;
    if (!answered) {
        slot_called(world, index, at, number, OUTCOME_SNOOZE);
        return;
    }
    slot_of(world, index, at)->done = done;
    part_next(world, index, at, number);
}

void slot_noted(struct world *world, int index, int at, uint64_t number, int part) {
    if (!waits_for(world, index, at, number))
        return;
    slot_of(world, index, at)->done |= 1u << part;
    part_next(world, index, at, number);
}

void slots_die(struct world *world, int index) {
    struct worker *worker = &world->workers[index];
    for (int i = 0; worker->slots != NULL && i < world->swarm.slots; i++) {
        struct sim_slot *slot = &worker->slots[i];
        if (!slot->busy || !slot->in_item)
            continue;
        /* Its effect may have happened just before. */
        bool innocent = world->messages[slot->messages[slot->at]].nature != NATURE_POISON;
        if (innocent && rng_chance(&world->rng, 5000))
            history_effect(&world->history, slot->run);
        history_ended(&world->history, slot->run);
        slot->in_item = false;
    }
}
