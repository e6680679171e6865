/* Tests of the engine's core that the simulator asked for: results that overtake one another. */
#include "unit/engine/engine_driver.h"

/* Brings the worker up with `count` messages of one stream; then nothing more is there. */
static void up_with_stream(struct driver *d, int count) {
    driver_up(d);
    struct driver_grant *grant = driver_grant_new(d);
    for (int i = 0; i < count; i++)
        driver_item(d, grant, "s1", "a");
    driver_answer(d, grant);
    driver_ready(d);
    driver_answer_empty(d);
}

static void report_answered(struct driver *d, size_t at, enum store_answer answer) {
    driver_step(d, (struct engine_event){
                       .type = EVENT_REPORTED, .report = d->reports[at].number, .answers = &answer});
}

/* The later result arrived first and was answered conflict: it waits for the earlier one, and gives nothing
 * back. (Found by the simulator, seed 128.) */
/* covers: P48 M07 */
static void test_an_instant_result_waits_for_the_one_before_it(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    d.config.strategy.type = STRATEGY_INSTANT;
    up_with_stream(&d, 3);
    driver_done(&d, 0);
    driver_done(&d, 0);
    assert_int_equal(d.report_count, 2);
    report_answered(&d, 1, ANSWER_CONFLICT);
    assert_false(d.checking);
    report_answered(&d, 0, ANSWER_APPLIED);
    driver_ready(&d);
    assert_int_equal(d.batch->completion_count[KIND_OUTBOX], 1);
    assert_int_equal(d.batch->completions[KIND_OUTBOX][0].ref.id.b[15], 2);
    driver_answer_empty(&d);
    assert_int_equal(engine_metrics(d.core).completed, 2);
    assert_int_equal(d.runs[0].count, 1);
    driver_free(&d);
}

/* The earlier result was lost as well: both travel together, in order. */
static void test_results_that_waited_travel_in_order(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    d.config.strategy.type = STRATEGY_INSTANT;
    up_with_stream(&d, 2);
    driver_done(&d, 0);
    driver_done(&d, 0);
    report_answered(&d, 1, ANSWER_CONFLICT);
    driver_step(&d, (struct engine_event){
                        .type = EVENT_REPORTED, .report = d.reports[0].number, .status = PAWL_UNKNOWN});
    driver_ready(&d);
    assert_int_equal(d.batch->completion_count[KIND_OUTBOX], 2);
    assert_int_equal(d.batch->completions[KIND_OUTBOX][0].ref.id.b[15], 1);
    assert_int_equal(d.batch->completions[KIND_OUTBOX][1].ref.id.b[15], 2);
    driver_answer_empty(&d);
    driver_free(&d);
}

/* The earlier result got lost, and the later one was refused because of that: neither is given back, both
 * travel with the next batch. */
static void test_a_result_refused_because_of_a_lost_one_is_not_given_back(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    d.config.strategy.type = STRATEGY_INSTANT;
    up_with_stream(&d, 2);
    driver_done(&d, 0);
    driver_done(&d, 0);
    driver_step(&d, (struct engine_event){
                        .type = EVENT_REPORTED, .report = d.reports[0].number, .status = PAWL_UNKNOWN});
    report_answered(&d, 1, ANSWER_CONFLICT);
    driver_ready(&d);
    assert_int_equal(d.batch->completion_count[KIND_OUTBOX], 2);
    assert_int_equal(d.batch->release_count[KIND_OUTBOX], 0);
    driver_answer_empty(&d);
    assert_int_equal(engine_metrics(d.core).completed, 2);
    driver_free(&d);
}

/* What is behind a message that was given back does not run: the store has set it aside. */
/* covers: M07 */
static void test_what_is_behind_a_snoozed_message_does_not_run(void **state) {
    (void)state;
    static const enum outcome_type outcomes[] = {OUTCOME_SNOOZE, OUTCOME_CANCELLED};
    for (size_t i = 0; i < 2; i++) {
        struct driver d;
        driver_init(&d);
        up_with_stream(&d, 2);
        driver_finish(&d, 0, &outcomes[i]);
        assert_int_equal(d.starts, 1);
        assert_int_equal(engine_metrics(d.core).waiting, 0);
        driver_ready(&d);
        assert_int_equal(d.batch->release_count[KIND_OUTBOX], 1);
        driver_answer_empty(&d);
        assert_int_equal(d.starts, 1);
        driver_free(&d);
    }
}

/* A completion that breaks the order is given back, and with it everything behind it: the store has set that
 * aside.
 */
static void test_what_is_behind_a_conflict_does_not_run(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    up_with_stream(&d, 3);
    driver_done(&d, 0);
    driver_wait(&d, ENGINE_HOLD_MS);
    driver_ready(&d);
    assert_int_equal(d.batch->completion_count[KIND_OUTBOX], 1);
    struct driver_grant *grant = driver_grant_new(&d);
    grant->answers[0] = ANSWER_CONFLICT;
    driver_answer(&d, grant);
    assert_int_equal(d.cancels, 1);
    assert_int_equal(d.cancel_reason, STOP_FENCED);
    int starts = d.starts;
    driver_done(&d, 0);
    driver_ready(&d);
    assert_int_equal(d.batch->completion_count[KIND_OUTBOX], 0);
    assert_int_equal(d.batch->release_count[KIND_OUTBOX], 1);
    driver_answer_empty(&d);
    assert_int_equal(d.starts, starts);
    assert_int_equal(engine_metrics(d.core).fenced, 1);
    driver_free(&d);
}

/* Everything is dropped while a result waits for another: nothing is left that would hold up a stop. */
static void test_a_waiting_result_is_dropped_with_everything(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    d.config.strategy.type = STRATEGY_INSTANT;
    up_with_stream(&d, 2);
    driver_done(&d, 0);
    driver_done(&d, 0);
    report_answered(&d, 1, ANSWER_CONFLICT);
    driver_step(&d, (struct engine_event){.type = EVENT_BEAT, .status = PAWL_STALE});
    report_answered(&d, 0, ANSWER_STALE);
    driver_event(&d, EVENT_STOP);
    d.checking = false;
    driver_event(&d, EVENT_NOT_READY);
    assert_int_equal(d.exits, 1);
    driver_free(&d);
}

/* The failure was stored, its answer got lost, and the stream was claimed anew before that is known: what the
 * old grant of `count` messages left behind is dropped, the new one runs. (Found by the simulator, seed
 * 17155.) */
static void late_answer(int count) {
    struct driver d;
    driver_init(&d);
    d.config.strategy.type = STRATEGY_INSTANT;
    up_with_stream(&d, count);
    enum outcome_type fail = OUTCOME_RETRY;
    driver_finish(&d, 0, &fail);
    assert_int_equal(d.report_count, 1);
    driver_wait(&d, d.config.poll_ms);
    driver_ready(&d);
    struct driver_grant *grant = driver_grant_new(&d);
    int64_t first = driver_item(&d, grant, "s1", "a")->seq;
    driver_item(&d, grant, "s1", "a");
    driver_answer(&d, grant);
    assert_int_equal(d.runs[0].count, 0); /* the old failure is still without an answer */
    driver_step(&d, (struct engine_event){
                        .type = EVENT_REPORTED, .report = d.reports[0].number, .status = PAWL_UNKNOWN});
    driver_ready(&d);
    if (d.batch->failure_count[KIND_OUTBOX] == 0) { /* a poll was on its way already */
        driver_answer_empty(&d);
        driver_ready(&d);
    }
    assert_int_equal(d.batch->failure_count[KIND_OUTBOX], 1);
    grant = driver_grant_new(&d);
    grant->answers[0] = ANSWER_DUPLICATE;
    driver_answer(&d, grant);
    assert_int_equal(d.runs[0].count, 1);
    assert_int_equal(d.runs[0].items[0]->seq, first);
    driver_free(&d);
}

/* covers: M07 J56 */
static void test_a_late_answer_leaves_a_newer_grant_alone(void **state) {
    (void)state;
    late_answer(3);
    late_answer(1);
}

/* A hung message is not kept alive by its siblings, also after its fence: they are renewed by name. */
/* covers: J56 B4.14 */
static void test_after_a_fence_the_rest_is_renewed_by_name(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    d.config.slots = 1;
    d.config.poll_ms = 1000000;
    driver_up(&d);
    struct driver_grant *grant = driver_grant_new(&d);
    driver_item(&d, grant, NULL, "a");
    int64_t waiting = driver_item(&d, grant, NULL, "a")->seq;
    driver_answer(&d, grant);
    driver_ready(&d);
    driver_answer_empty(&d);
    driver_beat_ok(&d, 0, false);
    int by_name = 0;
    for (int i = 0; i < 1200 && by_name < 3; i++) {
        driver_wait(&d, 500);
        if (d.beats > 1) {
            d.beats = 1;
            driver_beat_ok(&d, 0, false);
        }
        if (!d.checking)
            continue;
        driver_ready(&d);
        if (d.cancels > 0 && d.batch->renewal_count[KIND_OUTBOX] > 0) {
            assert_int_equal(d.batch->renewal_count[KIND_OUTBOX], 1);
            assert_int_equal(d.batch->renewals[KIND_OUTBOX][0].id.b[15], waiting);
            by_name++;
        }
        driver_answer_empty(&d);
    }
    assert_int_equal(by_name, 3);
    driver_free(&d);
}

/* A lease runs from when it was asked for: the store may have renewed long before its answer came. */
/* covers: B4.14 */
static void test_a_renewed_lease_counts_from_the_question(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    d.config.lease_ms = 10000;
    up_with_stream(&d, 1);
    driver_wait(&d, d.config.lease_ms / 3);
    driver_ready(&d);
    assert_int_equal(d.batch->renewal_count[KIND_OUTBOX], 1);
    int64_t sent_ms = d.now_ms;
    d.now_ms += 700;
    struct driver_grant *grant = driver_grant_new(&d);
    grant->result.lease_until_ms = 60005; /* the instance's */
    driver_answer(&d, grant);
    d.now_ms = sent_ms + 10000 - 1000 - 1; /* nothing is answered any more */
    driver_event(&d, EVENT_TICK);
    assert_int_equal(d.cancels, 0);
    driver_wait(&d, 1);
    assert_int_equal(d.cancels, 1);
    driver_free(&d);
}

/* The next beat; what it says is held is in d->known. */
static void next_beat(struct driver *d) {
    int beats = d->beats;
    for (int i = 0; i < 200 && d->beats == beats; i++)
        driver_wait(d, 100);
    assert_int_equal(d->beats, beats + 1);
}

/* What ran until its lease was over may have killed its worker's patience: the store hears of it as held
 * until it has taken it back itself, and so counts it as lost, not as given back. */
static void test_what_ran_into_its_fence_is_said_to_be_held(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    d.config.lease_ms = 6000;
    up_with_stream(&d, 1);
    driver_beat_ok(&d, 0, false);
    while (d.cancels == 0) { /* its renewals get lost */
        int beats = d.beats;
        driver_wait(&d, 100);
        if (d.beats > beats)
            driver_beat_ok(&d, 0, false);
        if (d.checking)
            driver_ready(&d);
        if (d.batch != NULL)
            driver_fail_batch(&d, PAWL_UNAVAILABLE);
    }
    driver_done(&d, 0);
    next_beat(&d);
    assert_int_equal(d.known->count, 1);
    assert_int_equal(d.known->held[0].number, 1);
    driver_beat_ok(&d, 0, false);
    next_beat(&d);
    driver_beat_ok(&d, 0, false);
    next_beat(&d);
    assert_int_equal(d.known->count, 0);
    driver_free(&d);
}

static int busy_slots(const struct driver *d) {
    int busy = 0;
    for (int i = 0; i < 16; i++)
        busy += d->runs[i].count > 0;
    return busy;
}

/* The stream still waits for the handler of the message that was taken back. */
static void test_a_suspect_of_another_handler_than_the_one_before_it_begins(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    d.config.slots = 1;
    driver_up(&d);
    struct driver_grant *grant = driver_grant_new(&d);
    driver_item(&d, grant, "s1", "a")->suspect = true;
    driver_answer(&d, grant);
    driver_ready(&d);
    grant = driver_grant_new(&d);
    grant->answers[0] = ANSWER_STALE;
    driver_item(&d, grant, "s1", "b")->suspect = true;
    driver_answer(&d, grant);
    driver_ready(&d);
    assert_non_null(d.batch);
    assert_int_equal(d.batch->renewal_count[KIND_OUTBOX], 1);
    driver_answer_empty(&d);
    assert_int_equal(d.starts, 1);
    driver_free(&d);
}

/* Two calls that the store answers side by side may each give a suspect: they run one after the other. */
static void test_a_suspect_waits_for_one_that_runs(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    d.config.slots = 3;
    driver_up(&d);
    struct driver_grant *grant = driver_grant_new(&d);
    driver_item(&d, grant, "s1", "a")->suspect = true;
    struct item *second = driver_item(&d, grant, "s2", "a");
    second->suspect = true;
    second->token = ++d.token;
    int64_t token = second->token;
    driver_answer(&d, grant);
    driver_ready(&d);
    assert_int_equal(d.batch->renewal_count[KIND_OUTBOX], 1);
    assert_int_equal(d.batch->renewals[KIND_OUTBOX][0].token, token - 1);
    driver_answer_empty(&d);
    assert_int_equal(busy_slots(&d), 1);
    while (d.checking) { /* the second is neither said to begin nor started */
        driver_ready(&d);
        assert_int_equal(d.batch->renewal_count[KIND_OUTBOX], 0);
        driver_answer_empty(&d);
        assert_int_equal(busy_slots(&d), 1);
    }
    driver_wait(&d, DRIVER_LEASE_MS / 3); /* to renew the second would say that it begins */
    driver_ready(&d);
    assert_int_equal(d.batch->renewal_count[KIND_OUTBOX], 1);
    assert_int_equal(d.batch->renewals[KIND_OUTBOX][0].token, token - 1);
    driver_answer_empty(&d);
    driver_done(&d, d.runs[0].count > 0 ? 0 : 1);
    assert_int_equal(busy_slots(&d), 0);
    if (!d.checking)
        driver_wait(&d, 1000);
    driver_ready(&d);
    assert_int_equal(d.batch->renewal_count[KIND_OUTBOX], 1);
    assert_int_equal(d.batch->renewals[KIND_OUTBOX][0].token, token);
    driver_answer_empty(&d);
    assert_int_equal(busy_slots(&d), 1);
    driver_free(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_suspect_of_another_handler_than_the_one_before_it_begins),
        cmocka_unit_test(test_a_suspect_waits_for_one_that_runs),
        cmocka_unit_test(test_an_instant_result_waits_for_the_one_before_it),
        cmocka_unit_test(test_results_that_waited_travel_in_order),
        cmocka_unit_test(test_a_result_refused_because_of_a_lost_one_is_not_given_back),
        cmocka_unit_test(test_what_is_behind_a_snoozed_message_does_not_run),
        cmocka_unit_test(test_what_is_behind_a_conflict_does_not_run),
        cmocka_unit_test(test_a_waiting_result_is_dropped_with_everything),
        cmocka_unit_test(test_a_late_answer_leaves_a_newer_grant_alone),
        cmocka_unit_test(test_after_a_fence_the_rest_is_renewed_by_name),
        cmocka_unit_test(test_a_renewed_lease_counts_from_the_question),
        cmocka_unit_test(test_what_ran_into_its_fence_is_said_to_be_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
