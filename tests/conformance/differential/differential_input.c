/* Random inputs of the differential test: mostly right, sometimes wrong in an interesting way. */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/uuid.h"
#include "conformance/differential/differential.h"
#include "support/check.h"

enum { GROUP_INSTANCE = 1, GROUP_MESSAGE, GROUP_REQUEST, GROUP_EVENT };

pawl_uuid instance_pick(struct world *world) { return world->instances[pick(world, WORLD_INSTANCES)]; }

/* The first side says which are alive: the other must agree with it anyway. */
pawl_uuid live_pick(struct world *world) {
    struct instance_rows rows = {NULL, 0};
    pawl_error err = {0};
    struct side *first_side = &world->side[0];
    if (chance(world, 10) ||
        VIEW(world, 0)->instances(first_side->store, first_side->arena, &rows, &err) != PAWL_OK)
        return instance_pick(world);
    size_t first = rows.count > 0 ? (size_t)pick(world, (int)rows.count) : 0;
    for (size_t i = 0; i < rows.count; i++) {
        const struct instance_row *row = &rows.rows[(first + i) % rows.count];
        if (row->state == INSTANCE_ACTIVE && row->lease_until_ms > world->now_ms && row->kinds != 0)
            return row->id;
    }
    return instance_pick(world);
}

pawl_uuid request_pick(struct world *world) {
    if (!chance(world, 12))
        return uuid_nil();
    if (world->requests_made > 0 && chance(world, 40))
        return numbered_id(GROUP_REQUEST,
                           world->requests_made - pick(world, world->requests_made < 5 ? 1 : 5));
    return numbered_id(GROUP_REQUEST, ++world->requests_made);
}

static pawl_str text_in(struct arena *arena, const char *before, int number, const char *after) {
    char *text = arena_printf(arena, "%s%d%s", before, number, after);
    assert_non_null(text);
    return str_from(text);
}

/* Inbox ids come back often (that is what deduplication is for), outbox ids seldom. */
static pawl_uuid message_id_pick(struct world *world, enum store_kind kind) {
    if (world->messages_made > 10 && chance(world, kind == KIND_INBOX ? 20 : 3))
        return numbered_id(GROUP_MESSAGE, world->messages_made - pick(world, 10));
    return numbered_id(GROUP_MESSAGE, ++world->messages_made);
}

/* The texts live in the first side's arena; both sides read them. */
size_t messages_pick(struct world *world, enum store_kind kind, pawl_outgoing *messages, size_t most) {
    struct arena *arena = world->side[0].arena;
    size_t count = (size_t)pick(world, (int)most) + 1;
    for (size_t i = 0; i < count; i++) {
        pawl_outgoing *message = &messages[i];
        *message = (pawl_outgoing){.id = message_id_pick(world, kind)};
        int number = message->id.b[15];
        message->type = chance(world, 50) ? STR("Order.Placed") : STR("Órder.Pàid");
        /* By its id, so that a repeated one has the same payload, but for a few. */
        message->payload =
            text_in(arena, "{\"n\": ", chance(world, 90) ? number : -number - 1, ", \"ü\": [true, null]}");
        if (chance(world, 85))
            message->stream =
                text_in(arena, "stream-", pick(world, chance(world, 50) ? 2 : WORLD_STREAMS), "");
        if (chance(world, 50))
            message->topic = STR("orders");
        if (chance(world, 30)) {
            message->headers = STR("{\"a\":\"b\"}");
            message->correlation_id = numbered_id(GROUP_EVENT, number);
            message->traceparent = STR("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
        }
        if (chance(world, 10))
            message->causation_id = numbered_id(GROUP_EVENT, number + 1);
    }
    return count;
}

struct instance_new instance_input(struct world *world, pawl_uuid id) {
    static const int kinds[] = {KIND_BIT(KIND_OUTBOX) | KIND_BIT(KIND_INBOX),
                                KIND_BIT(KIND_OUTBOX) | KIND_BIT(KIND_INBOX),
                                KIND_BIT(KIND_OUTBOX),
                                KIND_BIT(KIND_INBOX),
                                KIND_BITS_ALL,
                                0};
    struct instance_new in = {.id = id,
                              .service = STR("shop"),
                              .host = STR("host"),
                              .pid = 7,
                              .kinds = kinds[pick(world, 6)],
                              .lease_ms = chance(world, 50) ? 0 : 3000 + 1000 * pick(world, 30)};
    if (chance(world, 20))
        in.metadata = STR("{\"zone\":\"a\"}");
    if (chance(world, 60))
        in.slots = 1 + pick(world, 4);
    if (chance(world, 10))
        in.max_partitions = 1 + pick(world, WORLD_PARTITIONS);
    if (chance(world, 20))
        in.partition_count = chance(world, 90) ? WORLD_PARTITIONS : WORLD_PARTITIONS + 1;
    return in;
}

/* A prefix, a subset, everything, backwards, twice, or something that was never there. */
size_t refs_pick(struct world *world, const struct grant *grant, struct item_ref refs[SIDES][CALL_ITEMS]) {
    size_t order[CALL_ITEMS], count = 0;
    size_t usable = grant->count < CALL_ITEMS - 2 ? grant->count : CALL_ITEMS - 2;
    int form = pick(world, 10);
    size_t prefix = form < 4 ? usable : (size_t)pick(world, (int)usable) + 1;
    for (size_t i = 0; i < usable; i++) {
        if (form < 7 ? i < prefix : chance(world, 50))
            order[count++] = i;
    }
    if (count == 0)
        order[count++] = 0;
    if (chance(world, 20)) {
        for (size_t i = 0; i < count / 2; i++) {
            size_t kept = order[i];
            order[i] = order[count - 1 - i];
            order[count - 1 - i] = kept;
        }
    }
    if (chance(world, 8)) {
        order[count] = order[pick(world, (int)count)];
        count++;
    }
    for (size_t i = 0; i < count; i++) {
        pawl_uuid id = chance(world, 2) ? numbered_id(GROUP_MESSAGE, 1 + pick(world, world->messages_made))
                                        : grant->ids[order[i]];
        bool never = chance(world, 1);
        for (int s = 0; s < SIDES; s++)
            refs[s][i] = (struct item_ref){never ? 12345 : grant->token[s], id};
    }
    return count;
}

void fail_input(struct world *world, struct fail_item *item) {
    static const int64_t delays_ms[] = {0, 0, 1, 500, 1000, 5000, 30000};
    item->error = chance(world, 90) ? STR("timeout after 30 s\nat line 7") : (pawl_str){NULL, 0};
    if (chance(world, 20))
        item->stack = STR("in handler\nin main");
    item->error_class = chance(world, 85) ? CLASS_RETRYABLE : CLASS_PERMANENT;
    item->delay_ms = delays_ms[pick(world, 7)]; /* never the backoff: its jitter differs */
    item->policy = chance(world, 60) ? POLICY_DEFAULT : (enum dead_policy)(1 + pick(world, 3));
    item->max_attempts = chance(world, 70) ? 0 : 1 + pick(world, 4);
}

int complete_status(struct world *world) {
    static const int wrong[] = {0, 1, 8, 12, 16};
    if (chance(world, 4))
        return wrong[pick(world, 5)];
    return chance(world, 50) ? 2 : 4;
}

size_t receptors_pick(struct world *world, struct receptor_report *reports) {
    size_t count = (size_t)pick(world, 3) + 1;
    for (size_t i = 0; i < count; i++) {
        reports[i] = (struct receptor_report){.event_id = numbered_id(GROUP_EVENT, pick(world, 12)),
                                              .receptor = chance(world, 50) ? STR("mail") : STR("ledger"),
                                              .status = pick(world, 8)};
        if (chance(world, 40))
            reports[i].error = STR("no such customer");
    }
    return count;
}

size_t checkpoints_pick(struct world *world, struct checkpoint_report *reports) {
    size_t count = (size_t)pick(world, 3) + 1;
    for (size_t i = 0; i < count; i++) {
        reports[i] =
            (struct checkpoint_report){.stream = text_in(world->side[0].arena, "stream-", pick(world, 4), ""),
                                       .perspective = chance(world, 50) ? STR("totals") : STR("list"),
                                       .version = pick(world, 20),
                                       .token = 1 + pick(world, 6),
                                       .status = (enum checkpoint_status)pick(world, 4)};
        if (reports[i].status == CHECKPOINT_FAILED)
            reports[i].error = STR("division by zero");
    }
    return count;
}
