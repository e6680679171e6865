/* Two stores, one random sequence of operations: chance, clocks, instances, comparison. */
#include "conformance/differential/pair.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "conformance/backend.h"
#include "conformance/differential/side.h"
#include "support/check.h"

enum { TRAIL = 30 /* operations that are shown before a difference */ };

static const struct pair_game *running_game;
static struct backend *backends[BACKEND_SIDES];

int pair_pick(struct pair *pair, int below) {
    pair->random = pair->random * 6364136223846793005u + 1442695040888963407u;
    return (int)((pair->random >> 33) % (uint64_t)below);
}

bool pair_chance(struct pair *pair, int percent) { return pair_pick(pair, 100) < percent; }

pawl_str pair_name(struct pair *pair, const char *kind, int n) {
    return str_from(arena_printf(pair->arena, "%s%d", kind, n));
}

void pair_describe(struct pair *pair, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    buf_vprintf(&pair->what, fmt, args);
    va_end(args);
}

void pair_say(struct pair *pair, int side, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    buf_vprintf(&pair->said[side], fmt, args);
    va_end(args);
}

void pair_say_text(struct pair *pair, int side, const char *what, pawl_str text) {
    pair_say(pair, side, " %s=%.*s", what, STR_ARG(str_absent(text) ? STR("-") : text));
}

bool pair_ok(struct pair *pair, int side, pawl_status status, const pawl_error *err) {
    if (status == PAWL_INTERNAL || status == PAWL_UNAVAILABLE || status == PAWL_UNKNOWN ||
        status == PAWL_BUSY || status == PAWL_NO_MEMORY)
        fail_msg("%s: %s: %s: %s", pair->what.ptr, pair->store[side]->dialect, err->op, err->text);
    pair_say(pair, side, " %s", pawl_status_name(status));
    return status == PAWL_OK;
}

pawl_uuid pair_instance(const struct pair *pair, int slot) {
    pawl_uuid id = {{0}};
    id.b[0] = 1;
    id.b[14] = (uint8_t)pair->incarnation[slot];
    id.b[15] = (uint8_t)(slot + 1);
    return id;
}

/* deed: 0 and 1 registers a new incarnation, 2 evicts, 3 deregisters, others beat. */
static void instance_deed(struct pair *pair, int kinds, int slot, int deed) {
    if (deed < 2)
        pair->incarnation[slot] += pair->incarnation[slot] < 250 ? 1 : 0;
    struct instance_new in = {.id = pair_instance(pair, slot),
                              .service = STR("pair"),
                              .kinds = kinds,
                              .lease_ms = pair_chance(pair, 30) ? 3000 : 600000};
    pair_describe(pair, "instance %d: deed %d", slot, deed);
    for (int s = 0; s < PAIR_SIDES; s++) {
        const struct store_core_ops *core = &pair->store[s]->ops->core;
        struct instance_grant grant;
        struct beat_result beat;
        pawl_error err = {0};
        pawl_status status = deed < 2   ? core->instance_register(pair->store[s], &in, &grant, &err)
                             : deed > 3 ? core->heartbeat(pair->store[s], in.id, -1, &beat, &err)
                             : deed > 2 ? core->instance_deregister(pair->store[s], in.id, &err)
                                        : core->instance_evict(pair->store[s], in.id, &err);
        (void)pair_ok(pair, s, status, &err);
    }
}

void pair_instances(struct pair *pair, int kinds) {
    instance_deed(pair, kinds, pair_pick(pair, PAIR_INSTANCES), pair_pick(pair, 6));
}

void pair_instance_new(struct pair *pair, int kinds, int slot) { instance_deed(pair, kinds, slot, 0); }

void pair_advance(struct pair *pair, int64_t by_ms) {
    struct settings_change change = {-1, -1, -1, -1, 0, -1, -1};
    pair->now_ms += by_ms;
    change.test_now_ms = pair->now_ms;
    pair_describe(pair, "now %" PRId64, pair->now_ms);
    for (int s = 0; s < PAIR_SIDES; s++) {
        pawl_error err = {0};
        (void)pair_ok(pair, s, pair->store[s]->ops->core.settings_change(pair->store[s], &change, &err),
                      &err);
    }
}

static int number_from(const char *variable, int fallback) {
    int64_t value = fallback;
    return getenv(variable) != NULL && str_to_i64(str_from(getenv(variable)), 1, INT32_MAX, &value)
               ? (int)value
               : fallback;
}

struct trail {
    char *lines[TRAIL];
    size_t count;
};

static void trail_add(struct trail *trail, int op, const struct pair *pair) {
    char *line = NULL;
    if (asprintf(&line, "#%d %s ->%.200s", op, pair->what.ptr, pair->said[0].ptr) < 0)
        return;
    free(trail->lines[trail->count % TRAIL]);
    trail->lines[trail->count++ % TRAIL] = line;
}

static void trail_show(const struct trail *trail) {
    for (size_t i = trail->count > TRAIL ? trail->count - TRAIL : 0; i < trail->count; i++)
        printf("# %s\n", trail->lines[i % TRAIL]);
    (void)fflush(stdout);
}

/* The lines that differ, the operations before, and how to see it again. */
static void differ(const struct pair *pair, const struct trail *trail, uint64_t seed, int op) {
    const char *a = pair->said[0].ptr, *b = pair->said[1].ptr;
    trail_show(trail);
    while (*a != '\0' || *b != '\0') {
        size_t a_len = strcspn(a, "\n"), b_len = strcspn(b, "\n");
        if (a_len != b_len || memcmp(a, b, a_len) != 0)
            printf("#  sqlite:   %.*s\n#  postgres: %.*s\n", (int)a_len, a, (int)b_len, b);
        a += a_len + (a[a_len] == '\n');
        b += b_len + (b[b_len] == '\n');
    }
    printf("# again: PAWL_DIFF_SEED=%" PRIu64 " PAWL_DIFF_OPS=%d\n", seed, op + 1);
    (void)fflush(stdout);
}

/* True when no invariant is violated. */
static bool check_side(struct pair *pair, const struct trail *trail, int side) {
    struct violations broken;
    pawl_error err = {0};
    if (pair->store[side]->ops->view.check(pair->store[side], pair->arena, &broken, &err) != PAWL_OK)
        fail_msg("check: %s", err.text);
    if (broken.count > 0)
        trail_show(trail);
    for (size_t i = 0; i < broken.count; i++)
        printf("# %s violates %.*s: %.*s\n", pair->store[side]->dialect, STR_ARG(broken.rows[i].invariant),
               STR_ARG(broken.rows[i].detail));
    (void)fflush(stdout);
    return broken.count == 0;
}

static void open_sides(struct pair *pair) {
    struct store_config configs[PAIR_SIDES] = {backend_ready(backends[0]), backend_ready(backends[1])};
    const struct migrate_config counts = {TEST_PARTITIONS, TEST_LANES};
    for (int s = 0; s < PAIR_SIDES; s++) {
        struct migrate_result migrated;
        pawl_error err = {0};
        if (store_migrate(&configs[s], &counts, &migrated, &err) != PAWL_OK ||
            store_open(&configs[s], &pair->store[s], &err) != PAWL_OK)
            fail_msg("%s", err.text);
        pair->store[s] = side_opened(s, pair->store[s], &configs[s], &pair->said[s]);
        buf_init(&pair->said[s], 0);
    }
    buf_init(&pair->what, 0);
}

static void begin_operation(struct pair *pair) {
    arena_reset(pair->arena);
    buf_reset(&pair->what);
    for (int s = 0; s < PAIR_SIDES; s++)
        buf_reset(&pair->said[s]);
}

static void play(uint64_t seed, int ops) {
    struct pair *pair = calloc(1, running_game->world_bytes);
    struct trail trail = {{NULL}, 0};
    int every = number_from("PAWL_DIFF_EVERY", running_game->state_every);
    assert_non_null(pair);
    pair->arena = arena_create(0);
    pair->random = seed * 7919 + 13;
    pair->now_ms = INT64_C(4102444800000);
    open_sides(pair);
    pair_advance(pair, 0);
    for (int i = 0; i < 6; i++)
        pair_instances(pair, running_game->kinds);
    running_game->begin(pair);
    bool alike = true;
    for (int op = 0; alike && op < ops; op++) {
        begin_operation(pair);
        running_game->operation(pair);
        trail_add(&trail, op, pair);
        bool look = op % every == 0 || op + 1 == ops;
        for (int s = 0; look && s < PAIR_SIDES; s++) {
            running_game->say_state(pair, s);
            alike = check_side(pair, &trail, s) && alike;
        }
        if (strcmp(pair->said[0].ptr, pair->said[1].ptr) != 0) {
            differ(pair, &trail, seed, op);
            alike = false;
        }
    }
    for (size_t i = 0; i < TRAIL; i++)
        free(trail.lines[i]);
    for (int s = 0; s < PAIR_SIDES; s++) {
        buf_free(&pair->said[s]);
        store_close(pair->store[s]);
    }
    buf_free(&pair->what);
    arena_free(pair->arena);
    free(pair);
    assert_true(alike);
}

TEST(both_stores_do_the_same) {
    int ops = number_from("PAWL_DIFF_OPS", running_game->ops);
    int seed = number_from("PAWL_DIFF_SEED", 1);
    for (int done = 0; done < ops; done += running_game->ops_per_world, seed++)
        play((uint64_t)seed,
             ops - done < running_game->ops_per_world ? ops - done : running_game->ops_per_world);
}

int pair_main(const struct pair_game *game) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(both_stores_do_the_same)};
    running_game = game;
    if (!backend_sides_start(backends))
        return 77;
    int failed = cmocka_run_group_tests_name(game->name, tests, NULL, NULL);
    backend_sides_stop(backends);
    return failed;
}
