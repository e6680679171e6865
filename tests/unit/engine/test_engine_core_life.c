/* Tests of the engine's core: start, readiness, polls, states, eviction, stop; no clock but the test's own.
 */
#include "unit/engine/engine_driver.h"

/* covers: J16 B4.13 */
static void test_state_table(void **state) {
    (void)state;
    static const enum engine_state allowed[][2] = {
        {ENGINE_STARTING, ENGINE_READY},      {ENGINE_STARTING, ENGINE_ERROR},
        {ENGINE_STARTING, ENGINE_STOPPING},   {ENGINE_READY, ENGINE_PROCESSING},
        {ENGINE_READY, ENGINE_ERROR},         {ENGINE_READY, ENGINE_STOPPING},
        {ENGINE_PROCESSING, ENGINE_READY},    {ENGINE_PROCESSING, ENGINE_ERROR},
        {ENGINE_PROCESSING, ENGINE_STOPPING}, {ENGINE_ERROR, ENGINE_READY},
        {ENGINE_ERROR, ENGINE_STOPPING},      {ENGINE_STOPPING, ENGINE_STOPPED},
    };
    for (enum engine_state from = 0; from < ENGINE_STATE_COUNT; from++) {
        for (enum engine_state to = 0; to < ENGINE_STATE_COUNT; to++) {
            bool expected = false;
            for (size_t i = 0; i < sizeof(allowed) / sizeof(*allowed); i++)
                expected = expected || (allowed[i][0] == from && allowed[i][1] == to);
            assert_int_equal(engine_state_allowed(from, to), expected);
        }
    }
}

/* covers: P28 J15 */
static void test_start_works_before_the_first_delay(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    driver_create(&d);
    assert_int_equal(d.checks, 1);
    assert_int_equal(d.registers, 0);
    driver_ready(&d);
    assert_int_equal(d.registers, 1);
    driver_registered(&d);
    driver_ready(&d);
    /* The clock has not moved. */
    assert_int_equal(d.now_ms, 1000000);
    assert_int_equal(d.batches, 1);
    assert_true(d.batch->claim_max[KIND_OUTBOX] > 0);
    assert_int_equal(d.batch->claim_max[KIND_INBOX], 0);
    assert_int_equal(engine_metrics(d.core).state, ENGINE_READY);
    driver_answer_empty(&d);
    driver_free(&d);
}

/* covers: P29 P31 P32 P33 P34 B0.15 P55 */
static void test_not_ready_counts_warns_and_recovers(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    driver_create(&d);
    for (int i = 1; i <= 100; i++) {
        assert_true(d.checking);
        d.checking = false;
        driver_event(&d, EVENT_NOT_READY);
        assert_int_equal(engine_metrics(d.core).not_ready_checks, i);
        assert_int_equal(d.log_last[LOG_NOT_READY][0], i);
        assert_false(d.checking);
        assert_true(d.timer_ms > d.now_ms && d.timer_ms <= d.now_ms + 2000);
        driver_wait(&d, d.timer_ms - d.now_ms);
        if (i < 10)
            assert_int_equal(d.log_count[LOG_PAUSED], 0);
    }
    assert_int_equal(d.log_count[LOG_START_SKIPPED], 1);
    assert_int_equal(d.log_count[LOG_NOT_READY], 100);
    assert_int_equal(d.log_count[LOG_PAUSED], 2);
    assert_int_equal(d.registers, 0);
    assert_int_equal(d.batches, 0);
    assert_int_equal(engine_metrics(d.core).state, ENGINE_ERROR);
    driver_ready(&d);
    assert_int_equal(engine_metrics(d.core).not_ready_checks, 0);
    assert_int_equal(d.registers, 1);
    driver_registered(&d);
    assert_int_equal(engine_metrics(d.core).state, ENGINE_READY);
    /* Every cycle asks again: no batch without an answer. */
    assert_int_equal(d.batches, 0);
    d.checking = false;
    driver_event(&d, EVENT_NOT_READY);
    assert_int_equal(d.batches, 0);
    assert_int_equal(engine_metrics(d.core).not_ready_checks, 1);
    driver_free(&d);
}

/* However rarely it polls: what it holds would be lost with its lease. */
static void test_not_ready_is_asked_again_soon_while_messages_are_in_hand(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    d.config.poll_ms = 2 * DRIVER_LEASE_MS;
    driver_up(&d);
    struct driver_grant *grant = driver_grant_new(&d);
    driver_item(&d, grant, "s", "a");
    driver_answer(&d, grant);
    driver_done(&d, 0);
    int64_t began_ms = d.now_ms;
    for (int i = 0; i < 3; i++) {
        while (!d.checking)
            driver_wait(&d, 10);
        d.checking = false;
        driver_event(&d, EVENT_NOT_READY);
    }
    while (!d.checking)
        driver_wait(&d, 10);
    assert_true(d.now_ms - began_ms < 1000);
    driver_ready(&d);
    assert_int_equal(d.batch->completion_count[KIND_OUTBOX], 1);
    driver_answer_empty(&d);
    driver_free(&d);
}

/* covers: P30 P35 B0.14 J17 J56 */
static void test_errors_back_off_and_the_loop_goes_on(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    driver_up(&d);
    pawl_uuid key = d.batch->request;
    int64_t last_wait_ms = 0;
    for (int i = 1; i <= 8; i++) {
        driver_fail_batch(&d, PAWL_UNAVAILABLE);
        assert_int_equal(d.log_count[LOG_BATCH_FAILED], i);
        assert_int_equal(engine_metrics(d.core).state, ENGINE_ERROR);
        /* Never at once, never longer than the bound; beats do not count here. */
        assert_null(d.batch);
        int64_t before_ms = d.now_ms;
        while (!d.checking)
            driver_wait(&d, d.timer_ms - d.now_ms);
        last_wait_ms = d.now_ms - before_ms;
        assert_in_range(last_wait_ms, 50, ENGINE_BACKOFF_MS_MAX);
        driver_ready(&d);
        assert_non_null(d.batch);
    }
    assert_true(last_wait_ms >= ENGINE_BACKOFF_MS_MAX / 2);
    assert_memory_equal(&key, &d.batch->request, sizeof(key));
    driver_answer_empty(&d);
    assert_int_equal(engine_metrics(d.core).state, ENGINE_READY);
    driver_free(&d);
}

/* covers: P42 P56 P57 P59 P60 P58 */
static void test_idle_and_started_are_told_once(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    driver_up(&d);
    driver_answer_empty(&d);
    assert_int_equal(engine_metrics(d.core).empty_polls, 1);
    assert_int_equal(d.idle, 0);
    driver_wait(&d, 999);
    assert_null(d.batch);
    driver_wait(&d, 1);
    driver_ready(&d);
    driver_answer_empty(&d);
    assert_int_equal(d.idle, 1);
    assert_true(engine_metrics(d.core).idle);
    driver_wait(&d, 1000);
    driver_ready(&d);
    driver_answer_empty(&d);
    assert_int_equal(engine_metrics(d.core).empty_polls, 3);
    assert_int_equal(d.idle, 1);
    driver_wait(&d, 1000);
    driver_ready(&d);
    struct driver_grant *grant = driver_grant_new(&d);
    driver_item(&d, grant, "s1", "a");
    driver_answer(&d, grant);
    assert_int_equal(d.started, 1);
    assert_false(engine_metrics(d.core).idle);
    assert_int_equal(engine_metrics(d.core).empty_polls, 0);
    assert_int_equal(engine_metrics(d.core).state, ENGINE_PROCESSING);
    assert_int_equal(d.log_last[LOG_BATCH][0], 1);
    driver_ready(&d); /* a claim that found something is followed by the next at once */
    driver_answer_empty(&d);
    driver_done(&d, 0);
    driver_ready(&d);
    assert_int_equal(d.batch->completion_count[KIND_OUTBOX], 1);
    driver_answer_empty(&d);
    assert_int_equal(d.log_last[LOG_BATCH][1], 1);
    assert_int_equal(engine_metrics(d.core).state, ENGINE_READY);
    assert_int_equal(d.started, 1);
    driver_free(&d);
}

/* covers: P44 P51 P52 */
static void test_instance_is_passed_through(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    d.config.debug = true;
    d.config.instance.partition_count = 64;
    d.config.instance.metadata = STR("{\"zone\":1}");
    driver_up(&d);
    assert_true(str_equal_cstr(d.batch->instance.metadata, "{\"zone\":1}"));
    assert_true(str_equal_cstr(d.batch->instance.service, "s"));
    assert_int_equal(d.batch->instance.id.b[0], 1);
    assert_int_equal(d.batch->lease_ms, DRIVER_LEASE_MS);
    assert_int_equal(d.batch->instance.lease_ms, 15000); /* how long it counts as live */
    assert_int_equal(d.batch->instance.partition_count, 64);
    assert_int_equal(d.batch->flags, BATCH_DEBUG);
    driver_answer_empty(&d);
    driver_free(&d);
    driver_init(&d);
    driver_up(&d);
    assert_int_equal(d.batch->flags, BATCH_NONE);
    driver_answer_empty(&d);
    driver_free(&d);
}

/* covers: J53 J18 */
static void test_evicted_drops_everything_and_comes_back_as_new(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    driver_up(&d);
    struct driver_grant *grant = driver_grant_new(&d);
    driver_item(&d, grant, "s1", "a");
    driver_item(&d, grant, "s1", "a");
    driver_item(&d, grant, NULL, "a");
    driver_answer(&d, grant);
    assert_int_equal(d.starts, 2);
    driver_ready(&d);
    driver_fail_batch(&d, PAWL_STALE);
    assert_int_equal(d.log_count[LOG_EVICTED], 1);
    assert_int_equal(d.cancels, 2);
    assert_int_equal(d.cancel_reason, STOP_FENCED);
    assert_int_equal(engine_metrics(d.core).state, ENGINE_ERROR);
    driver_ready(&d);
    assert_int_equal(d.registers, 2);
    assert_true(d.register_fresh);
    driver_registered(&d);
    driver_ready(&d);
    assert_int_equal(d.batch->instance.id.b[0], 2);
    /* The late results are dropped, and the memory comes back with the last of them. */
    driver_done(&d, 0);
    assert_int_equal(d.freed, 0);
    driver_done(&d, 1);
    assert_int_equal(d.freed, 1);
    driver_answer_empty(&d);
    assert_int_equal(engine_metrics(d.core).pending_completions, 0);
    assert_int_equal(engine_metrics(d.core).completed, 0);
    assert_int_equal(engine_metrics(d.core).fenced, 2);
    driver_free(&d);
}

/* The claim was made for the instance that is no more: nothing of it begins under the new one. */
/* covers: J53 */
static void test_what_was_claimed_before_an_eviction_does_not_run(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    driver_up(&d);
    driver_step(&d, (struct engine_event){.type = EVENT_BEAT, .status = PAWL_STALE});
    struct driver_grant *grant = driver_grant_new(&d);
    driver_item(&d, grant, "s1", "a");
    driver_item(&d, grant, NULL, "a");
    driver_answer(&d, grant);
    assert_int_equal(d.freed, 1);
    driver_ready(&d);
    driver_registered(&d);
    driver_ready(&d);
    assert_int_equal(d.starts, 0);
    assert_int_equal(d.batch->instance.id.b[0], 2);
    driver_answer_empty(&d);
    driver_free(&d);
}

static void test_a_chosen_id_that_is_taken_ends_the_worker(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    d.config.fixed_id = true;
    driver_create(&d);
    driver_ready(&d);
    assert_false(d.register_fresh);
    driver_step(&d, (struct engine_event){.type = EVENT_REGISTERED, .status = PAWL_CONFLICT});
    assert_int_equal(d.exits, 1);
    assert_int_equal(d.exit_status, PAWL_CONFLICT);
    assert_int_equal(engine_metrics(d.core).state, ENGINE_STOPPED);
    driver_free(&d);
}

/* covers: J14 J54 B4.12 */
static void test_stop_drains_releases_and_leaves(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    d.config.slots = 1;
    driver_up(&d);
    struct driver_grant *grant = driver_grant_new(&d);
    driver_item(&d, grant, "s1", "a");
    driver_item(&d, grant, "s1", "a");
    driver_item(&d, grant, "s2", "a");
    driver_answer(&d, grant);
    assert_int_equal(d.starts, 1);
    driver_ready(&d);
    driver_answer_empty(&d);
    driver_event(&d, EVENT_STOP);
    assert_int_equal(engine_metrics(d.core).state, ENGINE_STOPPING);
    driver_ready(&d);
    /* Not started: given back at once, one per stream, because the store sets the rest aside with it. */
    assert_true((d.batch->flags & BATCH_SKIP_CLAIM) != 0);
    assert_int_equal(d.batch->release_count[KIND_OUTBOX], 1);
    driver_answer_empty(&d);
    assert_int_equal(d.cancels, 0);
    driver_wait(&d, 2000);
    driver_done(&d, 0);
    driver_ready(&d);
    assert_int_equal(d.batch->completion_count[KIND_OUTBOX], 1);
    assert_int_equal(d.batch->release_count[KIND_OUTBOX], 1); /* what was behind it in its stream */
    assert_int_equal(d.deregisters, 0);
    driver_answer_empty(&d);
    if (d.beats > 0)
        driver_beat_ok(&d, 0, false);
    assert_int_equal(d.deregisters, 1);
    driver_event(&d, EVENT_DEREGISTERED);
    assert_int_equal(d.exits, 1);
    assert_false(d.exit_forced);
    assert_int_equal(engine_metrics(d.core).state, ENGINE_STOPPED);
    assert_int_equal(d.log_count[LOG_STOPPED], 1);
    driver_free(&d);
}

/* covers: J14 */
static void test_drain_has_a_deadline_and_a_second_stop_is_at_once(void **state) {
    (void)state;
    for (int twice = 0; twice < 2; twice++) {
        struct driver d;
        driver_init(&d);
        driver_up(&d);
        struct driver_grant *grant = driver_grant_new(&d);
        driver_item(&d, grant, "s1", "a");
        driver_answer(&d, grant);
        driver_ready(&d);
        driver_answer_empty(&d);
        driver_event(&d, EVENT_STOP);
        assert_int_equal(d.cancels, 0);
        if (twice) {
            driver_event(&d, EVENT_STOP);
            assert_int_equal(d.cancel_reason, STOP_FENCED); /* no patience for SIGTERM */
        } else {
            driver_wait(&d, 9999);
            assert_int_equal(d.cancels, 0);
            driver_wait(&d, 1);
            assert_int_equal(d.cancel_reason, STOP_LEAVING);
        }
        assert_int_equal(d.cancels, 1);
        enum outcome_type cancelled = OUTCOME_CANCELLED;
        driver_finish(&d, 0, &cancelled);
        driver_ready(&d);
        assert_int_equal(d.batch->release_count[KIND_OUTBOX], 1);
        assert_int_equal(d.batch->failure_count[KIND_OUTBOX], 0);
        driver_answer_empty(&d);
        driver_beat_ok(&d, 0, false);
        driver_event(&d, EVENT_DEREGISTERED);
        assert_int_equal(d.exits, 1);
        assert_true(d.exit_forced);
        driver_free(&d);
    }
}

/* covers: J14 */
static void test_stop_does_not_wait_for_a_store_that_is_gone(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    driver_up(&d);
    driver_event(&d, EVENT_STOP);
    driver_fail_batch(&d, PAWL_UNAVAILABLE);
    int64_t began_ms = d.now_ms;
    while (d.exits == 0 && d.now_ms < began_ms + 60000) {
        if (d.checking) {
            d.checking = false;
            driver_event(&d, EVENT_NOT_READY);
        } else {
            driver_wait(&d, 100);
        }
    }
    assert_int_equal(d.exits, 1);
    assert_true(d.exit_forced);
    assert_true(d.now_ms - began_ms <= 10000 + ENGINE_STOP_STORE_MS + 100);
    driver_free(&d);
}

static void test_peers_are_watched_only_while_there_is_work(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    driver_up(&d);
    assert_int_equal(d.beats, 1);
    driver_beat_ok(&d, 3, false);
    driver_answer_empty(&d);
    driver_wait(&d, 1000);
    driver_ready(&d);
    driver_answer_empty(&d); /* idle */
    int looks = d.looks;
    struct peers_look look = {.believe_ms = -1};
    driver_step(&d, (struct engine_event){.type = EVENT_LOOKED, .look = &look});
    driver_wait(&d, 500);
    driver_wait(&d, 400);
    assert_int_equal(d.looks, looks);
    while (d.beats < 2)
        driver_wait(&d, 100);
    driver_beat_ok(&d, 3, true);
    driver_wait(&d, ENGINE_LOOK_MS);
    assert_int_equal(d.looks, looks + 1);
    look.evicted = 1;
    int beats = d.beats;
    driver_step(&d, (struct engine_event){.type = EVENT_LOOKED, .look = &look});
    assert_int_equal(d.beats, beats + 1);
    driver_free(&d);
}

static void looked(struct driver *d, int evicted, bool wanted, int64_t believe_ms) {
    struct peers_look look = {evicted, wanted, believe_ms};
    driver_step(d, (struct engine_event){.type = EVENT_LOOKED, .look = &look});
}

/* One of a fleet whose work is done, with nothing on its way. */
static void up_among_peers(struct driver *d) {
    driver_init(d);
    driver_up(d);
    driver_beat_ok(d, 3, false);
    driver_answer_empty(d);
    driver_wait(d, 1000);
    driver_ready(d);
    driver_answer_empty(d); /* idle */
    looked(d, 0, false, -1);
}

/* When a peer's lock is gone all the others look at the moment when that is believed, not up to 100 ms later.
 */
static void test_everybody_looks_when_a_missing_lock_is_believed(void **state) {
    (void)state;
    struct driver d;
    up_among_peers(&d);
    while (d.beats < 2)
        driver_wait(&d, 100);
    driver_beat_ok(&d, 3, true);
    int looks = d.looks;
    looked(&d, 0, false, 30);
    driver_wait(&d, 29);
    assert_int_equal(d.looks, looks);
    driver_wait(&d, 1);
    assert_int_equal(d.looks, looks + 1);
    looked(&d, 0, false, 0); /* somebody is evicting it right now: what becomes free is seen at once */
    driver_wait(&d, 10);
    assert_int_equal(d.looks, looks + 2);
    int beats = d.beats;
    looked(&d, 0, true, -1);
    driver_wait(&d, 20);
    assert_int_equal(d.beats, beats + 1);
    driver_free(&d);
}

/* The answer to a claim that was sent before a beat took lanes knows nothing of them: they are looked at
 * next.
 */
static void test_lanes_taken_beside_a_claim_are_claimed_at_once(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    driver_up(&d); /* a beat and a claim are on their way */
    struct beat_result beat = {.now_ms = 5, .lease_until_ms = 5 + 15000, .lanes_taken = 1};
    int checks = d.checks;
    driver_step(&d, (struct engine_event){.type = EVENT_BEAT, .beat = &beat, .peers = {.count = 3}});
    driver_answer_empty(&d);
    assert_int_equal(d.checks, checks + 1);
    driver_free(&d);
}

/* A lane may move in two steps: what was taken can move one's share by one more. */
static void test_who_took_lanes_looks_at_once_whether_there_are_more(void **state) {
    (void)state;
    struct driver d;
    up_among_peers(&d);
    while (d.beats < 2)
        driver_wait(&d, 100);
    driver_beat_ok(&d, 3, true);
    looked(&d, 0, true, -1);
    int looks = d.looks;
    driver_wait(&d, 20);
    struct beat_result beat = {.now_ms = 5, .lease_until_ms = 5 + 15000, .lanes_taken = 1};
    driver_step(&d, (struct engine_event){.type = EVENT_BEAT, .beat = &beat, .peers = {.count = 3}});
    assert_int_equal(d.looks, looks + 1);
    driver_free(&d);
}

/* A newcomer to an idle fleet must not wait for its next beat when the others give up lanes. */
static void test_who_owns_too_few_lanes_keeps_looking(void **state) {
    (void)state;
    struct driver d;
    up_among_peers(&d);
    while (d.beats < 2)
        driver_wait(&d, 100);
    int looks = d.looks;
    struct beat_result beat = {.now_ms = 5, .lease_until_ms = 5 + 15000};
    driver_step(&d, (struct engine_event){
                        .type = EVENT_BEAT, .beat = &beat, .peers = {.count = 3, .lanes_short = true}});
    driver_wait(&d, ENGINE_LOOK_MS);
    assert_int_equal(d.looks, looks + 1);
    looked(&d, 0, false, -1);
    driver_wait(&d, ENGINE_LOOK_MS);
    assert_int_equal(d.looks, looks + 2);
    driver_free(&d);
}

/* A peer that died with work waiting in its lanes, but none in flight, is noticed when its lease ends and not
 * with the beat after that; one that beats in time costs nothing. */
static void test_an_idle_worker_looks_when_a_silent_peers_lease_ends(void **state) {
    (void)state;
    struct driver d;
    up_among_peers(&d);
    while (d.beats < 2)
        driver_wait(&d, 100);
    int looks = d.looks;
    struct beat_result beat = {.now_ms = 5, .lease_until_ms = 5 + 15000};
    struct engine_event event = {.type = EVENT_BEAT, .beat = &beat, .peers = {.count = 3, .ends_ms = 10000}};
    driver_step(&d, event);
    while (d.beats < 3)
        driver_wait(&d, 100);
    assert_int_equal(d.looks, looks);
    event.peers.ends_ms = 2000;
    driver_step(&d, event);
    driver_wait(&d, 1900);
    assert_int_equal(d.looks, looks);
    driver_wait(&d, 110);
    assert_int_equal(d.looks, looks + 1);
    driver_free(&d);
}

/* A peer that died while all were idle is noticed when work arrives, not when its lease ends. */
static void test_work_that_arrives_makes_an_idle_fleet_look(void **state) {
    (void)state;
    struct driver d;
    up_among_peers(&d);
    while (d.beats < 2)
        driver_wait(&d, 100);
    driver_beat_ok(&d, 3, false);
    driver_wait(&d, 500);
    int looks = d.looks;
    driver_event(&d, EVENT_WAKE);
    assert_int_equal(d.looks, looks + 1);
    driver_free(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everybody_looks_when_a_missing_lock_is_believed),
        cmocka_unit_test(test_lanes_taken_beside_a_claim_are_claimed_at_once),
        cmocka_unit_test(test_who_took_lanes_looks_at_once_whether_there_are_more),
        cmocka_unit_test(test_who_owns_too_few_lanes_keeps_looking),
        cmocka_unit_test(test_work_that_arrives_makes_an_idle_fleet_look),
        cmocka_unit_test(test_an_idle_worker_looks_when_a_silent_peers_lease_ends),
        cmocka_unit_test(test_state_table),
        cmocka_unit_test(test_start_works_before_the_first_delay),
        cmocka_unit_test(test_not_ready_counts_warns_and_recovers),
        cmocka_unit_test(test_not_ready_is_asked_again_soon_while_messages_are_in_hand),
        cmocka_unit_test(test_errors_back_off_and_the_loop_goes_on),
        cmocka_unit_test(test_idle_and_started_are_told_once),
        cmocka_unit_test(test_instance_is_passed_through),
        cmocka_unit_test(test_evicted_drops_everything_and_comes_back_as_new),
        cmocka_unit_test(test_what_was_claimed_before_an_eviction_does_not_run),
        cmocka_unit_test(test_a_chosen_id_that_is_taken_ends_the_worker),
        cmocka_unit_test(test_stop_drains_releases_and_leaves),
        cmocka_unit_test(test_drain_has_a_deadline_and_a_second_stop_is_at_once),
        cmocka_unit_test(test_stop_does_not_wait_for_a_store_that_is_gone),
        cmocka_unit_test(test_peers_are_watched_only_while_there_is_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
