/* The operations of the differential test, each run on both sides with the same input. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/uuid.h"
#include "conformance/differential/differential.h"
#include "support/check.h"

static void advance(struct world *world) {
    static const int64_t steps_ms[] = {1, 10, 100, 400, 900, 1000, 1000, 1500, 2500, 6000};
    static const int64_t leaps_ms[] = {15000, 30000, 30000, 700000, 4000000};
    int64_t step_ms = chance(world, 95) ? steps_ms[pick(world, 10)] : leaps_ms[pick(world, 5)];
    world->now_ms += step_ms;
    describe(world, "advance %" PRId64, step_ms);
    const struct settings_change change = {-1, -1, -1, -1, world->now_ms, -1, -1};
    for (int s = 0; s < SIDES; s++) {
        pawl_error err = {0};
        (void)say_status(world, s, CORE(world, s)->settings_change(world->side[s].store, &change, &err),
                         &err);
    }
}

static void instance_register(struct world *world) {
    int slot = pick(world, WORLD_INSTANCES);
    bool again = chance(world, 5);
    if (!again)
        world->instances[slot] = numbered_id(1, ++world->instances_made);
    struct instance_new in = instance_input(world, world->instances[slot]);
    if (uuid_is_nil(in.id))
        in.id = world->instances[slot] = numbered_id(1, ++world->instances_made);
    describe(world, "register kinds=%d lease=%" PRId64 " cap=%d slots=%d", in.kinds, in.lease_ms,
             in.max_partitions, in.slots);
    describe_id(world, "id", in.id);
    for (int s = 0; s < SIDES; s++) {
        pawl_error err = {0};
        struct instance_grant out = {0};
        if (say_status(world, s, CORE(world, s)->instance_register(world->side[s].store, &in, &out, &err),
                       &err))
            say(&world->side[s], " now=%" PRId64 " until=%" PRId64 " epoch=%" PRId64 " lanes=%d", out.now_ms,
                out.lease_until_ms, out.epoch, out.lanes_owned);
    }
}

static void say_beat(struct side *side, const struct beat_result *beat) {
    say(side, " now=%" PRId64 " until=%" PRId64 " owned=%d,%d,%d taken=%d given=%d evicted=%d", beat->now_ms,
        beat->lease_until_ms, beat->lanes_owned[1], beat->lanes_owned[2], beat->lanes_owned[3],
        beat->lanes_taken, beat->lanes_given, beat->evicted);
}

static void heartbeat(struct world *world, bool rebalance) {
    pawl_uuid id = chance(world, 70) ? live_pick(world) : instance_pick(world);
    enum store_kind kind = chance(world, 50) ? KIND_OUTBOX : KIND_INBOX;
    describe(world, "%s kind=%d", rebalance ? "rebalance" : "heartbeat", (int)kind);
    describe_id(world, "id", id);
    for (int s = 0; s < SIDES; s++) {
        pawl_error err = {0};
        struct beat_result out = {0};
        struct store *store = world->side[s].store;
        pawl_status status = rebalance ? CORE(world, s)->lanes_rebalance(store, id, kind, &out, &err)
                                       : CORE(world, s)->heartbeat(store, id, -1, &out, &err);
        if (say_status(world, s, status, &err))
            say_beat(&world->side[s], &out);
    }
}

static void instance_leave(struct world *world, bool evict) {
    pawl_uuid id = instance_pick(world);
    describe(world, evict ? "evict" : "deregister");
    describe_id(world, "id", id);
    for (int s = 0; s < SIDES; s++) {
        pawl_error err = {0};
        struct store *store = world->side[s].store;
        (void)say_status(world, s,
                         evict ? CORE(world, s)->instance_evict(store, id, &err)
                               : CORE(world, s)->instance_deregister(store, id, &err),
                         &err);
    }
}

static void instance_full(struct world *world) {
    pawl_uuid id = chance(world, 80) ? live_pick(world) : instance_pick(world);
    bool full = chance(world, 40);
    describe(world, "full=%d", full);
    describe_id(world, "id", id);
    for (int s = 0; s < SIDES; s++) {
        pawl_error err = {0};
        (void)say_status(world, s, CORE(world, s)->instance_full(world->side[s].store, id, full, &err), &err);
    }
}

static void peers_look(struct world *world) {
    pawl_uuid id = instance_pick(world);
    describe(world, "peers_look");
    describe_id(world, "id", id);
    for (int s = 0; s < SIDES; s++) {
        pawl_error err = {0};
        struct peers_look out = {0};
        if (say_status(world, s, CORE(world, s)->peers_look(world->side[s].store, id, &out, &err), &err))
            say(&world->side[s], " evicted=%d wanted=%d", out.evicted, out.rebalance_wanted ? 1 : 0);
    }
}

void operation_instance(struct world *world) {
    int which = pick(world, 100);
    if (which < 62)
        heartbeat(world, false);
    else if (which < 70)
        heartbeat(world, true);
    else if (which < 76)
        instance_full(world);
    else if (which < 88)
        instance_register(world);
    else if (which < 92)
        instance_leave(world, true);
    else if (which < 96)
        instance_leave(world, false);
    else
        peers_look(world);
}

static enum store_kind kind_pick(struct world *world) {
    int which = pick(world, 100);
    return which < 55 ? KIND_OUTBOX : which < 96 ? KIND_INBOX : KIND_PERSPECTIVE;
}

void operation_put(struct world *world) {
    pawl_outgoing messages[CALL_ITEMS];
    struct messages_put in = {.kind = kind_pick(world), .messages = messages, .request = request_pick(world)};
    in.count = messages_pick(world, in.kind, messages, 5);
    if (in.kind == KIND_INBOX)
        in.consumer = chance(world, 80) ? STR("orders") : STR("billing");
    if (chance(world, 1))
        messages[0].payload = STR("{not json");
    describe(world, "put kind=%d count=%zu", (int)in.kind, in.count);
    describe_id(world, "request", in.request);
    for (size_t i = 0; i < in.count; i++) {
        describe_id(world, "id", messages[i].id);
        describe(world, ":%.*s", STR_ARG(messages[i].stream));
    }
    for (int s = 0; s < SIDES; s++) {
        pawl_error err = {0};
        struct put_result out = {0};
        struct side *side = &world->side[s];
        if (say_status(world, s, CORE(world, s)->messages_put(side->store, &in, side->arena, &out, &err),
                       &err))
            say_put(side, &out, in.count);
    }
}

static int64_t lease_pick(struct world *world) {
    static const int64_t leases_ms[] = {500, 1000, 2000, 5000, 10000, 60000};
    return leases_ms[pick(world, 6)];
}

void operation_claim(struct world *world) {
    struct messages_claim in = {.instance = live_pick(world),
                                .kind = kind_pick(world),
                                .max = 1 + pick(world, chance(world, 70) ? 6 : 30),
                                .lease_ms = lease_pick(world),
                                .policy = chance(world, 50) ? POLICY_DEFAULT
                                                            : (enum dead_policy)(1 + pick(world, 3)),
                                .max_attempts = chance(world, 50) ? 0 : 1 + pick(world, 3),
                                .request = request_pick(world),
                                .one_lane = chance(world, 40)};
    in.lane = in.one_lane ? pick(world, WORLD_LANES + 1) : 0;
    struct item_list lists[SIDES] = {{NULL, 0}, {NULL, 0}};
    describe(world, "claim kind=%d max=%d lease=%" PRId64 " policy=%d attempts=%d lane=%d", (int)in.kind,
             in.max, in.lease_ms, (int)in.policy, in.max_attempts, in.one_lane ? in.lane : -1);
    describe_id(world, "instance", in.instance);
    describe_id(world, "request", in.request);
    for (int s = 0; s < SIDES; s++) {
        pawl_error err = {0};
        struct side *side = &world->side[s];
        if (say_status(world, s,
                       CORE(world, s)->messages_claim(side->store, &in, side->arena, &lists[s], &err), &err))
            say_items(world, s, &lists[s]);
    }
    size_t before = world->grant_count;
    grant_note(world, lists);
    for (; before < world->grant_count; before++)
        world->grants[before % WORLD_GRANTS].instance = in.instance;
}

/* The instance of the grant, but for a few reports by another. */
static pawl_uuid reporter_pick(struct world *world, const struct grant *grant) {
    return chance(world, 97) ? grant->instance : instance_pick(world);
}

static void complete(struct world *world, const struct grant *grant) {
    struct item_ref refs[SIDES][CALL_ITEMS];
    size_t count = refs_pick(world, grant, refs);
    struct complete_item items[SIDES][CALL_ITEMS];
    struct messages_complete in = {reporter_pick(world, grant), grant->kind, NULL, count, chance(world, 3)};
    describe(world, "complete kind=%d debug=%d", (int)in.kind, in.debug ? 1 : 0);
    describe_refs(world, refs[0], count);
    for (size_t i = 0; i < count; i++) {
        int status = complete_status(world);
        for (int s = 0; s < SIDES; s++)
            items[s][i] = (struct complete_item){refs[s][i], status};
        describe(world, " status=%d", status);
    }
    for (int s = 0; s < SIDES; s++) {
        pawl_error err = {0};
        struct answer_list out = {0};
        struct side *side = &world->side[s];
        in.items = items[s];
        if (say_status(world, s, CORE(world, s)->messages_complete(side->store, &in, side->arena, &out, &err),
                       &err))
            say_answers(side, "complete", &out);
    }
}

static void fail_some(struct world *world, const struct grant *grant) {
    struct item_ref refs[SIDES][CALL_ITEMS];
    size_t count = refs_pick(world, grant, refs);
    if (chance(world, 70))
        count = 1;
    struct fail_item items[SIDES][CALL_ITEMS];
    struct messages_fail in = {reporter_pick(world, grant), grant->kind, NULL, count};
    describe(world, "fail kind=%d", (int)in.kind);
    describe_refs(world, refs[0], count);
    for (size_t i = 0; i < count; i++) {
        struct fail_item item = {0};
        fail_input(world, &item);
        for (int s = 0; s < SIDES; s++) {
            items[s][i] = item;
            items[s][i].ref = refs[s][i];
        }
        describe(world, " class=%d delay=%" PRId64 " policy=%d attempts=%d", (int)item.error_class,
                 item.delay_ms, (int)item.policy, item.max_attempts);
    }
    for (int s = 0; s < SIDES; s++) {
        pawl_error err = {0};
        struct answer_list out = {0};
        struct side *side = &world->side[s];
        in.items = items[s];
        if (say_status(world, s, CORE(world, s)->messages_fail(side->store, &in, side->arena, &out, &err),
                       &err))
            say_answers(side, "fail", &out);
    }
}

static void release_some(struct world *world, const struct grant *grant) {
    struct item_ref refs[SIDES][CALL_ITEMS];
    size_t count = refs_pick(world, grant, refs);
    struct release_item items[SIDES][CALL_ITEMS];
    struct messages_release in = {reporter_pick(world, grant), grant->kind, NULL, count};
    describe(world, "release kind=%d", (int)in.kind);
    describe_refs(world, refs[0], count);
    for (size_t i = 0; i < count; i++) {
        int64_t delay_ms = chance(world, 60) ? 0 : 1000 * pick(world, 5);
        for (int s = 0; s < SIDES; s++)
            items[s][i] = (struct release_item){.ref = refs[s][i], .delay_ms = delay_ms};
        describe(world, " delay=%" PRId64, delay_ms);
    }
    for (int s = 0; s < SIDES; s++) {
        pawl_error err = {0};
        struct answer_list out = {0};
        struct side *side = &world->side[s];
        in.items = items[s];
        if (say_status(world, s, CORE(world, s)->messages_release(side->store, &in, side->arena, &out, &err),
                       &err))
            say_answers(side, "release", &out);
    }
}

static void renew(struct world *world, const struct grant *grant) {
    struct item_ref refs[SIDES][CALL_ITEMS];
    size_t count = refs_pick(world, grant, refs);
    if (chance(world, 40)) {
        count = 1;
        refs[0][0].id = refs[1][0].id = uuid_nil();
    }
    struct messages_renew in = {reporter_pick(world, grant), grant->kind, NULL, count, lease_pick(world)};
    describe(world, "renew kind=%d lease=%" PRId64, (int)in.kind, in.lease_ms);
    describe_refs(world, refs[0], count);
    for (int s = 0; s < SIDES; s++) {
        pawl_error err = {0};
        struct answer_list out = {0};
        struct side *side = &world->side[s];
        in.items = refs[s];
        if (say_status(world, s, CORE(world, s)->messages_renew(side->store, &in, side->arena, &out, &err),
                       &err))
            say_answers(side, "renew", &out);
    }
}

void operation_report(struct world *world) {
    const struct grant *grant = grant_pick(world);
    if (grant == NULL) {
        advance(world);
        return;
    }
    int which = pick(world, 100);
    if (which < 50)
        complete(world, grant);
    else if (which < 74)
        fail_some(world, grant);
    else if (which < 84)
        release_some(world, grant);
    else
        renew(world, grant);
}

void operation_run(struct world *world) {
    int which = pick(world, 1000);
    buf_reset(&world->what);
    for (int s = 0; s < SIDES; s++) {
        buf_reset(&world->side[s].said);
        arena_reset(world->side[s].arena);
    }
    if (world->instances_made < 2)
        instance_register(world);
    else if (which < 110)
        advance(world);
    else if (which < 260)
        operation_instance(world);
    else if (which < 400)
        operation_put(world);
    else if (which < 570)
        operation_claim(world);
    else if (which < 830)
        operation_report(world);
    else if (which < 905)
        operation_batch(world);
    else if (which < 940)
        operation_dead(world);
    else if (which < 955)
        operation_log(world);
    else
        operation_view(world);
}
