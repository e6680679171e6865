/* The small world in which the differential test plays: its chance, its ids, what it remembers, and how it
 * compares. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/uuid.h"
#include "conformance/differential/differential.h"
#include "conformance/differential/side.h"
#include "store/row.h"
#include "support/check.h"

/* splitmix64: small, well known, and the same everywhere. */
uint64_t world_random(struct world *world) {
    world->random += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t x = world->random;
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

int pick(struct world *world, int below) { return (int)(world_random(world) % (uint64_t)below); }

bool chance(struct world *world, int percent) { return pick(world, 100) < percent; }

pawl_uuid numbered_id(int group, int number) {
    pawl_uuid id = {{0x01, 0x90, 0, 0, 0, 0, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, 0}};
    id.b[10] = (uint8_t)group;
    for (int i = 0; i < 4; i++)
        id.b[15 - i] = (uint8_t)(number >> (8 * i));
    return id;
}

static void open_side(struct world *world, int s, const struct store_config *config) {
    struct side *side = &world->side[s];
    pawl_error err = {0};
    struct migrate_result migrated = {0};
    const struct migrate_config counts = {WORLD_PARTITIONS, WORLD_LANES};
    if (store_migrate(config, &counts, &migrated, &err) != PAWL_OK ||
        store_open(config, &side->store, &err) != PAWL_OK)
        fail_msg("%s: %s", err.op, err.text);
    side->store = side_opened(s, side->store, config, &side->said);
    side->arena = arena_create(0);
    assert_non_null(side->arena);
    buf_init(&side->said, 0);
}

void world_open(struct world *world, const struct store_config configs[static SIDES], uint64_t seed) {
    *world = (struct world){.random = seed, .now_ms = INT64_C(4102444800000)};
    for (int s = 0; s < SIDES; s++)
        open_side(world, s, &configs[s]);
    buf_init(&world->what, 0);
    const struct settings_change change = {.instance_lease_ms = 15000,
                                           .stale_ms = 600000,
                                           .dedupe_ms = 3600000,
                                           .history_ms = seed % 4 == 0 ? 3600000 : 0,
                                           .test_now_ms = world->now_ms,
                                           .max_attempts = 4,
                                           .dead_policy = (int)(POLICY_BLOCK + seed % 3)};
    for (int s = 0; s < SIDES; s++) {
        pawl_error err = {0};
        struct store *store = world->side[s].store;
        if (store->ops->core.settings_change(store, &change, &err) != PAWL_OK)
            fail_msg("%s: %s", err.op, err.text);
    }
}

void world_close(struct world *world) {
    for (int s = 0; s < SIDES; s++) {
        store_close(world->side[s].store);
        arena_free(world->side[s].arena);
        buf_free(&world->side[s].said);
    }
    buf_free(&world->what);
}

struct grant *grant_pick(struct world *world) {
    size_t kept = world->grant_count < WORLD_GRANTS ? world->grant_count : WORLD_GRANTS;
    if (kept == 0)
        return NULL;
    /* Mostly a late one that was seldom reported on: old claims are over, and their reports only show that.
     */
    struct grant *grant = NULL;
    for (int tries = 0; tries < 6; tries++) {
        size_t reach = chance(world, 80) && kept > 12 ? 12 : kept;
        size_t back = (size_t)pick(world, (int)reach) + 1;
        grant = &world->grants[(world->grant_count - back) % WORLD_GRANTS];
        if (grant->reports < 2)
            break;
    }
    grant->reports++;
    return grant;
}

/* Remembers the claims of an answer that both sides gave alike; a claim that was returned again is known. */
void grant_note(struct world *world, const struct item_list lists[static SIDES]) {
    if (lists[0].count != lists[1].count)
        return;
    for (size_t i = 0; i < lists[0].count; i++) {
        const struct item *item = &lists[0].items[i];
        struct grant *grant = NULL;
        for (size_t j = 0; j < WORLD_GRANTS; j++) {
            if (world->grants[j].token[0] == item->token)
                grant = &world->grants[j];
        }
        if (grant == NULL) {
            grant = &world->grants[world->grant_count++ % WORLD_GRANTS];
            *grant = (struct grant){.token = {item->token, lists[1].items[i].token}, .kind = item->kind};
        }
        bool known = false;
        for (size_t j = 0; j < grant->count; j++)
            known = known || uuid_equal(grant->ids[j], item->id);
        if (!known && grant->count < sizeof grant->ids / sizeof grant->ids[0])
            grant->ids[grant->count++] = item->id;
    }
}

void say(struct side *side, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    buf_vprintf(&side->said, fmt, args);
    va_end(args);
}

/* What the call answered; an error's text is each store's own, its status is not. */
bool say_status(struct world *world, int s, pawl_status status, const pawl_error *err) {
    say(&world->side[s], "%s", pawl_status_name(status));
    if (status == PAWL_UNAVAILABLE || status == PAWL_UNKNOWN || status == PAWL_INTERNAL ||
        status == PAWL_BUSY)
        say(&world->side[s], " [%s: %s]", err->op, err->text);
    return status == PAWL_OK;
}

void describe(struct world *world, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    buf_vprintf(&world->what, fmt, args);
    va_end(args);
}

void describe_id(struct world *world, const char *name, pawl_uuid id) {
    char text[UUID_TEXT_BYTES];
    describe(world, " %s=%s", name, uuid_format(id, text));
}

void describe_refs(struct world *world, const struct item_ref *refs, size_t count) {
    for (size_t i = 0; i < count; i++) {
        describe(world, " token=%" PRIx64, refs[i].token);
        describe_id(world, "id", refs[i].id);
    }
}

void say_answers(struct side *side, const char *name, const struct answer_list *list) {
    if (list->count == 0)
        return;
    say(side, " %s", name);
    for (size_t i = 0; i < list->count; i++) {
        say(side, " %d", (int)list->answers[i]);
        if (list->outcomes != NULL)
            say(side, "/%d", (int)list->outcomes[i]);
    }
}

void say_put(struct side *side, const struct put_result *put, size_t count) {
    char text[UUID_TEXT_BYTES];
    for (size_t i = 0; i < count; i++)
        say(side, " put %d %s", (int)put->answers[i], uuid_format(put->ids[i], text));
}

/* Tokens are called by the order in which they first appear in the answer. */
void say_items(struct world *world, int s, const struct item_list *list) {
    struct side *side = &world->side[s];
    int claims = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct item *item = &list->items[i];
        if (i == 0 || item->token != list->items[i - 1].token)
            say(side, "\n  claim %d kind %d lane %d", ++claims, (int)item->kind, item->lane);
        say(side, "\n    ");
        say_shape(&side->said, &message_shape, item);
        say(side, " attempt=%d deaths=%d suspect=%d ooo=%d until=%" PRId64, item->attempt, item->deaths,
            item->suspect ? 1 : 0, item->out_of_order ? 1 : 0, item->lease_until_ms);
    }
}
