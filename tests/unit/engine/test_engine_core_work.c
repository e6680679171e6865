/* Tests of the engine's core: order, outcomes, reports, leases; no clock but the test's own. */
#include "unit/engine/engine_driver.h"

static int busy_slots(const struct driver *d) {
    int busy = 0;
    for (int i = 0; i < 16; i++)
        busy += d->runs[i].count > 0;
    return busy;
}

/* Brings the worker up with the given messages: "s1:a s1:a -:b" (stream:type, - = no stream). */
static void up_with(struct driver *d, const char *spec) {
    static char names[64][2][16];
    driver_up(d);
    struct driver_grant *grant = driver_grant_new(d);
    int at = 0, used = 0;
    while (at < 64 && sscanf(spec, " %15[^:]:%15s%n", names[at][0], names[at][1], &used) == 2) {
        driver_item(d, grant, names[at][0][0] == '-' ? NULL : names[at][0], names[at][1]);
        spec += used;
        at++;
    }
    driver_answer(d, grant);
}

/* The claim that follows a full one: nothing more is there. */
static void poll_empty(struct driver *d) {
    driver_ready(d);
    driver_answer_empty(d);
}

/* A death is charged to a suspect that has begun: so the store hears of it first, and a slot is kept for it.
 */
static void test_a_suspect_begins_when_the_store_knows(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    d.config.slots = 2;
    driver_up(&d);
    struct driver_grant *grant = driver_grant_new(&d);
    driver_item(&d, grant, "s1", "a")->suspect = true;
    for (int i = 1; i <= 3; i++) {
        static const char *const names[] = {"", "s2", "s3", "s4"};
        driver_item(&d, grant, names[i], "b")->token = d.token + 1;
    }
    driver_answer(&d, grant);
    d.token++;
    assert_int_equal(busy_slots(&d), 1); /* other work goes on beside it, in all slots but one */
    driver_ready(&d);
    assert_non_null(d.batch);
    assert_int_equal(d.batch->renewal_count[KIND_OUTBOX], 1);
    assert_int_equal(d.batch->renewals[KIND_OUTBOX][0].token, 100);
    driver_answer_empty(&d);
    assert_int_equal(busy_slots(&d), 2);
    int suspects = 0;
    for (int slot = 0; slot < 2; slot++) {
        for (size_t i = 0; i < d.runs[slot].count; i++)
            suspects += d.runs[slot].items[i]->suspect && d.runs[slot].count == 1;
    }
    assert_int_equal(suspects, 1);
    driver_free(&d);
}

/* What the store has taken back does not begin, and nothing waits for it. */
static void test_a_suspect_that_is_gone_keeps_no_slot(void **state) {
    (void)state;
    static const char *const streams[] = {"s1", NULL};
    for (int round = 0; round < 2; round++) {
        struct driver d;
        driver_init(&d);
        d.config.slots = 1;
        driver_up(&d);
        struct driver_grant *grant = driver_grant_new(&d);
        driver_item(&d, grant, streams[round], "a")->suspect = true;
        driver_item(&d, grant, "s2", "a")->token = d.token + 1;
        driver_answer(&d, grant);
        d.token++;
        assert_int_equal(busy_slots(&d), 0);
        driver_ready(&d);
        grant = driver_grant_new(&d);
        grant->answers[0] = ANSWER_STALE;
        driver_answer(&d, grant);
        assert_int_equal(busy_slots(&d), 1);
        assert_false(d.runs[0].items[0]->suspect);
        driver_free(&d);
    }
}

/* covers: J52 J55 */
static void test_streams_run_in_order_and_beside_each_other(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    up_with(&d, "s1:a s1:a s2:a s1:a s3:a -:a -:a");
    assert_int_equal(busy_slots(&d), 4);
    poll_empty(&d);
    int64_t last[3] = {0, 0, 0};
    int done = 0;
    while (busy_slots(&d) > 0) {
        int per_stream[3] = {0, 0, 0};
        int slot = -1;
        for (int i = 0; i < 4; i++) {
            if (d.runs[i].count == 0)
                continue;
            slot = i;
            const struct item *item = d.runs[i].items[0];
            if (item->stream.ptr != NULL)
                per_stream[item->stream.ptr[1] - '1']++;
        }
        for (int i = 0; i < 3; i++)
            assert_true(per_stream[i] <= 1);
        const struct item *item = d.runs[slot].items[0];
        if (item->stream.ptr != NULL) {
            assert_true(item->seq > last[item->stream.ptr[1] - '1']);
            last[item->stream.ptr[1] - '1'] = item->seq;
        }
        driver_done(&d, slot);
        done++;
    }
    assert_int_equal(done, 7);
    driver_ready(&d);
    /* N completions, one call (P47). */
    assert_int_equal(d.batch->completion_count[KIND_OUTBOX], 7);
    driver_answer_empty(&d);
    assert_int_equal(engine_metrics(d.core).completed, 7);
    assert_int_equal(d.freed, 3);
    driver_free(&d);
}

/* covers: P46 P47 B0.12 BX.5 */
static void test_only_acknowledged_results_are_cleared(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    up_with(&d, "s1:a s2:a s3:a");
    driver_done(&d, 0);
    d.now_ms += ENGINE_HOLD_MS;
    driver_ready(&d);
    assert_int_equal(d.batch->completion_count[KIND_OUTBOX], 1);
    pawl_uuid first = d.batch->completions[KIND_OUTBOX][0].ref.id;
    driver_done(&d, 1); /* comes in while the call is on its way */
    assert_int_equal(engine_metrics(d.core).pending_completions, 1);
    driver_fail_batch(&d, PAWL_UNKNOWN);
    enum outcome_type fail = OUTCOME_RETRY;
    driver_finish(&d, 2, &fail);
    assert_int_equal(engine_metrics(d.core).pending_failures, 1);
    driver_wait(&d, 300);
    driver_ready(&d);
    /* The same call again: the one result, not the later ones. */
    assert_int_equal(d.batch->completion_count[KIND_OUTBOX], 1);
    assert_memory_equal(&first, &d.batch->completions[KIND_OUTBOX][0].ref.id, sizeof(first));
    struct driver_grant *grant = driver_grant_new(&d);
    grant->answers[0] = ANSWER_DUPLICATE;
    driver_answer(&d, grant);
    assert_int_equal(engine_metrics(d.core).completed, 1);
    assert_int_equal(engine_metrics(d.core).pending_completions, 1);
    driver_ready(&d);
    assert_int_equal(d.batch->completion_count[KIND_OUTBOX], 1);
    assert_int_equal(d.batch->failure_count[KIND_OUTBOX], 1);
    assert_true(str_equal_cstr(d.batch->failures[KIND_OUTBOX][0].error, "why"));
    driver_answer_empty(&d);
    assert_int_equal(engine_metrics(d.core).completed, 2);
    assert_int_equal(engine_metrics(d.core).failed, 1);
    driver_free(&d);
}

/* covers: P48 */
static void test_instant_strategy_keeps_nothing(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    d.config.strategy.type = STRATEGY_INSTANT;
    up_with(&d, "s1:a s2:a");
    driver_done(&d, 0);
    assert_int_equal(d.report_count, 1);
    assert_int_equal(engine_metrics(d.core).pending_completions, 0);
    enum outcome_type fail = OUTCOME_PERMANENT;
    driver_finish(&d, 1, &fail);
    assert_int_equal(d.report_count, 2);
    assert_true(d.reports[1].failed);
    assert_int_equal(d.reports[1].fail.error_class, CLASS_PERMANENT);
    assert_int_equal(engine_metrics(d.core).pending_failures, 0);
    enum store_answer applied = ANSWER_APPLIED;
    enum fail_outcome dead = FAIL_DEAD;
    driver_step(
        &d, (struct engine_event){
                .type = EVENT_REPORTED, .report = d.reports[1].number, .answers = &applied, .fails = &dead});
    /* One that finds no store travels with the next batch. */
    driver_step(&d, (struct engine_event){
                        .type = EVENT_REPORTED, .report = d.reports[0].number, .status = PAWL_UNKNOWN});
    assert_int_equal(engine_metrics(d.core).pending_completions, 1);
    assert_int_equal(engine_metrics(d.core).dead, 1);
    driver_ready(&d);
    assert_int_equal(d.batch->completion_count[KIND_OUTBOX], 1);
    driver_answer_empty(&d);
    assert_int_equal(engine_metrics(d.core).completed, 1);
    driver_free(&d);
}

static bool flush_at_ten(void *self, size_t pending, int64_t oldest_age_ms) {
    (void)self;
    return pending >= 10 || oldest_age_ms >= 60000;
}

/* covers: P49 */
static void test_custom_strategy_decides(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    d.config.strategy = (struct engine_strategy){STRATEGY_CUSTOM, flush_at_ten, NULL};
    d.config.poll_ms = 100000;
    up_with(&d, "-:a -:a -:a -:a -:a -:a -:a -:a -:a -:a");
    poll_empty(&d);
    for (int i = 0; i < 10; i++) {
        assert_false(d.checking);
        for (int slot = 0; slot < 4; slot++) {
            if (d.runs[slot].count > 0) {
                driver_done(&d, slot);
                break;
            }
        }
        driver_wait(&d, 10);
    }
    driver_ready(&d);
    assert_int_equal(d.batch->completion_count[KIND_OUTBOX], 10);
    driver_answer_empty(&d);
    driver_free(&d);
}

static void test_results_wait_a_little_for_the_rest_of_their_claim(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    up_with(&d, "s1:a s2:a");
    driver_done(&d, 0);
    driver_ready(&d); /* a batch that goes out meanwhile leaves it behind */
    assert_int_equal(d.batch->completion_count[KIND_OUTBOX], 0);
    driver_answer_empty(&d);
    assert_false(d.checking);
    assert_int_equal(d.timer_ms, d.now_ms + ENGINE_HOLD_MS);
    driver_wait(&d, ENGINE_HOLD_MS - 1);
    assert_false(d.checking);
    driver_wait(&d, 1);
    driver_ready(&d);
    assert_int_equal(d.batch->completion_count[KIND_OUTBOX], 1);
    driver_answer_empty(&d);
    driver_done(&d, 1); /* nothing left that it could wait for */
    driver_ready(&d);
    assert_int_equal(d.batch->completion_count[KIND_OUTBOX], 1);
    driver_answer_empty(&d);
    driver_free(&d);
}

/* Two claims: what is finished goes out whole while the other still runs. */
static void test_a_finished_claim_does_not_wait_for_another(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    driver_up(&d);
    struct driver_grant *grant = driver_grant_new(&d);
    driver_item(&d, grant, "s1", "a");
    driver_item(&d, grant, "s2", "a")->token = 200;
    driver_answer(&d, grant);
    poll_empty(&d);
    driver_done(&d, 0);
    assert_int_equal(d.timer_ms, d.now_ms + ENGINE_LINGER_MS);
    driver_wait(&d, ENGINE_LINGER_MS);
    driver_ready(&d);
    assert_int_equal(d.batch->completion_count[KIND_OUTBOX], 1);
    driver_answer_empty(&d);
    driver_free(&d);
}

static void test_a_failure_holds_its_stream_until_the_store_has_spoken(void **state) {
    (void)state;
    static const struct {
        enum fail_outcome fate;
        enum dead_policy policy;
        bool goes_on;
    } rows[] = {{FAIL_RETRY, POLICY_SKIP, false},
                {FAIL_DEAD, POLICY_SKIP, true},
                {FAIL_DEAD, POLICY_BLOCK, false},
                {FAIL_DEAD, POLICY_PARK, false}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct driver d;
        driver_init(&d);
        d.config.policy = rows[i].policy;
        up_with(&d, "s1:a s1:a s1:a");
        poll_empty(&d);
        enum outcome_type fail = OUTCOME_RETRY;
        driver_finish(&d, 0, &fail);
        assert_int_equal(busy_slots(&d), 0);
        driver_wait(&d, ENGINE_LINGER_MS);
        driver_ready(&d);
        assert_int_equal(d.batch->failure_count[KIND_OUTBOX], 1);
        struct driver_grant *grant = driver_grant_new(&d);
        grant->fates[0] = rows[i].fate;
        driver_answer(&d, grant);
        assert_int_equal(busy_slots(&d), rows[i].goes_on ? 1 : 0);
        assert_int_equal(engine_metrics(d.core).waiting, rows[i].goes_on ? 1 : 0);
        assert_int_equal(engine_metrics(d.core).failed, 1);
        assert_int_equal(engine_metrics(d.core).dead, rows[i].fate == FAIL_DEAD);
        driver_free(&d);
    }
}

static void test_bundles_grow_with_speed_and_keep_order(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    d.config.slots = 1;
    up_with(&d, "-:b s1:b s1:b s1:b s2:b -:b");
    poll_empty(&d);
    assert_int_equal(d.runs[0].count, 1); /* nothing is known of its speed */
    driver_done(&d, 0);
    assert_int_equal(d.runs[0].count, 5);
    /* The streams lie side by side in the bundle; a failure stops the rest of its own only. */
    enum outcome_type types[5];
    bool s1_failed = false;
    for (int i = 0; i < 5; i++) {
        bool s1 = str_equal_cstr(d.runs[0].items[i]->stream, "s1");
        types[i] = s1 && s1_failed ? OUTCOME_NOT_RUN : s1 ? OUTCOME_RETRY : OUTCOME_DONE;
        s1_failed = s1_failed || s1;
        for (int j = i + 1; j < 5; j++)
            assert_true(d.runs[0].groups[i] != d.runs[0].groups[j] ||
                        str_equal(d.runs[0].items[i]->stream, d.runs[0].items[j]->stream));
    }
    driver_finish(&d, 0, types);
    assert_int_equal(busy_slots(&d), 0); /* the rest of s1 waits for the answer */
    assert_int_equal(engine_metrics(d.core).waiting, 2);
    driver_wait(&d, ENGINE_HOLD_MS);
    driver_ready(&d);
    assert_int_equal(d.batch->completion_count[KIND_OUTBOX], 3);
    assert_int_equal(d.batch->failure_count[KIND_OUTBOX], 1);
    driver_answer_empty(&d);
    assert_int_equal(engine_metrics(d.core).waiting, 0);
    driver_free(&d);
}

static void test_handler_limits(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    d.handlers[0].concurrency = 2;
    up_with(&d, "-:a -:a -:a -:b s1:a s1:b");
    assert_int_equal(busy_slots(&d), 3);
    int first = 0;
    for (int i = 0; i < 4; i++)
        first += d.runs[i].count > 0 && d.runs[i].handler == 0;
    assert_int_equal(first, 2);
    driver_free(&d);
}

static void test_messages_without_a_handler_go_back_without_an_attempt(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    up_with(&d, "s1:a s1:?x s1:a -:?y");
    assert_int_equal(d.log_count[LOG_NO_HANDLER], 1); /* the one behind s1's first is not yet its turn */
    assert_int_equal(busy_slots(&d), 1);
    driver_ready(&d);
    assert_int_equal(d.batch->release_count[KIND_OUTBOX], 1);
    assert_int_equal(d.batch->releases[KIND_OUTBOX][0].delay_ms, ENGINE_NO_HANDLER_MS);
    driver_answer_empty(&d);
    driver_done(&d, 0);
    driver_wait(&d, ENGINE_LINGER_MS);
    driver_ready(&d);
    assert_int_equal(d.batch->completion_count[KIND_OUTBOX], 1);
    assert_int_equal(d.batch->release_count[KIND_OUTBOX], 1);
    assert_int_equal(d.batch->failure_count[KIND_OUTBOX], 0);
    driver_answer_empty(&d);
    assert_int_equal(engine_metrics(d.core).waiting, 0);
    driver_free(&d);
}

/* The store asks whether the pause is still there, so that a worker that has not heard of its end delays
 * nothing. */
static void test_messages_of_a_paused_handler_go_back_and_name_the_pause(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    up_with(&d, "-:-x -:?y");
    driver_ready(&d);
    assert_int_equal(d.batch->release_count[KIND_OUTBOX], 2);
    const struct release_item *released = d.batch->releases[KIND_OUTBOX];
    assert_true(str_equal_cstr(released[0].handler, "-*"));
    assert_int_equal(released[0].delay_ms, ENGINE_PAUSED_MS);
    assert_true(str_absent(released[1].handler));
    driver_answer_empty(&d);
    driver_free(&d);
}

/* covers: J05 B0.10 */
static void test_what_runs_is_renewed_and_hung_work_is_not(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    d.config.poll_ms = 1000000;
    up_with(&d, "s1:a s2:a");
    poll_empty(&d);
    driver_done(&d, 1);
    driver_wait(&d, ENGINE_HOLD_MS);
    driver_ready(&d);
    driver_answer_empty(&d);
    driver_beat_ok(&d, 0, false);
    int renewed = 0;
    for (int i = 0; i < 1200 && d.cancels == 0; i++) {
        driver_wait(&d, 500);
        if (d.beats > 1) {
            d.beats = 1;
            driver_beat_ok(&d, 0, false);
        }
        if (!d.checking)
            continue;
        driver_ready(&d);
        if (d.batch->renewal_count[KIND_OUTBOX] > 0) {
            assert_int_equal(d.batch->renewal_count[KIND_OUTBOX], 1);
            assert_int_equal(d.batch->renewals[KIND_OUTBOX][0].token, 100);
            renewed++;
        }
        driver_answer_empty(&d);
    }
    assert_int_equal(renewed, ENGINE_RENEWALS);
    assert_int_equal(d.cancels, 1);
    assert_int_equal(d.cancel_reason, STOP_FENCED);
    driver_free(&d);
}

/* covers: B4.14 J56 */
static void test_effects_stop_before_the_lease_ends(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    d.config.lease_ms = 10000;
    d.config.instance_lease_ms = 60000;
    driver_up(&d);
    int64_t sent_ms = d.now_ms;
    d.now_ms += 700; /* the answer is slow: the lease runs from before the question */
    struct driver_grant *grant = driver_grant_new(&d);
    grant->result.lease_until_ms = 60005;
    driver_item(&d, grant, "s1", "a");
    driver_item(&d, grant, "s1", "a");
    driver_item(&d, grant, NULL, "a");
    driver_answer(&d, grant);
    assert_int_equal(d.runs[0].fence_ms, sent_ms + 10000 - 1000);
    driver_ready(&d);
    driver_fail_batch(&d, PAWL_UNAVAILABLE); /* and stays so */
    d.now_ms = sent_ms + 8999;
    driver_event(&d, EVENT_TICK);
    assert_int_equal(d.cancels, 0);
    d.now_ms = sent_ms + 9000;
    driver_event(&d, EVENT_TICK);
    assert_int_equal(d.cancels, 2);
    assert_int_equal(d.cancel_reason, STOP_FENCED);
    /* Results of what was cancelled are dropped, and nothing waits any more. */
    driver_done(&d, 0);
    driver_done(&d, 1);
    assert_int_equal(engine_metrics(d.core).pending_completions, 0);
    assert_int_equal(engine_metrics(d.core).waiting, 0);
    assert_int_equal(engine_metrics(d.core).fenced, 2);
    assert_int_equal(d.freed, 1);
    driver_free(&d);
}

/* covers: B4.14 */
static void test_a_long_pause_fences_before_late_results_count(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    up_with(&d, "s1:a s2:a");
    poll_empty(&d);
    d.now_ms += DRIVER_LEASE_MS + 1; /* SIGSTOP: the very next event is a result */
    driver_done(&d, 0);
    assert_int_equal(engine_metrics(d.core).pending_completions, 0);
    assert_int_equal(engine_metrics(d.core).fenced, 1);
    assert_int_equal(d.cancels, 2); /* both were told; the first had just ended by itself */
    driver_free(&d);
}

/* covers: B4.14 */
static void test_silence_of_the_instance_fences_everything(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    d.config.lease_ms = 300000;
    up_with(&d, "s1:a s2:a s2:a");
    driver_ready(&d);
    driver_fail_batch(&d, PAWL_UNAVAILABLE);
    driver_wait(&d, 15000 - 1500 - 1);
    assert_int_equal(d.cancels, 0);
    driver_wait(&d, 1);
    assert_int_equal(d.cancels, 2);
    driver_free(&d);
}

static void test_a_grant_that_arrives_too_late_goes_back(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    d.config.lease_ms = 1000;
    driver_up(&d);
    d.now_ms += 950;
    struct driver_grant *grant = driver_grant_new(&d);
    driver_item(&d, grant, "s1", "a");
    driver_item(&d, grant, "s1", "a");
    driver_answer(&d, grant);
    assert_int_equal(d.starts, 0);
    driver_ready(&d);
    assert_int_equal(d.batch->release_count[KIND_OUTBOX], 1);
    assert_int_equal(d.batch->releases[KIND_OUTBOX][0].delay_ms, 0);
    driver_answer_empty(&d);
    driver_free(&d);
}

static void test_refused_batches_do_not_stop_the_worker_for_good(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    driver_up(&d);
    for (int i = 0; i < ENGINE_REFUSALS_MAX; i++) {
        driver_fail_batch(&d, PAWL_INTERNAL);
        while (!d.checking)
            driver_wait(&d, 100);
        driver_ready(&d);
    }
    assert_int_equal(d.registers, 2);
    driver_free(&d);
}

static void test_claims_follow_the_speed_of_the_handlers(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    d.config.batch = 500;
    up_with(&d, "-:a");
    poll_empty(&d);
    struct engine_outcome done = {.type = OUTCOME_DONE, .delay_ms = -1};
    /* One message takes ten seconds: what can start now is enough. */
    driver_step(
        &d, (struct engine_event){
                .type = EVENT_FINISHED, .slot = 0, .outcomes = &done, .count = 1, .elapsed_us = 10000000});
    driver_ready(&d);
    assert_int_equal(d.batch->claim_max[KIND_OUTBOX], 4);
    driver_answer_empty(&d);
    driver_free(&d);
}

static void answer_claim(struct driver *d, int items, const char *type) {
    struct driver_grant *grant = calloc(1, sizeof(*grant));
    assert_non_null(grant);
    assert_non_null(d->claim);
    grant->result.now_ms = 5;
    grant->result.lease_until_ms = 5 + 15000;
    grant->result.claimed[KIND_OUTBOX].items = grant->items;
    for (int i = 0; i < items; i++)
        driver_item(d, grant, NULL, type);
    d->claim = NULL;
    d->token++;
    size_t at = 0;
    while (d->held[at] != NULL)
        at++;
    d->held[at] = grant;
    driver_step(d, (struct engine_event){.type = EVENT_CLAIMED, .result = &grant->result, .grant = grant});
}

/* While full batches come, claims go beside the batches that report; then everything is in one call again. */
static void test_under_load_claims_go_beside_batches(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    d.config.batch = 8;
    driver_create(&d);
    driver_ready(&d);
    driver_step(&d,
                (struct engine_event){.type = EVENT_REGISTERED, .instance_lease_ms = 15000, .beside = true});
    driver_ready(&d);
    assert_int_equal(d.batch->claim_max[KIND_OUTBOX], 8);
    struct driver_grant *grant = driver_grant_new(&d);
    for (int i = 0; i < 8; i++)
        driver_item(&d, grant, NULL, "b");
    driver_answer(&d, grant);
    assert_int_equal(d.claims, 1); /* at once, without waiting for results */
    assert_int_equal(d.claim->claim_max[KIND_OUTBOX], 8);
    pawl_uuid first = d.claim->request;
    for (int slot = 0; slot < 4; slot++)
        driver_done(&d, slot);
    while (d.batch == NULL) {
        for (int slot = 0; slot < 4; slot++) {
            if (d.runs[slot].count > 0)
                driver_done(&d, slot);
        }
        driver_wait(&d, 5);
        if (d.checking)
            driver_ready(&d);
    }
    assert_true((d.batch->flags & BATCH_SKIP_CLAIM) != 0); /* it only reports */
    assert_memory_not_equal(&d.batch->request, &first, sizeof(first));
    answer_claim(&d, 3, "b"); /* fewer than asked for */
    assert_int_equal(d.claims, 1);
    driver_answer_empty(&d);
    while (d.batch == NULL) {
        for (int slot = 0; slot < 4; slot++) {
            if (d.runs[slot].count > 0)
                driver_done(&d, slot);
        }
        driver_wait(&d, 5);
        if (d.checking)
            driver_ready(&d);
    }
    assert_int_equal(d.batch->flags & BATCH_SKIP_CLAIM, 0);
    assert_int_equal(d.claims, 1);
    driver_free(&d);
}

/* A claim without an answer goes out again under its key; one that comes back after an eviction counts
 * nothing. */
static void test_a_claim_beside_is_repeated_until_its_fate_is_known(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    d.config.batch = 8;
    driver_create(&d);
    driver_ready(&d);
    driver_step(&d,
                (struct engine_event){.type = EVENT_REGISTERED, .instance_lease_ms = 15000, .beside = true});
    driver_ready(&d);
    struct driver_grant *grant = driver_grant_new(&d);
    for (int i = 0; i < 8; i++)
        driver_item(&d, grant, NULL, "b");
    driver_answer(&d, grant);
    assert_int_equal(d.claims, 1);
    pawl_uuid key = d.claim->request;
    driver_step(&d, (struct engine_event){.type = EVENT_CLAIMED, .status = PAWL_UNKNOWN});
    driver_wait(&d, 200);
    assert_int_equal(d.claims, 2);
    assert_memory_equal(&d.claim->request, &key, sizeof(key));
    driver_step(&d, (struct engine_event){.type = EVENT_BEAT, .status = PAWL_STALE}); /* evicted */
    int64_t claimed = engine_metrics(d.core).claimed;
    answer_claim(&d, 8, "b");
    assert_int_equal(engine_metrics(d.core).claimed, claimed);
    driver_free(&d);
}

/* covers: P45 */
static void test_a_kind_that_is_left_is_not_claimed(void **state) {
    (void)state;
    struct driver d;
    driver_init(&d);
    d.config.poll_ms = 100;
    d.config.instance.kinds = KIND_BIT(KIND_OUTBOX) | KIND_BIT(KIND_PERSPECTIVE);
    driver_up(&d);
    assert_true(d.batch->claim_max[KIND_PERSPECTIVE] > 0);
    int shared = d.batch->claim_max[KIND_OUTBOX];
    driver_answer_empty(&d);
    driver_step(&d, (struct engine_event){.type = EVENT_LEAVE, .kinds = KIND_BIT(KIND_PERSPECTIVE)});
    driver_ready(&d);
    assert_int_equal(d.batch->claim_max[KIND_PERSPECTIVE], 0);
    assert_int_equal(d.batch->claim_max[KIND_OUTBOX], 2 * shared); /* the others have all the room */
    driver_answer_empty(&d);
    driver_step(&d, (struct engine_event){.type = EVENT_LEAVE, .kinds = KIND_BITS_ALL});
    int batches = d.batches;
    driver_event(&d, EVENT_WAKE);
    driver_wait(&d, 1000);
    assert_int_equal(d.batches, batches);
    assert_false(d.checking);
    driver_step(&d, (struct engine_event){.type = EVENT_LEAVE});
    driver_ready(&d); /* at once */
    assert_int_equal(d.batch->claim_max[KIND_PERSPECTIVE], shared);
    driver_answer_empty(&d);
    driver_free(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_under_load_claims_go_beside_batches),
        cmocka_unit_test(test_a_claim_beside_is_repeated_until_its_fate_is_known),
        cmocka_unit_test(test_a_suspect_begins_when_the_store_knows),
        cmocka_unit_test(test_a_suspect_that_is_gone_keeps_no_slot),
        cmocka_unit_test(test_streams_run_in_order_and_beside_each_other),
        cmocka_unit_test(test_only_acknowledged_results_are_cleared),
        cmocka_unit_test(test_instant_strategy_keeps_nothing),
        cmocka_unit_test(test_custom_strategy_decides),
        cmocka_unit_test(test_results_wait_a_little_for_the_rest_of_their_claim),
        cmocka_unit_test(test_a_finished_claim_does_not_wait_for_another),
        cmocka_unit_test(test_a_failure_holds_its_stream_until_the_store_has_spoken),
        cmocka_unit_test(test_bundles_grow_with_speed_and_keep_order),
        cmocka_unit_test(test_handler_limits),
        cmocka_unit_test(test_messages_without_a_handler_go_back_without_an_attempt),
        cmocka_unit_test(test_messages_of_a_paused_handler_go_back_and_name_the_pause),
        cmocka_unit_test(test_what_runs_is_renewed_and_hung_work_is_not),
        cmocka_unit_test(test_effects_stop_before_the_lease_ends),
        cmocka_unit_test(test_a_long_pause_fences_before_late_results_count),
        cmocka_unit_test(test_silence_of_the_instance_fences_everything),
        cmocka_unit_test(test_a_grant_that_arrives_too_late_goes_back),
        cmocka_unit_test(test_refused_batches_do_not_stop_the_worker_for_good),
        cmocka_unit_test(test_a_kind_that_is_left_is_not_claimed),
        cmocka_unit_test(test_claims_follow_the_speed_of_the_handlers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
