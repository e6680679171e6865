/* Tests of the engine's core: perspectives, whose streams are granted, kept, fenced and given back like
 * anything else. */
#include "unit/engine/engine_driver.h"

enum { WAKES = 256 };

static void begin(struct driver *d) {
    driver_init(d);
    driver_perspectives(d, 0);
    driver_up(d);
    assert_non_null(d->exchange);
    assert_true(d->exchange->claim_max > 0);
}

static void end_stream(struct driver *d, int slot, enum outcome_type type, int64_t delay_ms) {
    struct engine_outcome outcome = {.type = type, .delay_ms = delay_ms, .version = 7};
    d->runs[slot].count = 0;
    driver_step(
        d, (struct engine_event){
               .type = EVENT_FINISHED, .slot = slot, .outcomes = &outcome, .count = 1, .elapsed_us = 1000});
}

static void tick(struct driver *d, int64_t ms) {
    d->now_ms += ms;
    driver_event(d, EVENT_TICK);
}

/* Time passes, and beats get through. */
static void pass(struct driver *d, int64_t ms) {
    for (int64_t left_ms = ms; left_ms > 0; left_ms -= 1000) {
        tick(d, left_ms < 1000 ? left_ms : 1000);
        if (d->beats > 0) {
            d->beats = 0;
            driver_beat_ok(d, 0, false);
        }
        if (d->exchange != NULL && d->exchange->renewal_count == 0)
            driver_exchanged(d, ANSWER_APPLIED, 0);
    }
}

/* As many as there are slots are asked for; each has one of its own. */
static void test_a_stream_is_an_item(void **state) {
    (void)state;
    struct driver d;
    begin(&d);
    assert_int_equal(d.exchange->claim_max, 4);
    driver_exchanged(&d, ANSWER_APPLIED, 4);
    assert_int_equal(d.starts, 4);
    assert_int_equal(d.runs[3].checkpoints[0]->version, 3);
    assert_int_equal(d.exchange->claim_max, 1); /* all of it came: one more may wait for the next slot */
    driver_exchanged(&d, ANSWER_APPLIED, 0);
    for (int i = 0; i < 4; i++)
        end_stream(&d, i, OUTCOME_DONE, 0);
    assert_int_equal(d.exchange->report_count, 4);
    assert_int_equal(d.exchange->reports[0].status, CHECKPOINT_COMPLETED);
    assert_int_equal(d.exchange->reports[0].version, 7);
    driver_exchanged(&d, ANSWER_APPLIED, 0);
    driver_free(&d);
}

/* What runs is renewed after a third of its lease; what the store has taken back is told to end, and what it
 * did is not reported. */
static void test_a_stream_is_renewed_and_fenced(void **state) {
    (void)state;
    struct driver d;
    begin(&d);
    driver_exchanged(&d, ANSWER_APPLIED, 4);
    int64_t token = d.token;
    for (int i = 1; i < 4; i++)
        end_stream(&d, i, OUTCOME_DONE, 0);
    tick(&d, ENGINE_JOB_LINGER_MS);
    driver_exchanged(&d, ANSWER_APPLIED, 0); /* it asks for more while there is room */
    pass(&d, d.config.lease_ms / 3);
    assert_int_equal(d.exchange->renewal_count, 1);
    assert_int_equal(d.exchange->renewals[0].token, token);
    driver_exchanged(&d, ANSWER_APPLIED, 0);
    assert_int_equal(d.cancels, 0);
    pass(&d, d.config.lease_ms / 3);
    assert_int_equal(d.exchange->renewal_count, 1);
    driver_exchanged(&d, ANSWER_STALE, 0);
    assert_int_equal(d.cancels, 1);
    assert_int_equal(d.cancel_reason, STOP_FENCED);
    end_stream(&d, 0, OUTCOME_DONE, 0);
    tick(&d, d.config.poll_ms);
    assert_int_equal(d.exchange->report_count, 0);
    driver_exchanged(&d, ANSWER_APPLIED, 0);
    driver_free(&d);
}

/* A report whose answer got lost is made again, and nothing is renewed twice at once. */
static void test_a_lost_report_is_repeated(void **state) {
    (void)state;
    struct driver d;
    begin(&d);
    driver_exchanged(&d, ANSWER_APPLIED, 1);
    end_stream(&d, 0, OUTCOME_DONE, 0);
    assert_int_equal(d.exchange->report_count, 1);
    d.exchange = NULL;
    driver_step(&d, (struct engine_event){.type = EVENT_EXCHANGED, .status = PAWL_UNKNOWN});
    assert_null(d.exchange);
    tick(&d, ENGINE_BACKOFF_MS_MAX);
    assert_int_equal(d.exchange->report_count, 1);
    assert_int_equal(d.exchange->reports[0].version, 7);
    driver_exchanged(&d, ANSWER_APPLIED, 0);
    driver_free(&d);
}

/* What was found is looked for again at once, until nothing is; then the worker polls. */
static void test_a_search_goes_on_while_it_finds(void **state) {
    (void)state;
    struct driver d;
    begin(&d);
    assert_false(engine_metrics(d.core).perspectives_idle);
    driver_exchanged(&d, ANSWER_APPLIED, 1);
    end_stream(&d, 0, OUTCOME_SNOOZE, 0); /* its slice is over, and there is more */
    assert_int_equal(d.exchange->reports[0].status, CHECKPOINT_PENDING);
    assert_true(d.exchange->claim_max > 0);
    driver_exchanged(&d, ANSWER_APPLIED, 0);
    assert_null(d.exchange);
    driver_event(&d, EVENT_TICK);
    assert_true(engine_metrics(d.core).perspectives_idle);
    tick(&d, d.config.poll_ms - 1);
    assert_null(d.exchange);
    driver_event(&d, EVENT_DUE);
    assert_true(d.exchange->claim_max > 0);
    driver_exchanged(&d, ANSWER_APPLIED, 0);
    driver_free(&d);
}

/* A stream that cannot begin soon is left to other workers, without an attempt. */
static void test_a_stream_that_waits_goes_back(void **state) {
    (void)state;
    struct driver d;
    begin(&d);
    driver_exchanged(&d, ANSWER_APPLIED, 5);
    assert_int_equal(d.starts, 4);
    tick(&d, ENGINE_WAIT_MS);
    tick(&d, ENGINE_JOB_LINGER_MS);
    assert_int_equal(d.exchange->report_count, 1);
    assert_int_equal(d.exchange->reports[0].status, CHECKPOINT_PENDING);
    assert_int_equal(d.exchange->reports[0].version, 3);
    driver_exchanged(&d, ANSWER_APPLIED, 0);
    driver_free(&d);
}

/* A worker without a free slot does not claim again at once what it has just left to others; with one it
 * does. */
static void test_a_full_worker_leaves_streams_to_others(void **state) {
    (void)state;
    struct driver d;
    begin(&d);
    driver_exchanged(&d, ANSWER_APPLIED, 5);
    tick(&d, ENGINE_WAIT_MS);
    tick(&d, ENGINE_JOB_LINGER_MS);
    assert_int_equal(d.exchange->report_count, 1);
    assert_int_equal(d.exchange->claim_max, 0);
    driver_exchanged(&d, ANSWER_APPLIED, 0);
    driver_event(&d, EVENT_DUE);
    assert_null(d.exchange);
    tick(&d, ENGINE_FULL_MS - ENGINE_JOB_LINGER_MS - 1);
    assert_null(d.exchange);
    tick(&d, 1);
    assert_int_equal(d.exchange->claim_max, 1);
    driver_exchanged(&d, ANSWER_APPLIED, 1);
    tick(&d, ENGINE_WAIT_MS);
    tick(&d, ENGINE_JOB_LINGER_MS);
    assert_int_equal(d.exchange->claim_max, 0);
    driver_exchanged(&d, ANSWER_APPLIED, 0);
    assert_null(d.exchange);
    end_stream(&d, 0, OUTCOME_DONE, 0);
    assert_int_equal(d.exchange->claim_max, 1);
    driver_exchanged(&d, ANSWER_APPLIED, 0);
    driver_free(&d);
}

/* Wake-ups use the slots of perspectives, all of them: none gets everything. */
static void test_wake_ups_are_spread(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    d.handlers[0].batched = true;
    d.config.batch = WAKES;
    driver_perspectives(&d, 0);
    driver_up(&d);
    struct driver_grant *grant = driver_grant_new(&d);
    static char names[WAKES][8];
    for (int i = 0; i < WAKES && i < DRIVER_ITEMS_MAX; i++) {
        snprintf(names[i], sizeof(names[i]), "s%d", i);
        driver_item(&d, grant, names[i], "a")->kind = KIND_PERSPECTIVE;
    }
    grant->result.claimed[KIND_PERSPECTIVE] = grant->result.claimed[KIND_OUTBOX];
    grant->result.claimed[KIND_OUTBOX] = (struct item_list){0};
    size_t each = grant->result.claimed[KIND_PERSPECTIVE].count / 4;
    driver_answer(&d, grant);
    assert_int_equal(d.starts, 4);
    for (int i = 0; i < 4; i++) {
        assert_true(d.runs[i].count <= ENGINE_BUNDLE_CALLS);
        assert_true(d.runs[i].count >= (each < ENGINE_BUNDLE_CALLS ? each : ENGINE_BUNDLE_CALLS));
    }
    driver_exchanged(&d, ANSWER_APPLIED, 0);
    driver_free(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_stream_is_an_item),
        cmocka_unit_test(test_a_stream_is_renewed_and_fenced),
        cmocka_unit_test(test_a_lost_report_is_repeated),
        cmocka_unit_test(test_a_search_goes_on_while_it_finds),
        cmocka_unit_test(test_a_stream_that_waits_goes_back),
        cmocka_unit_test(test_a_full_worker_leaves_streams_to_others),
        cmocka_unit_test(test_wake_ups_are_spread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
