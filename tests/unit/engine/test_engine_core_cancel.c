/* Messages that a person wants to end, as the core sees them. */
#include "unit/engine/engine_driver.h"

static void ask(struct driver *d, const struct item *item) {
    driver_step(d, (struct engine_event){.type = EVENT_CANCEL, .ids = &item->id, .count = 1});
}

static const struct fail_item *sent_failure(struct driver *d) {
    driver_wait(d, ENGINE_HOLD_MS);
    if (d->checking)
        driver_ready(d);
    assert_int_equal(d->batch->failure_count[KIND_OUTBOX], 1);
    return &d->batch->failures[KIND_OUTBOX][0];
}

/* It is ended, becomes a dead letter, and what was asked for is taken back when the store knows. */
static void test_running(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    driver_up(&d);
    struct driver_grant *grant = driver_grant_new(&d);
    const struct item *item = driver_item(&d, grant, "s1", "a");
    driver_answer(&d, grant);
    assert_int_equal(d.runs[0].count, 1);
    ask(&d, item);
    ask(&d, item); /* the directive is there until the message has ended: it is carried out once */
    assert_int_equal(d.cancels, 1);
    assert_int_equal(d.cancel_reason, STOP_ASKED);
    driver_finish(&d, 0, (const enum outcome_type[]){OUTCOME_CANCELLED});
    const struct fail_item *fail = sent_failure(&d);
    assert_int_equal(fail->error_class, CLASS_CANCELLED);
    assert_true(str_starts_with(fail->error, STR("cancelled by a person")));
    assert_int_equal(d.cancel_ends, 0);
    grant = driver_grant_new(&d);
    grant->fates[0] = FAIL_DEAD;
    driver_answer(&d, grant);
    assert_int_equal(d.cancel_ends, 1);
    driver_free(&d);
}

/* Whoever was done first is done. */
static void test_done_first(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    driver_up(&d);
    struct driver_grant *grant = driver_grant_new(&d);
    const struct item *item = driver_item(&d, grant, NULL, "a");
    driver_answer(&d, grant);
    ask(&d, item);
    driver_done(&d, 0);
    driver_wait(&d, ENGINE_HOLD_MS);
    if (d.checking)
        driver_ready(&d);
    assert_int_equal(d.batch->completion_count[KIND_OUTBOX], 1);
    assert_int_equal(d.batch->failure_count[KIND_OUTBOX], 0);
    driver_answer_empty(&d);
    assert_int_equal(d.cancel_ends, 1);
    driver_free(&d);
}

/* One that waits ends without running; the stream behind it waits for what the store says. */
static void test_waiting(void **state) {
    (void)state;
    static const char *const streams[] = {NULL, "s1"};
    for (int i = 0; i < 2; i++) {
        struct driver d;
        driver_init(&d);
        d.config.policy = POLICY_SKIP;
        driver_up(&d);
        struct driver_grant *grant = driver_grant_new(&d);
        driver_item(&d, grant, streams[i], "!");
        if (streams[i] != NULL)
            driver_item(&d, grant, streams[i], "a");
        driver_answer(&d, grant);
        assert_int_equal(d.starts, 0);
        assert_int_equal(sent_failure(&d)->error_class, CLASS_CANCELLED);
        grant = driver_grant_new(&d);
        grant->fates[0] = FAIL_DEAD;
        driver_answer(&d, grant);
        assert_int_equal(d.cancel_ends, 1);
        assert_int_equal(d.starts, streams[i] != NULL ? 1 : 0);
        driver_free(&d);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_running),
        cmocka_unit_test(test_done_first),
        cmocka_unit_test(test_waiting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
