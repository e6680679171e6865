/* What the differential test asks the stores about their state, and their housekeeping. */
#include <inttypes.h>

#include "base/str.h"
#include "base/uuid.h"
#include "conformance/differential/differential.h"
#include "conformance/differential/side.h"
#include "support/check.h"

static void maintain(struct world *world) {
    const struct maintain_in in = {.caller = instance_pick(world), .rows_max = 10000};
    describe(world, "maintain");
    describe_id(world, "caller", in.caller);
    for (int s = 0; s < SIDES; s++) {
        pawl_error err = {0};
        struct maintain_result out = {0};
        if (say_status(world, s, CORE(world, s)->maintain(world->side[s].store, &in, &out, &err), &err))
            say(&world->side[s],
                " instances=%" PRId64 " tombstones=%" PRId64 " dedupe=%" PRId64 " requests=%" PRId64
                " claims=%" PRId64 " history=%" PRId64 " receptors=%" PRId64 " expired=%" PRId64,
                out.instances_removed, out.tombstones_removed, out.dedupe_removed,
                side_keys_given() ? 0 : out.requests_removed, out.claims_removed, out.history_removed,
                out.receptors_removed, out.claims_expired);
    }
}

static void epoch_raise(struct world *world) {
    describe(world, "epoch_raise");
    for (int s = 0; s < SIDES; s++) {
        pawl_error err = {0};
        int64_t epoch = 0;
        if (say_status(world, s, CORE(world, s)->epoch_raise(world->side[s].store, &epoch, &err), &err))
            say(&world->side[s], " %" PRId64, epoch);
    }
}

static void settings(struct world *world) {
    describe(world, "settings and clock");
    for (int s = 0; s < SIDES; s++) {
        pawl_error err = {0};
        struct settings out = {0};
        int64_t now_ms = 0;
        struct store *store = world->side[s].store;
        if (!say_status(world, s, CORE(world, s)->settings_read(store, &out, &err), &err) ||
            !say_status(world, s, CORE(world, s)->clock_read(store, &now_ms, &err), &err))
            continue;
        say(&world->side[s],
            " %d %d %d %d %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64,
            out.partition_count, out.lane_count, out.max_attempts, out.dead_policy, out.epoch,
            out.instance_lease_ms, out.stale_ms, out.dedupe_ms, out.history_ms, now_ms);
    }
}

static void counts(struct world *world) {
    describe(world, "counts");
    for (int s = 0; s < SIDES; s++) {
        pawl_error err = {0};
        struct counts out = {0};
        if (!say_status(world, s, VIEW(world, s)->counts(world->side[s].store, &out, &err), &err))
            continue;
        say(&world->side[s], " now=%" PRId64, out.now_ms);
        for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++) {
            const struct kind_counts *c = &out.kind[kind];
            say(&world->side[s], "\n  kind %d ready=%" PRId64 " leased=%" PRId64, kind, c->ready, c->leased);
            say_shape(&world->side[s].said, &tally_shape, c);
            say(&world->side[s],
                " oldest=%" PRId64 " claims=%" PRId64 " overdue=%" PRId64 " free=%d waits=%d",
                c->oldest_ready_ms, c->claims_active, c->claims_overdue, c->lanes_free, c->next_due_ms != 0);
        }
    }
}

static void say_row(struct side *side, const struct message_row *row) {
    char id[UUID_TEXT_BYTES], by[UUID_TEXT_BYTES];
    say(side, "\n  %s kind=%d lane=%d state=%d by=%s attempts=%d scheduled=%" PRId64 " reason=%d error=%.*s",
        uuid_format(row->item.id, id), (int)row->item.kind, row->item.lane, (int)row->state,
        uuid_format(row->claimed_by, by), row->attempts, row->scheduled_ms, row->reason, STR_ARG(row->error));
    say(side, " ended=%" PRId64 " until=%" PRId64 " deaths=%d", row->ended_ms, row->item.lease_until_ms,
        row->item.deaths);
}

static void messages(struct world *world) {
    struct message_filter filter = {.kind = (enum store_kind)pick(world, 3),
                                    .state = pick(world, 7),
                                    .lane = chance(world, 70) ? -1 : pick(world, WORLD_LANES),
                                    .limit = 1 + pick(world, 50)};
    if (chance(world, 30))
        filter.stream = STR("stream-1");
    describe(world, "messages kind=%d state=%d lane=%d limit=%d stream=%.*s", (int)filter.kind, filter.state,
             filter.lane, filter.limit, STR_ARG(filter.stream));
    for (int s = 0; s < SIDES; s++) {
        pawl_error err = {0};
        struct message_rows out = {.count = 0};
        struct side *side = &world->side[s];
        if (!say_status(world, s, VIEW(world, s)->messages(side->store, &filter, side->arena, &out, &err),
                        &err))
            continue;
        for (size_t i = 0; i < out.count; i++)
            say_row(side, &out.rows[i]);
    }
}

static void why(struct world *world) {
    pawl_uuid id = numbered_id(2, 1 + pick(world, world->messages_made + 1));
    describe(world, "why");
    describe_id(world, "id", id);
    for (int s = 0; s < SIDES; s++) {
        pawl_error err = {0};
        struct why out = {0};
        struct side *side = &world->side[s];
        char instance[UUID_TEXT_BYTES], blocker[UUID_TEXT_BYTES];
        if (!say_status(world, s, VIEW(world, s)->why(side->store, id, side->arena, &out, &err), &err))
            continue;
        say(side, " cause=%d instance=%s until=%" PRId64 " now=%" PRId64 " blocker=%s cause=%d",
            (int)out.cause, uuid_format(out.instance, instance), out.until_ms, out.now_ms,
            uuid_format(out.blocker_id, blocker), (int)out.blocker_cause);
        say_row(side, &out.row);
    }
}

static void message_find(struct world *world) {
    pawl_uuid id = numbered_id(2, 1 + pick(world, world->messages_made + 1));
    describe(world, "message_find");
    describe_id(world, "id", id);
    for (int s = 0; s < SIDES; s++) {
        pawl_error err = {0};
        struct message_rows out = {.count = 0};
        struct side *side = &world->side[s];
        if (!say_status(world, s, VIEW(world, s)->message_find(side->store, id, side->arena, &out, &err),
                        &err))
            continue;
        for (size_t i = 0; i < out.count; i++)
            say_row(side, &out.rows[i]);
    }
}

static void dead_groups(struct world *world) {
    enum store_kind kind = chance(world, 50) ? KIND_OUTBOX : KIND_INBOX;
    describe(world, "dead_groups kind=%d", (int)kind);
    for (int s = 0; s < SIDES; s++) {
        pawl_error err = {0};
        struct dead_groups out = {NULL, 0};
        struct side *side = &world->side[s];
        if (!say_status(world, s, VIEW(world, s)->dead_groups(side->store, kind, 10, side->arena, &out, &err),
                        &err))
            continue;
        for (size_t i = 0; i < out.count; i++)
            say(side, "\n  %.*s count=%" PRId64 " first=%" PRId64 " last=%" PRId64,
                STR_ARG(out.groups[i].fingerprint), out.groups[i].count, out.groups[i].first_ms,
                out.groups[i].last_ms);
    }
}

static void lanes(struct world *world) {
    enum store_kind kind = chance(world, 50) ? KIND_OUTBOX : KIND_INBOX;
    describe(world, "lanes kind=%d", (int)kind);
    for (int s = 0; s < SIDES; s++) {
        pawl_error err = {0};
        struct lane_rows out = {NULL, 0};
        struct side *side = &world->side[s];
        char owner[UUID_TEXT_BYTES];
        if (!say_status(world, s, VIEW(world, s)->lanes(side->store, kind, side->arena, &out, &err), &err))
            continue;
        for (size_t i = 0; i < out.count; i++)
            say(side, "\n  lane %d owner=%s draining=%d moves=%" PRId64 " claims=%d holds=%d",
                out.rows[i].lane, uuid_format(out.rows[i].owner, owner), out.rows[i].draining ? 1 : 0,
                out.rows[i].moves, out.rows[i].claims, out.rows[i].holds);
    }
}

static void instances(struct world *world) {
    describe(world, "instances");
    for (int s = 0; s < SIDES; s++) {
        pawl_error err = {0};
        struct instance_rows out = {NULL, 0};
        struct side *side = &world->side[s];
        char id[UUID_TEXT_BYTES];
        if (!say_status(world, s, VIEW(world, s)->instances(side->store, side->arena, &out, &err), &err))
            continue;
        for (size_t i = 0; i < out.count; i++) {
            const struct instance_row *row = &out.rows[i];
            say(side, "\n  %s state=%d kinds=%d age=%" PRId64 " lanes=%d,%d,%d claims=%d in_flight=%d",
                uuid_format(row->id, id), (int)row->state, row->kinds, row->beat_age_ms, row->lanes[1],
                row->lanes[2], row->lanes[3], row->claims, row->in_flight);
        }
    }
}

void operation_view(struct world *world) {
    int which = pick(world, 100);
    if (which < 25)
        maintain(world);
    else if (which < 27)
        epoch_raise(world);
    else if (which < 30)
        settings(world);
    else if (which < 45)
        counts(world);
    else if (which < 60)
        messages(world);
    else if (which < 78)
        why(world);
    else if (which < 84)
        message_find(world);
    else if (which < 88)
        dead_groups(world);
    else if (which < 94)
        lanes(world);
    else
        instances(world);
}
