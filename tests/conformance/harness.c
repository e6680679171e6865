/* A new store per test, and the clock, errors and ids that the helpers share. */
#include "conformance/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "conformance/backend.h"
#include "conformance/harness_run.h"

/* The only writable thing of the suite: the store that main() chose. */
static struct backend *chosen;

void conf_choose(struct backend *backend) { chosen = backend; }

static void conf_free(struct conf *c) {
    store_close(c->store);
    arena_free(c->arena);
    free(c);
}

static pawl_status open_fresh(struct conf *c) {
    struct store_config config = backend_ready(chosen);
    struct migrate_config migrate = {.partition_count = TEST_PARTITIONS, .lane_count = TEST_LANES};
    struct migrate_result migrated;
    struct settings settings;
    pawl_status status = store_migrate(&config, &migrate, &migrated, &c->err);
    if (status == PAWL_OK)
        status = store_open(&config, &c->store, &c->err);
    if (status != PAWL_OK)
        return status;
    c->core = &c->store->ops->core;
    c->view = &c->store->ops->view;
    c->jobs = c->store->ops->jobs;
    c->runs = c->store->ops->runs;
    status = c->core->settings_read(c->store, &settings, &c->err);
    if (status != PAWL_OK)
        return status;
    c->partitions = settings.partition_count;
    c->lanes = settings.lane_count;
    c->now_ms = TEST_START_MS;
    struct settings_change change = settings_same();
    change.test_now_ms = c->now_ms;
    change.history_ms = 0; /* tests that want a history say so */
    return c->core->settings_change(c->store, &change, &c->err);
}

int conf_setup(void **state) {
    struct conf *c = calloc(1, sizeof *c);
    assert_non_null(c);
    c->arena = arena_create(0);
    if (c->arena == NULL || open_fresh(c) != PAWL_OK) {
        print_error("the store cannot be opened: %s: %s\n", c->err.op, c->err.text);
        conf_free(c);
        return -1;
    }
    *state = c;
    return 0;
}

static size_t violations_print(struct conf *c) {
    struct violations found;
    if (c->view->check(c->store, c->arena, &found, &c->err) != PAWL_OK) {
        print_error("check failed: %s: %s\n", c->err.op, c->err.text);
        return 1;
    }
    for (size_t i = 0; i < found.count; i++)
        print_error("invariant %.*s: %.*s\n", STR_ARG(found.rows[i].invariant),
                    STR_ARG(found.rows[i].detail));
    return found.count;
}

int conf_teardown(void **state) {
    struct conf *c = *state;
    size_t broken = c->store != NULL ? violations_print(c) : 0;
    conf_free(c);
    *state = NULL;
    return broken == 0 ? 0 : -1;
}

struct store *open_again(struct conf *c) {
    struct store_config config = backend_current(chosen);
    struct store *store = NULL;
    ok(c, store_open(&config, &store, &c->err));
    return store;
}

struct store_waker *open_waker(struct conf *c) {
    struct store_config config = backend_current(chosen);
    struct store_waker *waker = NULL;
    pawl_status status = store_waker_open(&config, &waker, &c->err);
    if (status == PAWL_CONFLICT)
        return NULL;
    ok(c, status);
    return waker;
}

bool pooled(struct conf *c) {
    (void)c;
    return backend_pooled(chosen);
}

struct store *open_defaults(struct conf *c) {
    struct migrate_config migrate = {0};
    struct migrate_result migrated;
    struct store *store = NULL;
    store_close(c->store); /* making another one may remove it */
    c->store = NULL;
    struct store_config config = backend_fresh(chosen);
    ok(c, store_migrate(&config, &migrate, &migrated, &c->err));
    ok(c, store_open(&config, &store, &c->err));
    return store;
}

void close_again(struct store *store) { store_close(store); }

void conf_at(struct conf *c, const char *file, int line) {
    c->file = file;
    c->line = line;
}

void check_now_(struct conf *c) {
    if (violations_print(c) != 0)
        _fail(c->file, c->line);
}

void expect_status_(struct conf *c, pawl_status wanted, pawl_status got, const char *call) {
    if (got == wanted)
        return;
    print_error("%s: wanted %s, got %s%s%s\n", call, pawl_status_name(wanted), pawl_status_name(got),
                got != PAWL_OK ? ": " : "", got != PAWL_OK ? c->err.text : "");
    _fail(c->file, c->line);
}

void expect_error_(struct conf *c, const char *words) {
    if (strstr(c->err.text, words) != NULL)
        return;
    print_error("the error does not say \"%s\": %s\n", words, c->err.text);
    _fail(c->file, c->line);
}

struct settings_change settings_same(void) {
    return (struct settings_change){.instance_lease_ms = -1,
                                    .stale_ms = -1,
                                    .dedupe_ms = -1,
                                    .history_ms = -1,
                                    .test_now_ms = -1,
                                    .max_attempts = -1,
                                    .dead_policy = -1};
}

void advance_(struct conf *c, int64_t by_ms) {
    struct settings_change change = settings_same();
    c->now_ms += by_ms;
    change.test_now_ms = c->now_ms;
    expect_status_(c, PAWL_OK, c->core->settings_change(c->store, &change, &c->err), "advance");
}

static pawl_uuid id_of(uint8_t family, int n) {
    pawl_uuid id = {.b = {0x01, 0x90, 0, 0, 0, 0, 0x70, 0, 0x80, 0, family}};
    for (int i = 0; i < 4; i++)
        id.b[15 - i] = (uint8_t)((unsigned)n >> (8 * i));
    return id;
}

pawl_uuid message_id(int n) { return id_of(0x01, n); }
pawl_uuid instance_id(int n) { return id_of(0xaa, n); }
pawl_uuid request_id(int n) { return id_of(0xee, n); }

int id_number(pawl_uuid id) {
    unsigned n = 0;
    for (int i = 12; i < 16; i++)
        n = n << 8 | id.b[i];
    return (int)n;
}

int lane_of_stream(struct conf *c, pawl_str stream) {
    return (int)lane_of(partition_of(stream, (uint32_t)c->partitions), (uint32_t)c->lanes);
}

pawl_str stream_on(struct conf *c, int lane, int k) {
    for (int n = 0; n < 1000000; n++) {
        char name[32];
        int len = snprintf(name, sizeof name, "stream-%d", n);
        pawl_str stream = {name, (size_t)len};
        if (lane_of_stream(c, stream) == lane && k-- == 0)
            return str_from(arena_strdup(c->arena, name));
    }
    fail_msg("no stream name found for lane %d", lane);
    return ABSENT;
}

const char *state_text_(struct conf *c) {
    struct buf text;
    buf_init(&text, 0);
    expect_status_(c, PAWL_OK, c->view->dump(c->store, &text, &c->err), "dump");
    const char *copy = arena_strdup(c->arena, buf_str(&text).ptr);
    buf_free(&text);
    return copy;
}
