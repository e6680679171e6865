/* Tests of the engine's core: being woken, where to look then, and how little an idle worker says. */
#include "unit/engine/engine_driver.h"

/* covers: P45 P37 */
static void test_poll_interval_and_wake(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    d.config.poll_ms = 100;
    d.config.quiet_poll_ms = 5000;
    driver_up(&d);
    driver_answer_empty(&d);
    driver_wait(&d, 100);
    driver_ready(&d);
    driver_answer_empty(&d); /* idle now */
    driver_step(&d, (struct engine_event){.type = EVENT_WAKER, .wakes = true});
    assert_int_equal(d.waits, 1);
    /* Somebody was putting who may not have seen the wish: polls go on as before, and the directive is made
     * again.
     */
    driver_step(&d, (struct engine_event){.type = EVENT_WAITING, .wait_late = true});
    driver_ready(&d);
    driver_answer_empty(&d);
    driver_wait(&d, 100);
    driver_ready(&d);
    driver_answer_empty(&d);
    assert_int_equal(d.waits, 2);
    driver_step(&d, (struct engine_event){.type = EVENT_WAITING});
    /* What was put before the directive wakes nobody: one more poll, then polls are stretched. */
    driver_ready(&d);
    driver_answer_empty(&d);
    int batches = d.batches;
    driver_wait(&d, 4000);
    assert_int_equal(d.batches, batches);
    assert_false(d.checking);
    driver_event(&d, EVENT_WAKE);
    driver_ready(&d);
    assert_non_null(d.batch);
    struct driver_grant *grant = driver_grant_new(&d);
    driver_item(&d, grant, "s1", "a");
    driver_answer(&d, grant);
    assert_false(d.checking); /* less than it asked for: whoever puts more will wake it */
    assert_int_equal(d.wait_ends, 0);
    driver_wait(&d, 1000); /* busy for good: nobody has to notify us now */
    assert_int_equal(d.wait_ends, 1);
    driver_free(&d);
}

/* Up, idle, and sure to be woken. */
static void up_and_waiting(struct driver *d) {
    d->config.quiet_poll_ms = 14500;
    driver_up(d);
    driver_answer_empty(d);
    driver_wait(d, d->config.poll_ms);
    driver_ready(d);
    driver_answer_empty(d);
    driver_step(d, (struct engine_event){.type = EVENT_WAKER, .wakes = true});
    driver_step(d, (struct engine_event){.type = EVENT_WAITING});
    driver_ready(d);
    driver_answer_empty(d);
    assert_int_equal(d->idle, 1);
    assert_false(d->checking);
}

/* covers: P45 */
static void test_a_wake_up_during_a_batch_is_not_lost(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    up_and_waiting(&d);
    driver_event(&d, EVENT_WAKE);
    driver_ready(&d);
    assert_non_null(d.batch);
    driver_event(&d, EVENT_WAKE); /* for something that this claim was too early for */
    driver_answer_empty(&d);
    driver_ready(&d);
    assert_non_null(d.batch);
    driver_answer_empty(&d); /* now it has seen everything */
    assert_false(d.checking);
    driver_free(&d);
}

static void wake_at(struct driver *d, int lane) {
    driver_step(d, (struct engine_event){.type = EVENT_WAKE, .place = {KIND_OUTBOX, lane}});
    driver_ready(d);
}

static void test_who_is_told_where_looks_only_there(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    up_and_waiting(&d);
    wake_at(&d, 7);
    assert_int_equal(d.batch->only.kind, KIND_OUTBOX);
    assert_int_equal(d.batch->only.lane, 7);
    assert_true(d.batch->claim_max[KIND_OUTBOX] > 0);
    driver_answer_empty(&d); /* somebody else's: no poll follows, and it is as idle as before */
    assert_null(d.batch);
    assert_false(d.checking);
    int batches = d.batches;
    driver_wait(&d, 4000);
    assert_int_equal(d.batches, batches);
    assert_int_equal(d.idle, 1);
    wake_at(&d, 7);
    struct driver_grant *grant = driver_grant_new(&d);
    driver_item(&d, grant, "s1", "a");
    driver_answer(&d, grant);
    driver_done(&d, 0);
    driver_ready(&d); /* the result goes with a claim of everything */
    assert_int_equal(d.batch->only.kind, 0);
    assert_int_equal(d.batch->completion_count[KIND_OUTBOX], 1);
    assert_true(d.batch->claim_max[KIND_OUTBOX] > 0);
    driver_answer_empty(&d);
    driver_free(&d);
}

/* A claim of one lane says nothing of the instance, whose lease may be over when its answer comes. */
/* covers: B4.14 */
static void test_nothing_begins_when_the_lease_of_the_instance_is_over(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    up_and_waiting(&d);
    wake_at(&d, 7);
    d.now_ms += 15000;
    struct driver_grant *grant = driver_grant_new(&d);
    driver_item(&d, grant, "s1", "a");
    driver_answer(&d, grant);
    assert_int_equal(d.starts, 0);
    driver_free(&d);
}

static void test_a_second_place_means_everywhere(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    up_and_waiting(&d);
    wake_at(&d, 7);
    driver_step(&d, (struct engine_event){.type = EVENT_WAKE, .place = {KIND_OUTBOX, 8}}); /* on its way */
    driver_answer_empty(&d);
    driver_ready(&d);
    assert_int_equal(d.batch->only.kind, 0);
    driver_answer_empty(&d);
    /* Before the first is sent: the store is being asked whether it is ready. */
    driver_step(&d, (struct engine_event){.type = EVENT_WAKE, .place = {KIND_OUTBOX, 7}});
    assert_true(d.checking);
    driver_step(&d, (struct engine_event){.type = EVENT_WAKE, .place = {KIND_OUTBOX, 8}});
    driver_ready(&d);
    assert_int_equal(d.batch->only.kind, 0);
    driver_answer_empty(&d);
    driver_free(&d);
}

/* The time under which the store made the claim is known only when it is asked as a whole. */
static void test_a_claim_of_a_lane_goes_out_again_as_a_whole(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    up_and_waiting(&d);
    wake_at(&d, 7);
    pawl_uuid request = d.batch->request;
    driver_step(&d, (struct engine_event){.type = EVENT_BATCH, .status = PAWL_UNKNOWN});
    driver_wait(&d, 60000);
    driver_ready(&d);
    assert_non_null(d.batch);
    assert_int_equal(d.batch->only.kind, 0);
    assert_memory_equal(&d.batch->request, &request, sizeof(request));
    assert_true(d.batch->claim_max[KIND_OUTBOX] > 0);
    driver_answer_empty(&d);
    driver_free(&d);
}

/* covers: P45 P60 */
static void test_one_message_costs_two_batches(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    up_and_waiting(&d);
    int batches = d.batches;
    driver_event(&d, EVENT_WAKE);
    driver_ready(&d);
    struct driver_grant *grant = driver_grant_new(&d);
    driver_item(&d, grant, "s1", "a");
    driver_answer(&d, grant);
    assert_false(d.checking);
    driver_done(&d, 0);
    driver_ready(&d); /* the result, and with it the next claim */
    assert_int_equal(d.batch->completion_count[KIND_OUTBOX], 1);
    assert_true(d.batch->claim_max[KIND_OUTBOX] > 0);
    driver_answer_empty(&d);
    assert_int_equal(d.batches, batches + 2);
    driver_wait(&d, d.config.poll_ms);
    driver_ready(&d);
    driver_answer_empty(&d);
    assert_int_equal(d.idle, 2); /* that claim counted as a poll */
    driver_free(&d);
}

/* An idle poll stands for the beat behind it, but never for two in a row; beats are further apart than a busy
 * worker's, but never more than half the lease. */
/* covers: P45 */
static void test_an_idle_worker_says_little(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    up_and_waiting(&d);
    driver_beat_ok(&d, 0, false);
    int before = d.beats, beats = d.beats, batches = d.batches, whole = 0;
    int64_t began_ms = d.now_ms, called_ms = d.now_ms;
    while (d.now_ms < began_ms + 60000) {
        driver_wait(&d, 100);
        bool called = d.batch != NULL || d.checking || d.beats > beats;
        if (d.checking)
            driver_ready(&d);
        if (d.batch != NULL)
            driver_answer_empty(&d);
        if (d.waits > 1) {
            d.waits = 1;
            driver_step(&d, (struct engine_event){.type = EVENT_WAITING});
        }
        if (d.beats > beats) {
            beats = d.beats;
            whole += !d.brief;
            assert_true(d.brief == (d.known == NULL));
            driver_beat_ok(&d, 0, false);
        }
        assert_in_range(d.now_ms - called_ms, 0, d.config.instance_lease_ms / 2 + 200);
        if (called)
            called_ms = d.now_ms;
    }
    assert_in_range(d.beats - before, 4, 5);
    assert_in_range(d.batches - batches, 4, 5);
    assert_int_equal(whole, 1); /* the first one; the others only renew the lease */
    driver_free(&d);
}

/* The next beat, however long it takes. */
static void next_beat(struct driver *d) {
    for (int beats = d->beats; d->beats == beats;) {
        driver_wait(d, 100);
        if (d->checking)
            driver_ready(d);
        if (d->batch != NULL)
            driver_answer_empty(d);
        if (d->waits > 1) {
            d->waits = 1;
            driver_step(d, (struct engine_event){.type = EVENT_WAITING});
        }
    }
}

/* Beats of an idle worker are brief for five minutes, unless there is a reason to compare or to count. */
static void test_a_brief_beat_is_followed_by_a_whole_one(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    up_and_waiting(&d);
    driver_beat_ok(&d, 0, false);
    next_beat(&d);
    assert_false(d.brief);
    driver_beat_ok(&d, 0, false);
    for (int64_t until_ms = d.now_ms + ENGINE_WHOLE_BEAT_MS; d.now_ms < until_ms - 20000;) {
        next_beat(&d);
        assert_true(d.brief);
        driver_beat_ok(&d, 0, false);
    }
    next_beat(&d);
    driver_beat_ok(&d, 0, false);
    next_beat(&d);
    driver_beat_ok(&d, 0, false);
    next_beat(&d);
    assert_true(d.brief); /* one of the last two was whole */
    driver_beat_ok(&d, 0, false);
    /* News, and what got lost while the store did not answer. */
    driver_wait(&d, 1000);
    driver_step(&d, (struct engine_event){.type = EVENT_WAKE, .news = true});
    assert_false(d.brief);
    driver_ready(&d);
    driver_answer_empty(&d);
    driver_beat_ok(&d, 0, false);
    driver_wait(&d, 4000);
    next_beat(&d);
    assert_false(d.brief); /* the first after the wake-up */
    driver_beat_ok(&d, 0, false);
    driver_event(&d, EVENT_WAKE);
    driver_ready(&d);
    driver_step(&d, (struct engine_event){.type = EVENT_BATCH, .status = PAWL_UNKNOWN});
    next_beat(&d);
    assert_false(d.brief);
    assert_non_null(d.known);
    driver_free(&d);
}

/* Who is woken after a long silence beats at once: there may be a pause to be seen. */
static void test_a_wake_up_after_a_while_is_a_beat(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    up_and_waiting(&d);
    driver_beat_ok(&d, 0, false);
    int beats = d.beats;
    driver_wait(&d, 3000);
    driver_event(&d, EVENT_WAKE);
    assert_int_equal(d.beats, beats); /* the last one is not old */
    driver_ready(&d);
    driver_answer_empty(&d);
    driver_wait(&d, 1100);
    assert_int_equal(d.beats, beats + 1);
    driver_beat_ok(&d, 0, false);
    driver_wait(&d, 6000);
    assert_int_equal(d.beats, beats + 1);
    driver_event(&d, EVENT_WAKE);
    assert_int_equal(d.beats, beats + 2);
    driver_free(&d);
}

/* News of a pause or a cancelled message do not wait for the next beat; many of them are one. */
static void test_news_are_fetched_at_once(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    up_and_waiting(&d);
    driver_beat_ok(&d, 0, false);
    int beats = d.beats;
    driver_wait(&d, 1000);
    driver_step(&d, (struct engine_event){.type = EVENT_WAKE, .news = true});
    assert_int_equal(d.beats, beats + 1);
    driver_ready(&d);
    driver_answer_empty(&d);
    /* While it is on its way: it may have looked too early. */
    for (int i = 0; i < 5; i++)
        driver_step(&d, (struct engine_event){.type = EVENT_WAKE, .news = true});
    assert_int_equal(d.beats, beats + 1);
    driver_beat_ok(&d, 0, false);
    driver_wait(&d, 60);
    assert_int_equal(d.beats, beats + 2);
    driver_beat_ok(&d, 0, false);
    driver_wait(&d, 1000);
    assert_int_equal(d.beats, beats + 2);
    driver_free(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_poll_interval_and_wake),
        cmocka_unit_test(test_a_wake_up_during_a_batch_is_not_lost),
        cmocka_unit_test(test_who_is_told_where_looks_only_there),
        cmocka_unit_test(test_nothing_begins_when_the_lease_of_the_instance_is_over),
        cmocka_unit_test(test_a_second_place_means_everywhere),
        cmocka_unit_test(test_a_claim_of_a_lane_goes_out_again_as_a_whole),
        cmocka_unit_test(test_one_message_costs_two_batches),
        cmocka_unit_test(test_an_idle_worker_says_little),
        cmocka_unit_test(test_a_brief_beat_is_followed_by_a_whole_one),
        cmocka_unit_test(test_a_wake_up_after_a_while_is_a_beat),
        cmocka_unit_test(test_news_are_fetched_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
