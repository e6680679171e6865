/* Tests of the spine: the broker's session is open only while the lease is held. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>

#include "base/str.h"
#include "work/pipeline/spine.h"

static int opened, closed; /* sessions of the broker */

static pawl_status session_open(struct transport *session, const struct transport_config *config,
                                pawl_error *err) {
    (void)session;
    (void)config;
    (void)err;
    opened++;
    return PAWL_OK;
}

static pawl_status session_publish(struct transport *session, const struct transport_message *messages,
                                   size_t count, struct transport_result *results, pawl_error *err) {
    (void)session;
    (void)messages;
    (void)err;
    for (size_t i = 0; i < count; i++)
        results[i].fate = FATE_CONFIRMED;
    return PAWL_OK;
}

static void session_close(struct transport *session) {
    (void)session;
    closed++;
}

static int left; /* events in the store */

static pawl_status spine_read(struct store *store, int limit, struct arena *arena, struct spine_events *out,
                              pawl_error *err) {
    (void)store;
    (void)limit;
    (void)err;
    *out = (struct spine_events){.events = arena_array(arena, 1, sizeof(*out->events)), .count = left > 0};
    out->events[0] = (struct spine_event){
        .id = left, .job_id = 7, .type = STR("t"), .event_type = STR("done"), .payload = STR("null")};
    return PAWL_OK;
}

static pawl_status spine_remove(struct store *store, const int64_t *ids, size_t count, int64_t *removed,
                                pawl_error *err) {
    (void)store;
    (void)ids;
    (void)err;
    left -= (int)count;
    *removed = (int64_t)count;
    return PAWL_OK;
}

static const struct store_jobs_ops jobs = {.spine_read = spine_read, .spine_remove = spine_remove};
static const struct store_ops ops = {.jobs = &jobs};
static const struct transport_module module = {.name = "fake",
                                               .session_bytes = sizeof(struct transport_session),
                                               .open = session_open,
                                               .publish = session_publish,
                                               .close = session_close};

/* A worker that loses its registration leaves the lease to another, and its session must not stay open. */
static void test_the_session_ends_with_the_lease(void **state) {
    (void)state;
    static struct transport_settings settings = {
        .transports = {{.name = "b", .module = &module, .breaker_failures = 3, .breaker_ms = 1000}},
        .transport_count = 1,
        .spine = {.to = {"spine", 5}}};
    struct store store = {.ops = &ops};
    struct spine *spine = NULL;
    pawl_error err;
    assert_int_equal(spine_create(&settings, STR("s"), &spine, &err), PAWL_OK);
    const struct duty *duty = spine_duty(spine);
    struct duty_turn turn = {.store = &store, .token = 1};
    left = 1;
    assert_int_equal(duty->run(duty->self, &turn, &err), PAWL_OK);
    assert_int_equal(left, 0);
    assert_int_equal(opened - closed, 1); /* kept for the next turn */
    duty->leave(duty->self, &(struct duty_turn){0});
    assert_int_equal(opened - closed, 0);
    /* A stop: what is left is passed on while the lease lasts. */
    left = 2;
    duty->leave(duty->self, &turn);
    assert_int_equal(left, 0);
    assert_int_equal(opened - closed, 0);
    spine_free(spine);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_session_ends_with_the_lease)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
