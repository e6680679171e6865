/* A perspective whose handler is outside of the store: its checkpoints are claimed, read and reported. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "sim/world/world.h"

enum { GRANTS_MAX = 3, EVENTS_MAX = 4, NAME_BYTES = 24 };

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

/* A checkpoint that a handler has in hand. */
struct hold {
    char name[NAME_BYTES];
    struct checkpoint_ref ref;
    struct checkpoint_report report;
};

static pawl_status execute_move(struct world *world, struct wire *wire, struct delivery *delivery) {
    struct hold *hold = wire->data;
    struct answer_list *out = answer_new(delivery, sizeof(*out));
    struct checkpoints_report in = {wire->instance, &hold->report, 1};
    pawl_status status =
        world->store->ops->core.checkpoints_report(world->store, &in, delivery->arena, out, &wire->error);
    if (status != PAWL_OK)
        return status;
    mutant_after_call(world, wire, delivery);
    world_note(world, "checkpoint", stream_of(hold->ref.stream), hold->report.version,
               (int64_t)out->answers[0]);
    history_checkpoint_reported(&world->kinds.events.history, SIM_OUTSIDE, stream_of(hold->ref.stream),
                                hold->ref.token, hold->report.version, hold->report.status, out->answers[0],
                                world_db_ms(world));
    return PAWL_OK;
}

static struct wire *hold_wire(struct world *world, int index, const struct wire_call *call,
                              const struct hold *hold) {
    struct wire *wire = wire_call_new(world, index, call, sizeof(*hold));
    struct hold *copy = wire->data;
    *copy = *hold;
    copy->ref.stream = str_from(copy->name);
    copy->report.stream = copy->ref.stream;
    return wire;
}

static const struct wire_call read_call;

static void reply_report(struct world *world, struct wire *wire) {
    const struct hold *hold = wire->data;
    const struct answer_list *out = wire->status == PAWL_OK ? wire->delivery->answer : NULL;
    if (out != NULL && out->answers[0] == ANSWER_APPLIED && hold->report.status == CHECKPOINT_PROCESSING)
        wire_call_send(world, hold_wire(world, wire->worker, &read_call, hold), 0);
}

const struct wire_call checkpoint_report_call = {"checkpoint report", execute_move, reply_report};

static pawl_status execute_read(struct world *world, struct wire *wire, struct delivery *delivery) {
    struct hold *hold = wire->data;
    struct checkpoint_batch *out = answer_new(delivery, sizeof(*out));
    pawl_status status = world->store->ops->events.checkpoint_events(world->store, &hold->ref, EVENTS_MAX,
                                                                     delivery->arena, out, &wire->error);
    if (status == PAWL_OK)
        history_checkpoint_read(&world->kinds.events.history, SIM_OUTSIDE, stream_of(hold->ref.stream),
                                hold->ref.token, &out->list);
    return status;
}

/* The handler works for a while, perhaps for longer than its lease. */
static void reply_read(struct world *world, struct wire *wire) {
    const struct hold *hold = wire->data;
    const struct checkpoint_batch *batch = wire->status == PAWL_OK ? wire->delivery->answer : NULL;
    if (batch == NULL)
        return;
    struct hold next = *hold;
    next.report =
        (struct checkpoint_report){.perspective = key,
                                   .version = batch->through,
                                   .token = hold->ref.token,
                                   .status = batch->more ? CHECKPOINT_PROCESSING : CHECKPOINT_COMPLETED};
    bool late = world_strikes(world, FAULT_HANG);
    int64_t for_ms = late ? rng_range(&world->rng, world->swarm.lease_ms, world->swarm.lease_ms * 3)
                          : rng_range(&world->rng, 0, world->swarm.handler_ms);
    wire_call_send(world, hold_wire(world, wire->worker, &checkpoint_report_call, &next), for_ms);
}

static const struct wire_call read_call = {"checkpoint read", execute_read, reply_read};

/* What is due, or one stream. */
struct claim_data {
    bool named;
    char name[NAME_BYTES];
    int slot;
    uint64_t number;
};

static pawl_status execute_claim(struct world *world, struct wire *wire, struct delivery *delivery) {
    struct checkpoint_grants *out = answer_new(delivery, sizeof(*out));
    const struct claim_data *data = wire->data;
    pawl_str stream = str_from(data->name);
    struct checkpoints_claim in = {.instance = wire->instance,
                                   .streams = &stream,
                                   .stream_count = data->named,
                                   .perspectives = &key,
                                   .perspective_count = world->kinds.events.registered[SIM_OUTSIDE],
                                   .max = GRANTS_MAX,
                                   .lease_ms = world->swarm.lease_ms};
    pawl_status status =
        world->store->ops->events.checkpoints_claim(world->store, &in, delivery->arena, out, &wire->error);
    if (status != PAWL_OK)
        return status;
    mutant_after_call(world, wire, delivery);
    for (size_t i = 0; i < out->count; i++) {
        world_note(world, "checkpoint grant", stream_of(out->grants[i].stream), out->grants[i].version,
                   out->grants[i].token);
        history_checkpoint_granted(&world->kinds.events.history, SIM_OUTSIDE,
                                   stream_of(out->grants[i].stream), world_number(wire->instance),
                                   &out->grants[i], world_db_ms(world));
    }
    return PAWL_OK;
}

static void reply_claim(struct world *world, struct wire *wire) {
    const struct claim_data *data = wire->data;
    const struct checkpoint_grants *out = wire->status == PAWL_OK ? wire->delivery->answer : NULL;
    if (data->named)
        slot_called(world, wire->worker, data->slot, data->number,
                    out != NULL ? OUTCOME_DONE : OUTCOME_SNOOZE);
    if (!worker_alive(world, wire->worker) || world->workers[wire->worker].life != wire->life)
        return;
    for (size_t i = 0; out != NULL && i < out->count; i++) {
        struct hold hold = {.ref = {{NULL, 0}, key, out->grants[i].token}};
        (void)snprintf(hold.name, NAME_BYTES, "%.*s", STR_ARG(out->grants[i].stream));
        wire_call_send(world, hold_wire(world, wire->worker, &read_call, &hold), 0);
    }
}

const struct wire_call checkpoint_claim_call = {"checkpoint claim", execute_claim, reply_claim};

void sim_outside_wake(struct world *world, int index, int slot, uint64_t number, const char *stream) {
    struct wire *wire = wire_call_new(world, index, &checkpoint_claim_call, sizeof(struct claim_data));
    struct claim_data *data = wire->data;
    *data = (struct claim_data){.named = true, .slot = slot, .number = number};
    (void)snprintf(data->name, NAME_BYTES, "%s", stream);
    wire_call_send(world, wire, 0);
}

static void claim(struct world *world, const struct occasion *occasion) {
    wire_call_send(
        world, wire_call_new(world, occasion->worker, &checkpoint_claim_call, sizeof(struct claim_data)), 0);
    if (!world->stopping)
        world_push(world, world->swarm.poll_ms * 2, *occasion);
}

void sim_outside_worker(struct world *world, int index) {
    if (!world->kinds.events.registered[SIM_OUTSIDE])
        return;
    world_push(world, rng_range(&world->rng, 0, 500),
               (struct occasion){
                   .what = HAPPENS_THEN, .worker = index, .life = world->workers[index].life, .then = claim});
}
