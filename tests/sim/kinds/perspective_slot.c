/* The worker's calls for perspectives, and what its slots do with the streams that it was granted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "sim/world/alloc.h"
#include "sim/world/world.h"

enum { EVENTS_MAX = 4, NAME_BYTES = 24, TURNS = 2 };

static const pawl_str key = {"q@1", 3};

static int stream_of(pawl_str name) { return name.ptr[name.len - 1] - '0'; }

static void *answer_new(struct delivery *delivery, size_t bytes) {
    void *answer = arena_alloc(delivery->arena, bytes);
    if (answer == NULL)
        abort();
    memset(answer, 0, bytes);
    delivery->answer = answer;
    return answer;
}

/* ---- Renewals, reports and claims, in one call */

struct exchange_answer {
    struct answer_list reported; /* first: mutants change it */
    struct perspectives_answer out;
};

static pawl_status renew(struct world *world, struct wire *wire, const struct perspectives_exchange *in,
                         struct arena *arena, struct answer_list *out) {
    struct checkpoints_renew renew = {in->instance, in->renewals, in->renewal_count, in->lease_ms};
    if (in->renewal_count == 0)
        return PAWL_OK;
    pawl_status status =
        world->store->ops->events.checkpoints_renew(world->store, &renew, arena, out, &wire->error);
    for (size_t i = 0; status == PAWL_OK && i < out->count; i++) {
        world_note(world, "checkpoint renewal", stream_of(in->renewals[i].stream), in->renewals[i].token,
                   (int64_t)out->answers[i]);
        history_checkpoint_renewed(&world->kinds.events.history, SIM_OUTSIDE,
                                   stream_of(in->renewals[i].stream), in->renewals[i].token, out->answers[i],
                                   in->lease_ms, world_db_ms(world));
    }
    return status;
}

static void tell_reported(struct world *world, const struct checkpoint_report *report,
                          enum store_answer answer) {
    int stream = stream_of(report->stream);
    world_note(world, "checkpoint", stream, report->version, (int64_t)answer);
    history_checkpoint_reported(&world->kinds.events.history, SIM_OUTSIDE, stream, report->token,
                                report->version, report->status, answer, world_db_ms(world));
}

/* Checkpoints for the handler outside, and a turn for each perspective whose model is in the store. */
static pawl_status claim(struct world *world, struct wire *wire, const struct perspectives_exchange *in,
                         struct arena *arena, struct perspectives_answer *out) {
    static const pawl_str inside[TURNS] = {{"p@1", 3}, {"p@2", 3}};
    const struct sim_events *events = &world->kinds.events;
    struct checkpoint_grants grants = {0};
    struct checkpoints_claim claim = {.instance = in->instance,
                                      .perspectives = &key,
                                      .perspective_count = 1,
                                      .max = in->claim_max,
                                      .lease_ms = in->lease_ms};
    if (events->registered[SIM_OUTSIDE]) {
        pawl_status status =
            world->store->ops->events.checkpoints_claim(world->store, &claim, arena, &grants, &wire->error);
        if (status != PAWL_OK)
            return status;
    }
    out->granted = arena_array(arena, grants.count + TURNS, sizeof(*out->granted));
    if (out->granted == NULL)
        abort();
    for (size_t i = 0; i < grants.count; i++)
        out->granted[out->count++] = grants.grants[i];
    for (int i = SIM_OLD; i <= SIM_NEW; i++) {
        if (events->registered[i] && events->history.perspectives[i].fed)
            out->granted[out->count++] = (struct checkpoint_grant){.perspective = inside[i]};
    }
    return PAWL_OK;
}

static pawl_status execute_exchange(struct world *world, struct wire *wire, struct delivery *delivery) {
    const struct perspectives_exchange *in = wire->data;
    struct exchange_answer *answer = answer_new(delivery, sizeof(*answer));
    struct checkpoints_report reports = {in->instance, in->reports, in->report_count};
    pawl_status status = renew(world, wire, in, delivery->arena, &answer->out.renewed);
    if (status == PAWL_OK && in->report_count > 0)
        status = world->store->ops->core.checkpoints_report(world->store, &reports, delivery->arena,
                                                            &answer->reported, &wire->error);
    if (status != PAWL_OK)
        return status;
    mutant_after_call(world, wire, delivery);
    for (size_t i = 0; i < in->report_count; i++)
        tell_reported(world, &in->reports[i], answer->reported.answers[i]);
    if (in->claim_max > 0)
        status = claim(world, wire, in, delivery->arena, &answer->out);
    for (size_t i = 0; status == PAWL_OK && i < answer->out.count; i++) {
        const struct checkpoint_grant *grant = &answer->out.granted[i];
        if (grant->token == 0)
            continue;
        world_note(world, "checkpoint grant", stream_of(grant->stream), grant->version, grant->token);
        history_checkpoint_granted(&world->kinds.events.history, SIM_OUTSIDE, stream_of(grant->stream),
                                   world_number(in->instance), grant, world_db_ms(world));
    }
    return status;
}

static void reply_exchange(struct world *world, struct wire *wire) {
    struct engine_event event = {.type = EVENT_EXCHANGED, .status = wire->status, .error = &wire->error};
    if (wire->status == PAWL_OK) {
        event.exchanged = &((struct exchange_answer *)wire->delivery->answer)->out;
        event.grant = delivery_hold(world, wire);
    }
    worker_event(world, wire->worker, event);
}

const struct wire_call exchange_call = {"exchange", execute_exchange, reply_exchange};

/* The request outlives the core that made it: all of it is copied. */
void perspective_call(struct world *world, int index, const struct perspectives_exchange *in) {
    struct wire *wire = wire_call_new(world, index, &exchange_call, sizeof(*in));
    struct perspectives_exchange *copy = wire->data;
    *copy = *in;
    struct checkpoint_ref *refs =
        (struct checkpoint_ref *)wire_copy(wire, in->renewals, in->renewal_count, sizeof(*refs));
    for (size_t i = 0; i < in->renewal_count; i++)
        refs[i] = (struct checkpoint_ref){wire_copy_text(wire, refs[i].stream), key, refs[i].token};
    struct checkpoint_report *reports =
        (struct checkpoint_report *)wire_copy(wire, in->reports, in->report_count, sizeof(*reports));
    for (size_t i = 0; i < in->report_count; i++) {
        reports[i].stream = wire_copy_text(wire, reports[i].stream);
        reports[i].perspective = key;
        reports[i].error = wire_copy_text(wire, reports[i].error);
    }
    copy->renewals = refs;
    copy->reports = reports;
    wire_call_send(world, wire, 0);
}

/* ---- Slots */

struct stream_slot {
    bool busy, working; /* working: not waiting for the store */
    enum stop_reason cancelled;
    uint64_t number; /* of what it waits for */
    int64_t fence_ms, began_ms, token, version, reached;
    bool read, more; /* it has a batch in hand; there is more after it */
    char name[NAME_BYTES];
};

struct stream_slot *stream_slots_new(int count) {
    return sim_alloc((size_t)count * sizeof(struct stream_slot));
}

static struct stream_slot *slot_of(struct world *world, int index, int slot) {
    return &world->workers[index].stream_slots[slot];
}

bool stream_slot_busy(struct world *world, int index, int slot) { return slot_of(world, index, slot)->busy; }

static void go_on(struct world *world, const struct occasion *occasion);

static void wait_for(struct world *world, int index, struct stream_slot *slot, int64_t for_ms) {
    slot->number = ++world->numbers;
    slot->working = true;
    world_then(world, index, for_ms, slot->number, go_on);
}

static void finish(struct world *world, int index, struct stream_slot *slot, enum outcome_type type,
                   int64_t delay_ms) {
    struct engine_outcome outcome = {.type = type, .delay_ms = delay_ms, .version = slot->version};
    slot->busy = false;
    worker_event(world, index,
                 (struct engine_event){.type = EVENT_FINISHED,
                                       .slot = (int)(slot - world->workers[index].stream_slots),
                                       .outcomes = &outcome,
                                       .count = 1,
                                       .elapsed_us = (world->now_ms - slot->began_ms) * 1000});
}

void stream_slot_start(struct world *world, int index, const struct engine_action *action) {
    struct worker *worker = &world->workers[index];
    struct stream_slot *slot = slot_of(world, index, action->slot);
    const struct checkpoint_grant *grant = action->run.checkpoints[0];
    *slot = (struct stream_slot){.busy = true,
                                 .fence_ms = action->run.fence_ms,
                                 .began_ms = world->now_ms,
                                 .token = grant->token,
                                 .version = grant->version};
    (void)snprintf(slot->name, NAME_BYTES, "%.*s",
                   STR_ARG(grant->token == 0 ? grant->perspective : grant->stream));
    worker->slots[action->slot].busy = false;
    wait_for(world, index, slot, rng_range(&world->rng, 0, 2));
}

void stream_slot_cancel(struct world *world, int index, int number, enum stop_reason reason) {
    struct stream_slot *slot = slot_of(world, index, number);
    world_note(world, "stream cancel", index, number, (int64_t)reason);
    slot->cancelled = reason;
    if (!slot->working)
        return;
    if (rng_chance(&world->rng, world->swarm.chance[FAULT_DEAF]))
        world_fault(world, FAULT_DEAF);
    else
        wait_for(world, index, slot, rng_range(&world->rng, 0, 5));
}

/* A call of a handler: which slot waits for it. */
struct handler_call {
    int slot;
    uint64_t number;
    char name[NAME_BYTES];
    struct checkpoint_ref ref;
    struct checkpoint_report report;
};

static struct stream_slot *waiting(struct world *world, const struct wire *wire) {
    const struct handler_call *call = wire->data;
    struct stream_slot *slot = slot_of(world, wire->worker, call->slot);
    return slot->busy && !slot->working && slot->number == call->number ? slot : NULL;
}

static void send(struct world *world, int index, struct stream_slot *slot, const struct wire_call *type) {
    struct wire *wire = wire_call_new(world, index, type, sizeof(struct handler_call));
    struct handler_call *call = wire->data;
    slot->number = ++world->numbers;
    slot->working = false;
    *call = (struct handler_call){.slot = (int)(slot - world->workers[index].stream_slots),
                                  .number = slot->number};
    memcpy(call->name, slot->name, NAME_BYTES);
    call->ref = (struct checkpoint_ref){str_from(call->name), key, slot->token};
    call->report = (struct checkpoint_report){.stream = call->ref.stream,
                                              .perspective = key,
                                              .version = slot->version,
                                              .token = slot->token,
                                              .status = CHECKPOINT_PROCESSING};
    wire_call_send(world, wire, 0);
}

static pawl_status execute_read(struct world *world, struct wire *wire, struct delivery *delivery) {
    const struct handler_call *call = wire->data;
    struct checkpoint_batch *out = answer_new(delivery, sizeof(*out));
    pawl_status status = world->store->ops->events.checkpoint_events(world->store, &call->ref, EVENTS_MAX,
                                                                     delivery->arena, out, &wire->error);
    if (status == PAWL_OK)
        history_checkpoint_read(&world->kinds.events.history, SIM_OUTSIDE, stream_of(call->ref.stream),
                                call->ref.token, &out->list);
    return status;
}

/* The handler works for a while, perhaps for longer than its lease. */
static void reply_read(struct world *world, struct wire *wire) {
    const struct checkpoint_batch *batch = wire->status == PAWL_OK ? wire->delivery->answer : NULL;
    struct stream_slot *slot = waiting(world, wire);
    if (slot == NULL)
        return;
    if (batch == NULL) {
        finish(world, wire->worker, slot, OUTCOME_SNOOZE, world->swarm.poll_ms);
        return;
    }
    slot->read = true;
    slot->more = batch->more;
    slot->reached = batch->through;
    bool late = world_strikes(world, FAULT_HANG);
    wait_for(world, wire->worker, slot,
             late ? rng_range(&world->rng, world->swarm.lease_ms, world->swarm.lease_ms * 3)
                  : rng_range(&world->rng, 0, world->swarm.handler_ms));
}

static const struct wire_call read_call = {"checkpoint read", execute_read, reply_read};

static pawl_status execute_move(struct world *world, struct wire *wire, struct delivery *delivery) {
    const struct handler_call *call = wire->data;
    struct answer_list *out = answer_new(delivery, sizeof(*out));
    struct checkpoints_report in = {wire->instance, &call->report, 1};
    pawl_status status =
        world->store->ops->core.checkpoints_report(world->store, &in, delivery->arena, out, &wire->error);
    if (status != PAWL_OK)
        return status;
    mutant_after_call(world, wire, delivery);
    tell_reported(world, &call->report, out->answers[0]);
    return PAWL_OK;
}

static void reply_move(struct world *world, struct wire *wire) {
    const struct answer_list *out = wire->status == PAWL_OK ? wire->delivery->answer : NULL;
    struct stream_slot *slot = waiting(world, wire);
    if (slot == NULL)
        return;
    bool ours = out != NULL && (out->answers[0] == ANSWER_APPLIED || out->answers[0] == ANSWER_DUPLICATE);
    if (ours && slot->cancelled == STOP_NONE)
        send(world, wire->worker, slot, &read_call);
    else
        finish(world, wire->worker, slot, OUTCOME_SNOOZE, ours ? 0 : world->swarm.poll_ms);
}

const struct wire_call checkpoint_report_call = {"checkpoint report", execute_move, reply_move};

void stream_slot_advanced(struct world *world, int index, int number, uint64_t call, bool answered,
                          bool found) {
    struct stream_slot *slot = slot_of(world, index, number);
    if (!slot->busy || slot->working || slot->number != call)
        return;
    finish(world, index, slot, found || !answered ? OUTCOME_SNOOZE : OUTCOME_DONE,
           answered ? 0 : world->swarm.poll_ms);
}

static void go_on(struct world *world, const struct occasion *occasion) {
    struct worker *worker = &world->workers[occasion->worker];
    int at = 0;
    while (at < world->swarm.slots &&
           (!worker->stream_slots[at].busy || worker->stream_slots[at].number != occasion->number))
        at++;
    if (at == world->swarm.slots)
        return; /* it was interrupted meanwhile */
    struct stream_slot *slot = &worker->stream_slots[at];
    if (slot->cancelled != STOP_NONE) {
        finish(world, occasion->worker, slot, OUTCOME_CANCELLED, 0);
    } else if (!slot->read && worker_boot_ms(worker, world->now_ms) >= slot->fence_ms) {
        finish(world, occasion->worker, slot, OUTCOME_NOT_RUN, 0);
    } else if (slot->token == 0) {
        slot->number = ++world->numbers;
        slot->working = false;
        sim_events_turn(world, occasion->worker, at, slot->number, slot->name);
    } else if (!slot->read) {
        send(world, occasion->worker, slot, &read_call);
    } else {
        slot->version = slot->reached;
        if (slot->more)
            send(world, occasion->worker, slot, &checkpoint_report_call);
        else
            finish(world, occasion->worker, slot, OUTCOME_DONE, 0);
    }
}

void stream_slots_die(struct world *world, int index) {
    struct worker *worker = &world->workers[index];
    for (int i = 0; worker->stream_slots != NULL && i < world->swarm.slots; i++)
        worker->stream_slots[i].busy = false;
}
