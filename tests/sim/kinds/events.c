/* Events: appends, perspectives whose models are in the store, and what an operator does to them. */
#include "sim/kinds/events.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"
#include "sim/world/world.h"

enum { NAME_BYTES = 24, BATCH = 4, BACKFILL = 3 };

#define MODEL(key)                                                                                           \
    "INSERT INTO sim_model (perspective, stream, fold, count) SELECT '" key                                  \
    "', stream, CASE WHEN payload ->> 'v' < 0 THEN abs(-9223372036854775807 - 1) ELSE payload ->> 'v' END,"  \
    " 1 FROM event_rows(?1) WHERE TRUE ON CONFLICT (perspective, stream)"                                    \
    " DO UPDATE SET fold = (fold * 31 + excluded.fold) % 1000003, count = count + 1"
#define CLEAR(key)                                                                                           \
    "DELETE FROM sim_model WHERE perspective = '" key                                                        \
    "' AND (?1 IS NULL OR stream IN (SELECT value FROM json_each(?1)))"

static const char *const keys[] = {"p@1", "p@2", "q@1"};

static pawl_str stream_name(int stream, char name[NAME_BYTES]) {
    (void)snprintf(name, NAME_BYTES, "stream-%d", stream);
    return str_from(name);
}

static int stream_of(pawl_str name) { return name.ptr[name.len - 1] - '0'; }

pawl_status sim_append(struct world *world, struct wire *wire, int number, struct arena *arena) {
    const struct sim_message *message = &world->messages[number];
    pawl_event events[SIM_APPEND_MAX] = {0};
    char name[NAME_BYTES], payloads[SIM_APPEND_MAX][NAME_BYTES];
    int count = message->event_count;
    for (int i = 0; i < count; i++) {
        bool last = i + 1 == count;
        (void)snprintf(payloads[i], NAME_BYTES, "{\"v\":%d}", message->values[i]);
        events[i] = (pawl_event){.id = last ? message->id : message->event_ids[i],
                                 .type = !last                  ? STR("x0")
                                         : message->handler > 0 ? STR("e1")
                                                                : STR("e0"),
                                 .payload = str_from(payloads[i])};
    }
    struct events_append in = {.stream = stream_name(message->stream, name),
                               .expected = EXPECT_ANY,
                               .events = events,
                               .count = (size_t)count};
    struct append_result out = {0};
    mutant_before_append(world, &in);
    pawl_status status =
        world->store->ops->events.events_append(world->store, &in, arena, &out, &wire->error);
    if (status != PAWL_OK)
        return status;
    world_note(world, "append", number, message->stream, out.version);
    history_put(&world->history, number, out.answer);
    if (out.answer != ANSWER_APPLIED)
        return PAWL_OK;
    history_appended(&world->kinds.events.history, message->stream, out.first_version, message->values,
                     (size_t)count);
    sim_receptors_appended(world, number, (size_t)count);
    return PAWL_OK;
}

/* ---- Applying */

struct advance_data {
    int perspective, slot, message;
    bool due; /* a turn: what is due; else a message spoke of the stream */
    uint64_t number;
    char name[NAME_BYTES];
    pawl_str stream, mine[HISTORY_PERSPECTIVES_MAX];
    size_t mine_count;
    int left;     /* perspectives that come after this one */
    bool written; /* one call was carried out: every wake-up is written down */
};

static void tell_advanced(struct world *world, int perspective, pawl_str name,
                          const struct apply_item *item) {
    struct sim_events *events = &world->kinds.events;
    int stream = stream_of(name);
    char text[NAME_BYTES];
    struct history_model model = {0};
    ground_model(world->ground, keys[perspective], stream_name(stream, text).ptr, &model.fold, &model.count);
    world_note(world, "advance", perspective, stream, item->version);
    history_advanced(&events->history, perspective, stream, item, &model);
    bool stopped = item->answer == ANSWER_INVALID && item->outcome == FAIL_DEAD;
    events->stopped[perspective][stream] = stopped ? item->failed_version : 0;
}

static pawl_status execute_advance(struct world *world, struct wire *wire, struct delivery *delivery) {
    const struct advance_data *data = wire->data;
    struct advance_result *out = arena_alloc(delivery->arena, sizeof(*out));
    if (out == NULL)
        abort();
    *out = (struct advance_result){0};
    delivery->answer = out;
    struct perspective_advance in = {.instance = wire->instance,
                                     .perspective = str_from(keys[data->perspective]),
                                     .streams = &data->stream,
                                     .stream_count = data->due ? 0 : 1,
                                     .mine = data->mine,
                                     .mine_count = data->mine_count};
    pawl_status status =
        world->store->ops->events.perspective_advance(world->store, &in, delivery->arena, out, &wire->error);
    if (status != PAWL_OK)
        return status;
    mutant_after_call(world, wire, delivery);
    for (size_t i = 0; i < out->count; i++)
        tell_advanced(world, data->perspective, out->streams[i], &out->items[i]);
    return PAWL_OK;
}

static void advance_next(struct world *world, int index, const struct advance_data *last, bool fine);

static void reply_advance(struct world *world, struct wire *wire) {
    struct advance_data *data = wire->data;
    bool fine = wire->status == PAWL_OK || wire->status == PAWL_NOT_FOUND;
    bool found = wire->status == PAWL_OK && ((struct advance_result *)wire->delivery->answer)->count > 0;
    data->written = data->written || wire->status == PAWL_OK;
    if (data->due)
        stream_slot_advanced(world, wire->worker, data->slot, data->number, fine, found);
    else
        advance_next(world, wire->worker, data, fine);
}

const struct wire_call advance_call = {"advance", execute_advance, reply_advance};

static void send_advance(struct world *world, int index, const struct advance_data *data,
                         const struct wire_call *call) {
    struct wire *wire = wire_call_new(world, index, call, sizeof(*data));
    struct advance_data *copy = wire->data;
    *copy = *data;
    copy->stream = str_from(copy->name);
    wire_call_send(world, wire, 0);
}

/* The wake-up has been seen to; what it recorded for others is due now. */
static void wake_ended(struct world *world, int index, const struct advance_data *data, bool fine) {
    uint64_t life = world->workers[index].life;
    slot_called(world, index, data->slot, data->number, fine ? OUTCOME_DONE : OUTCOME_SNOOZE);
    if (fine && worker_alive(world, index) && world->workers[index].life == life &&
        world->kinds.events.registered[SIM_OUTSIDE])
        worker_event(world, index, (struct engine_event){.type = EVENT_DUE});
}

/* No perspective was advanced: what they have to apply is recorded by itself. */
static pawl_status execute_record(struct world *world, struct wire *wire, struct delivery *delivery) {
    const struct advance_data *data = wire->data;
    struct checkpoint_grants out = {0};
    struct checkpoints_claim in = {.instance = wire->instance,
                                   .streams = &data->stream,
                                   .stream_count = 1,
                                   .max = 1,
                                   .lease_ms = world->swarm.lease_ms};
    return world->store->ops->events.checkpoints_claim(world->store, &in, delivery->arena, &out,
                                                       &wire->error);
}

static void reply_record(struct world *world, struct wire *wire) {
    wake_ended(world, wire->worker, wire->data, wire->status == PAWL_OK);
}

static const struct wire_call record_call = {"record", execute_record, reply_record};

/* One perspective after the other; when the store did not answer, the wake-up is snoozed. */
static void advance_next(struct world *world, int index, const struct advance_data *last, bool fine) {
    struct advance_data data = *last;
    if (!fine || (last->left == 0 && last->written)) {
        wake_ended(world, index, last, fine);
        return;
    }
    if (last->left == 0) {
        send_advance(world, index, &data, &record_call);
        return;
    }
    data.perspective++;
    data.left--;
    send_advance(world, index, &data, &advance_call);
}

void sim_events_wake(struct world *world, int index, int slot, uint64_t number, int message) {
    const struct sim_events *events = &world->kinds.events;
    struct advance_data data = {.slot = slot, .number = number, .message = message};
    (void)stream_name(world->messages[message].stream, data.name);
    /* A worker reads the list every second: it may not know the newest. */
    int known = events->registered[SIM_NEW] && rng_chance(&world->rng, 7000) ? 2 : 1;
    for (int i = 0; i < known; i++)
        data.mine[data.mine_count++] = str_from(keys[i]);
    data.left = known - 1;
    send_advance(world, index, &data, &advance_call);
}

void sim_events_turn(struct world *world, int index, int slot, uint64_t number, const char *perspective) {
    struct advance_data data = {.perspective = perspective[2] == '1' ? SIM_OLD : SIM_NEW,
                                .slot = slot,
                                .number = number,
                                .due = true};
    send_advance(world, index, &data, &advance_call);
}

/* ---- Operators */

static void register_one(struct world *world, int perspective) {
    static const struct event_pattern all = {PATTERN_GLOB, {"*", 1}};
    static const char *const models[] = {MODEL("p@1"), MODEL("p@2"), NULL};
    static const char *const clears[] = {CLEAR("p@1"), CLEAR("p@2"), NULL};
    struct sim_events *events = &world->kinds.events;
    struct perspective_new in = {.name = perspective == SIM_OUTSIDE ? STR("q") : STR("p"),
                                 .version = perspective == SIM_NEW ? 2 : 1,
                                 .patterns = &all,
                                 .pattern_count = 1,
                                 .run = perspective == SIM_OUTSIDE ? RUN_COMMAND : RUN_SQL,
                                 .target = perspective == SIM_OUTSIDE ? STR("run")
                                                                      : str_from(models[perspective]),
                                 .batch = BATCH,
                                 .max_attempts = 2,
                                 .policy = world->swarm.kinds_on.skip_events ? POLICY_SKIP : POLICY_BLOCK};
    if (clears[perspective] != NULL)
        in.clear = str_from(clears[perspective]);
    struct perspective_registered out = {0};
    pawl_error error;
    world_must(world, world->store->ops->events.perspective_register(world->store, &in, &out, &error), &error,
               "perspective");
    events->registered[perspective] = true;
    events->backfilled[perspective] = out.backfilled;
    events->history.perspectives[perspective].fed = true;
    world_note(world, "registered", perspective, (int64_t)out.answer, out.backfilled);
}

void sim_events_begin(struct world *world) {
    if (!world->swarm.kinds_on.events)
        return;
    world->kinds.events.history.h = &world->history;
    register_one(world, SIM_OLD);
    if (rng_chance(&world->rng, 5000))
        register_one(world, SIM_OUTSIDE);
    sim_receptors_begin(world);
}

void sim_events_free(struct world *world) {
    free(world->kinds.events.order);
    free(world->kinds.events.noted);
}

static void rebuild(struct world *world, int perspective) {
    struct sim_events *events = &world->kinds.events;
    char name[NAME_BYTES];
    bool all = rng_chance(&world->rng, 5000);
    int stream = (int)rng_range(&world->rng, 0, world->swarm.streams - 1);
    pawl_str streams[] = {stream_name(stream, name)};
    struct perspective_reset in = {.perspective = str_from(keys[perspective]),
                                   .mode = RESET_REBUILD,
                                   .streams = streams,
                                   .stream_count = all ? 0 : 1};
    int64_t count = 0;
    pawl_error error;
    world_must(world, world->store->ops->events.perspective_reset(world->store, &in, &count, &error), &error,
               "rebuild");
    world_fault(world, FAULT_REBUILD);
    mutant_after_rebuild(world, keys[perspective]);
    world_note(world, "rebuild", perspective, all ? -1 : stream, count);
    history_rebuilt(&events->history, perspective, all ? -1 : stream);
}

/* An event that stops a stream is left out. */
static void skip_stopped(struct world *world, int perspective, int stream) {
    struct sim_events *events = &world->kinds.events;
    char name[NAME_BYTES];
    struct checkpoint_skip in = {.perspective = str_from(keys[perspective]),
                                 .stream = stream_name(stream, name),
                                 .version = events->stopped[perspective][stream],
                                 .reason = STR("it cannot be applied")};
    enum store_answer answer;
    pawl_error error;
    if (in.version == 0 || !events->history.perspectives[perspective].fed)
        return;
    world_must(world, world->store->ops->events.checkpoint_skip(world->store, &in, &answer, &error), &error,
               "skip");
    world_note(world, "skip", perspective, stream, in.version);
    events->stopped[perspective][stream] = 0;
}

static void switch_over(struct world *world) {
    struct sim_events *events = &world->kinds.events;
    struct arena *arena = arena_create(0);
    struct perspective_switch in = {.name = STR("p"), .version = 2};
    struct switch_result out = {0};
    pawl_error error;
    world_must(world, world->store->ops->events.perspective_switch(world->store, &in, arena, &out, &error),
               &error, "switch");
    mutant_after_switch(world, &out);
    world_note(world, "switch", (int64_t)out.answer, out.behind, 0);
    if (out.answer == ANSWER_APPLIED) {
        world_fault(world, FAULT_SWITCH);
        history_switched(&events->history, SIM_OLD, SIM_NEW);
        events->switched = true;
    }
    arena_free(arena);
}

void sim_events_operate(struct world *world) {
    struct sim_events *events = &world->kinds.events;
    pawl_error error;
    if (!world->swarm.kinds_on.events)
        return;
    for (int p = 0; p < HISTORY_PERSPECTIVES_MAX; p++) {
        for (int i = 0; i < world->swarm.streams && !world->history.violated; i++)
            skip_stopped(world, p, i);
    }
    if (!events->registered[SIM_NEW] && world_strikes(world, FAULT_SWITCH))
        register_one(world, SIM_NEW);
    for (int p = 0; p < HISTORY_PERSPECTIVES_MAX; p++) {
        bool done = false;
        if (!events->registered[p] || events->backfilled[p])
            continue;
        world_must(world,
                   world->store->ops->events.perspective_backfill(world->store, str_from(keys[p]), BACKFILL,
                                                                  &done, &error),
                   &error, "backfill");
        events->backfilled[p] = done;
    }
    for (int p = SIM_OLD; p <= SIM_NEW; p++) {
        if (events->registered[p] && events->backfilled[p] && events->history.perspectives[p].fed &&
            world_strikes(world, FAULT_REBUILD))
            rebuild(world, p);
    }
    if (events->registered[SIM_NEW] && events->backfilled[SIM_NEW] && !events->switched &&
        rng_chance(&world->rng, 5000))
        switch_over(world);
}

bool sim_events_drained(struct world *world) {
    const struct sim_events *events = &world->kinds.events;
    if (!world->swarm.kinds_on.events)
        return true;
    bool filled = !events->registered[SIM_NEW] || (events->backfilled[SIM_NEW] && events->switched);
    return filled && history_events_applied(&events->history, world->swarm.streams) &&
           sim_receptors_drained(world);
}

void sim_events_end(struct world *world) {
    struct sim_events *events = &world->kinds.events;
    char name[NAME_BYTES];
    for (int p = SIM_OLD; world->swarm.kinds_on.events && p <= SIM_NEW; p++) {
        for (int i = 0; events->history.perspectives[p].fed && i < world->swarm.streams; i++) {
            struct history_model model = {0};
            ground_model(world->ground, keys[p], stream_name(i, name).ptr, &model.fold, &model.count);
            history_model_check(&events->history, p, i, &model);
        }
    }
}
