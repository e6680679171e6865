/* Checks that the same random operations give the same answers and the same state on SQLite and PostgreSQL.
 */
#include "conformance/differential/differential.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "conformance/backend.h"
#include "support/check.h"

enum {
    OPS = 20000,
    OPS_PER_WORLD = 2500, /* then a fresh pair of stores, so that no world is all leftovers */
    DUMP_EVERY = 20,
    TRAIL = 40 /* how many operations before a difference are shown */
};

static struct backend *backends[BACKEND_SIDES];

static uint64_t number_from(const char *name, uint64_t fallback) {
    const char *text = getenv(name);
    uint64_t value = 0;
    return text != NULL && str_to_u64(str_from(text), UINT64_MAX, &value) ? value : fallback;
}

/* Shows only the lines that differ, of texts that may be long. */
static void show_difference(const char *a, const char *b) {
    while (*a != '\0' || *b != '\0') {
        size_t a_len = strcspn(a, "\n"), b_len = strcspn(b, "\n");
        if (a_len != b_len || memcmp(a, b, a_len) != 0)
            printf("  sqlite:   %.*s\n  postgres: %.*s\n", (int)a_len, a, (int)b_len, b);
        a += a_len + (a[a_len] == '\n');
        b += b_len + (b[b_len] == '\n');
    }
}

struct trail {
    char *lines[TRAIL];
    size_t count;
};

static void trail_add(struct trail *trail, uint64_t index, const struct world *world) {
    char *line = NULL;
    if (asprintf(&line, "#%" PRIu64 " now=%" PRId64 " %s -> %.120s", index, world->now_ms, world->what.ptr,
                 world->side[0].said.ptr) < 0)
        return;
    if (getenv("PAWL_DIFF_TRACE") != NULL)
        printf("%s\n", line);
    free(trail->lines[trail->count % TRAIL]);
    trail->lines[trail->count++ % TRAIL] = line;
}

static void trail_show(const struct trail *trail) {
    size_t first = trail->count > TRAIL ? trail->count - TRAIL : 0;
    for (size_t i = first; i < trail->count; i++)
        printf("  %s\n", trail->lines[i % TRAIL]);
}

static void trail_free(struct trail *trail) {
    for (size_t i = 0; i < TRAIL; i++)
        free(trail->lines[i]);
}

/* True when both stores print the same state. */
static bool same_dump(struct world *world) {
    for (int s = 0; s < SIDES; s++) {
        pawl_error err = {0};
        struct side *side = &world->side[s];
        buf_reset(&side->said);
        if (VIEW(world, s)->dump(side->store, &side->said, &err) != PAWL_OK)
            fail_msg("dump: %s", err.text);
    }
    return strcmp(world->side[0].said.ptr, world->side[1].said.ptr) == 0;
}

static size_t violations(struct world *world) {
    size_t found = 0;
    for (int s = 0; s < SIDES; s++) {
        pawl_error err = {0};
        struct violations out = {NULL, 0};
        struct side *side = &world->side[s];
        if (VIEW(world, s)->check(side->store, side->arena, &out, &err) != PAWL_OK)
            fail_msg("check: %s", err.text);
        for (size_t i = 0; i < out.count; i++)
            printf("  %s violates %.*s: %.*s\n", side->store->dialect, STR_ARG(out.rows[i].invariant),
                   STR_ARG(out.rows[i].detail));
        found += out.count;
    }
    return found;
}

/* What is wrong after the operation, in a word; NULL when nothing is. */
static const char *judge(struct world *world, uint64_t index, uint64_t ops) {
    if (strcmp(world->side[0].said.ptr, world->side[1].said.ptr) != 0)
        return "the answers differ";
    bool last = index + 1 == ops;
    if ((index % DUMP_EVERY == 0 || last) && !same_dump(world))
        return "the states differ";
    if ((index % (DUMP_EVERY * 5) == 0 || last) && violations(world) > 0)
        return "an invariant is violated";
    return NULL;
}

static void play(uint64_t seed, uint64_t ops) {
    struct world *world = calloc(1, sizeof *world);
    struct trail trail = {{NULL}, 0};
    const char *wrong = NULL;
    assert_non_null(world);
    const struct store_config configs[SIDES] = {backend_fresh(backends[0]), backend_fresh(backends[1])};
    world_open(world, configs, seed);
    for (uint64_t index = 0; wrong == NULL && index < ops; index++) {
        operation_run(world);
        trail_add(&trail, index, world);
        wrong = judge(world, index, ops);
        if (wrong == NULL)
            continue;
        printf("%s: seed %" PRIu64 ", operation %" PRIu64 "; before it:\n", wrong, seed, index);
        trail_show(&trail);
        show_difference(world->side[0].said.ptr, world->side[1].said.ptr);
        printf("again: PAWL_DIFF_SEED=%" PRIu64 " PAWL_DIFF_OPS=%" PRIu64 "\n", seed, index + 1);
    }
    (void)fflush(stdout);
    trail_free(&trail);
    world_close(world);
    free(world);
    if (wrong != NULL)
        fail_msg("%s", wrong);
}

/* covers: M03 M10 M17 M26 M33 M46 W01 W25 W26 W32 W34 W36 W37 B2.1 B2.3 B2.6 B2.7 B2.8 B2.10 B2.12 B3.1 B3.4
 * B3.8 */
TEST(both_stores_do_the_same) {
    uint64_t seed = number_from("PAWL_DIFF_SEED", 1);
    uint64_t ops = number_from("PAWL_DIFF_OPS", OPS);
    for (uint64_t done = 0; done < ops; done += OPS_PER_WORLD, seed++)
        play(seed, ops - done < OPS_PER_WORLD ? ops - done : OPS_PER_WORLD);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(both_stores_do_the_same)};
    if (!backend_sides_start(backends))
        return 77;
    int failed = cmocka_run_group_tests_name("differential", tests, NULL, NULL);
    backend_sides_stop(backends);
    return failed;
}
