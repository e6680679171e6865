/* What the store does with a request, and what the checker is told of it. */
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/uuid.h"
#include "sim/world/alloc.h"
#include "sim/world/world.h"

enum { PUT_MAX = 32, NAME_BYTES = 16 };

/* What a wake-up says of a single message; several may be anywhere. */
static struct lane_name place_of(struct world *world, const struct messages_put *in) {
    struct settings settings;
    char id[UUID_TEXT_BYTES];
    pawl_error error;
    if (in->count != 1 || world->store->ops->core.settings_read(world->store, &settings, &error) != PAWL_OK)
        return (struct lane_name){0};
    pawl_str stream = in->messages[0].stream;
    pawl_str key = str_absent(stream) ? str_from(uuid_format(in->messages[0].id, id)) : stream;
    uint32_t partition = partition_of(key, (uint32_t)settings.partition_count);
    return (struct lane_name){(int)in->kind, (int)lane_of(partition, (uint32_t)settings.lane_count)};
}

/* Who wants to be woken hears of it, unless it gets lost. */
static void wake_up(struct world *world, struct lane_name place) {
    bool wished = false;
    for (int i = 0; i < world->swarm.workers; i++)
        wished = wished || world->workers[i].wish_until_ms > world_db_ms(world);
    for (int i = 0; wished && i < world->swarm.workers; i++) {
        if (world_strikes(world, FAULT_DEAF_WAKE))
            world_fault(world, FAULT_DEAF_WAKE);
        else
            world_push(world, rng_range(&world->rng, 0, world->swarm.latency_ms),
                       (struct occasion){.what = HAPPENS_WAKE, .worker = i, .place = place});
    }
}

static pawl_status append_all(struct world *world, struct wire *wire, struct arena *arena) {
    pawl_status status = PAWL_OK;
    for (int i = wire->first_message; status == PAWL_OK && i < wire->first_message + wire->message_count;
         i++) {
        if (world->messages[i].role == ROLE_WAKE)
            status = sim_append(world, wire, i, arena);
    }
    wake_up(world, (struct lane_name){0});
    return status;
}

pawl_status execute_put(struct world *world, struct wire *wire, struct arena *arena) {
    if (world->messages[wire->first_message].role == ROLE_WAKE)
        return append_all(world, wire, arena);
    pawl_outgoing messages[PUT_MAX] = {0};
    char streams[PUT_MAX][NAME_BYTES], types[PUT_MAX][NAME_BYTES];
    for (int i = 0; i < wire->message_count; i++) {
        const struct sim_message *message = &world->messages[wire->first_message + i];
        (void)snprintf(streams[i], NAME_BYTES, "stream-%d", message->stream);
        (void)snprintf(types[i], NAME_BYTES, "h%d", message->handler);
        messages[i] = (pawl_outgoing){
            .id = message->id,
            .stream = message->stream >= 0 ? str_from(streams[i]) : (pawl_str){NULL, 0},
            .type = str_from(types[i]),
            .payload = STR("{}"),
        };
    }
    struct messages_put in = {
        .kind = world->messages[wire->first_message].kind,
        .messages = messages,
        .count = (size_t)wire->message_count,
        .consumer = wire->consumer,
        .request = wire->request,
    };
    struct put_result out = {0};
    mutant_before_put(world, &in);
    pawl_status status = world->store->ops->core.messages_put(world->store, &in, arena, &out, &wire->error);
    if (status != PAWL_OK)
        return status;
    mutant_after_put(world, &in);
    bool any = false;
    for (int i = 0; i < wire->message_count; i++) {
        history_put(&world->history, wire->first_message + i, out.answers[i]);
        bool applied = out.answers[i] == ANSWER_APPLIED;
        history_share_added(&world->kinds.share, SIDE_MESSAGES, applied, world->now_ms);
        any = any || applied;
    }
    if (any)
        wake_up(world, place_of(world, &in));
    return PAWL_OK;
}

static int completion_compare(const void *a, const void *b, void *self) {
    const struct history *history = self;
    int x = *(const int *)a, y = *(const int *)b;
    const struct history_message *m = &history->messages[x], *n = &history->messages[y];
    if (m->stream != n->stream)
        return m->stream < n->stream ? -1 : 1;
    if (m->position != n->position)
        return m->position < n->position ? -1 : 1;
    return (x > y) - (x < y);
}

/* A call completes a set: the checker hears of it in the order of the streams. */
static void tell_completions(struct world *world, const struct complete_item *items, size_t count,
                             const enum store_answer *answers) {
    if (count == 0)
        return;
    int *order = sim_alloc(count * sizeof(*order));
    for (size_t i = 0; i < count; i++)
        order[i] = world_number(items[i].ref.id);
    qsort_r(order, count, sizeof(*order), completion_compare, &world->history);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            if (world_number(items[j].ref.id) != order[i] || (i > 0 && order[i] == order[i - 1]))
                continue;
            world_note(world, "complete", order[i], items[j].ref.token, (int64_t)answers[j]);
            history_completed(&world->history, order[i], items[j].ref.token, answers[j], world_db_ms(world));
        }
    }
    free(order);
}

static void tell_kind(struct world *world, const struct wire *wire, int kind,
                      const struct work_batch_result *result) {
    const struct work_batch *batch = &wire->batch;
    struct history *history = &world->history;
    int64_t now_ms = world_db_ms(world);
    int instance = world_number(wire->instance);
    for (size_t i = 0; i < batch->renewal_count[kind]; i++) {
        struct item_ref ref = batch->renewals[kind][i];
        history_renewed(history, instance, ref.token, uuid_is_nil(ref.id) ? -1 : world_number(ref.id),
                        result->renewed[kind].answers[i], now_ms);
        world_note(world, "renew", instance, ref.token, (int64_t)result->renewed[kind].answers[i]);
    }
    tell_completions(world, batch->completions[kind], batch->completion_count[kind],
                     result->completed[kind].answers);
    for (size_t i = 0; i < batch->failure_count[kind]; i++) {
        const struct fail_item *item = &batch->failures[kind][i];
        world_note(world, "fail", world_number(item->ref.id), item->ref.token,
                   (int64_t)result->failed[kind].answers[i]);
        history_failed(history, world_number(item->ref.id), item->ref.token, result->failed[kind].answers[i],
                       result->failed[kind].outcomes[i], item->error_class == CLASS_PERMANENT, now_ms);
    }
    for (size_t i = 0; i < batch->release_count[kind]; i++) {
        struct item_ref ref = batch->releases[kind][i].ref;
        world_note(world, "release", world_number(ref.id), ref.token,
                   (int64_t)result->released[kind].answers[i]);
        history_released(history, world_number(ref.id), ref.token, result->released[kind].answers[i], now_ms);
    }
}

pawl_status execute_batch(struct world *world, struct wire *wire, struct arena *arena,
                          struct work_batch_result *result) {
    struct work_batch batch = wire->batch;
    mutant_before_batch(world, wire, &batch);
    pawl_status status = store_batch(world->store, &batch, arena, result, &wire->error);
    mutant_after_batch(world, wire, status == PAWL_OK ? result : NULL, arena);
    if (status != PAWL_OK)
        return status;
    int instance = world_number(wire->instance);
    history_call_begins(&world->history);
    if (batch.only.kind == 0)
        history_instance_heard(&world->history, instance, world_db_ms(world));
    if (batch.only.kind == 0)
        history_instance_lease(&world->history, instance, result->lease_until_ms);
    for (int kind = 1; kind <= KIND_COUNT; kind++)
        tell_kind(world, wire, kind, result);
    for (int kind = 1; kind <= KIND_COUNT; kind++) {
        for (size_t i = 0; i < result->claimed[kind].count; i++) {
            const struct item *item = &result->claimed[kind].items[i];
            world_note(world, "grant", instance, world_number(item->id), item->token);
            struct history_message *message = &world->history.messages[world_number(item->id)];
            bool again = message->token == item->token; /* the same call, carried out twice */
            history_granted(&world->history, world_number(item->id), item, instance, world_db_ms(world));
            message->excused = again ? message->excused : batch.only.kind != 0;
        }
    }
    return PAWL_OK;
}

pawl_status execute_report(struct world *world, struct wire *wire, struct arena *arena) {
    const struct engine_report *report = &wire->report;
    const struct store_core_ops *ops = &world->store->ops->core;
    struct answer_list answers = {0};
    int64_t now_ms = world_db_ms(world);
    if (report->failed) {
        struct messages_fail in = {wire->instance, report->kind, &report->fail, 1};
        pawl_status status = ops->messages_fail(world->store, &in, arena, &answers, &wire->error);
        if (status != PAWL_OK)
            return status;
        wire->answer = answers.answers[0];
        wire->fail = answers.outcomes[0];
        mutant_after_fail(world, wire);
        world_note(world, "fail", world_number(report->fail.ref.id), report->fail.ref.token,
                   (int64_t)wire->answer);
        history_failed(&world->history, world_number(report->fail.ref.id), report->fail.ref.token,
                       wire->answer, wire->fail, report->fail.error_class == CLASS_PERMANENT, now_ms);
        return PAWL_OK;
    }
    struct messages_complete in = {wire->instance, report->kind, &report->complete, 1, false};
    pawl_status status = ops->messages_complete(world->store, &in, arena, &answers, &wire->error);
    if (status != PAWL_OK)
        return status;
    wire->answer = answers.answers[0];
    mutant_after_complete(world, wire);
    tell_completions(world, &report->complete, 1, &wire->answer);
    return PAWL_OK;
}

pawl_status execute_register(struct world *world, struct wire *wire) {
    struct instance_grant grant = {0};
    pawl_status status =
        world->store->ops->core.instance_register(world->store, &wire->registration, &grant, &wire->error);
    if (status != PAWL_OK)
        return status;
    wire->beat.now_ms = grant.now_ms;
    wire->beat.lease_until_ms = grant.lease_until_ms;
    history_instance_lease(&world->history, world_number(wire->registration.id), grant.lease_until_ms);
    return PAWL_OK;
}

pawl_status execute_beat(struct world *world, struct wire *wire) {
    const struct store_ops *ops = world->store->ops;
    pawl_status status = ops->core.instance_full(world->store, wire->instance, wire->full, &wire->error);
    if (status == PAWL_OK)
        status = ops->core.heartbeat(world->store, wire->instance, -1, &wire->beat, &wire->error);
    if (status != PAWL_OK)
        return status;
    mutant_after_beat(world, wire);
    history_instance_heard(&world->history, world_number(wire->instance), world_db_ms(world));
    history_instance_lease(&world->history, world_number(wire->instance), wire->beat.lease_until_ms);
    for (enum engine_channel channel = 0; channel < CHANNEL_COUNT; channel++) {
        const struct grants_settle *known = &wire->known[channel];
        wire->has_settled[channel] =
            known->side != 0 &&
            ops->core.grants_settle(world->store, known, &wire->settled[channel], &wire->error) == PAWL_OK;
        if (wire->has_settled[channel] && channel == CHANNEL_JOBS)
            history_jobs_settled(&world->kinds.jobs, world_number(wire->instance), known, world_db_ms(world));
        else if (wire->has_settled[channel] && channel == CHANNEL_PERSPECTIVES)
            history_checkpoints_settled(&world->kinds.events.history, world_number(wire->instance), known);
        else if (wire->has_settled[channel])
            history_settled(&world->history, world_number(wire->instance), known, world_db_ms(world));
    }
    struct arena *arena = arena_create(0);
    struct instance_rows rows = {0};
    status = ops->view.instances(world->store, arena, &rows, &wire->error);
    const struct settings settings = {.lane_count = world->swarm.lanes,
                                      .partition_count = world->swarm.partitions};
    wire->peers = (struct engine_peers){0};
    if (status == PAWL_OK)
        wire->peers = engine_peers_of(&(struct engine_peers_in){&rows, wire->instance,
                                                                &world->workers[wire->worker].config.instance,
                                                                &settings, &wire->beat, wire->full});
    arena_free(arena);
    return status;
}

/* A put that was on its way when the wish was made may not have seen it. */
void execute_wait_begin(struct world *world, struct wire *wire) {
    world->workers[wire->worker].wish_until_ms = world_db_ms(world) + PAWL_WAIT_MS;
    wire->late = world->puts_open > 0 && rng_chance(&world->rng, 5000);
}

pawl_status execute_deregister(struct world *world, struct wire *wire) {
    mutant_before_deregister(world, wire);
    pawl_status status =
        world->store->ops->core.instance_deregister(world->store, wire->instance, &wire->error);
    mutant_after_deregister(world, wire);
    if (status == PAWL_OK) {
        kinds_left(world, world_number(wire->instance));
        history_instance_left(&world->history, world_number(wire->instance), world_db_ms(world));
    }
    return status;
}
