/* What the core decides about jobs: claiming, starting, renewing, reporting, giving up, stopping. */
#include "unit/engine/job_driver.h"

/* covers: J04 J07 */
TEST(it_claims_starts_reports_and_claims_again) {
    struct world w;
    begin(&w, (struct engine_handler){0});
    struct wished claim = expect(&w, WISH_FINISH);
    assert_int_equal(claim.finish->count, 0);
    assert_int_equal(claim.finish->claim.max, SLOTS);
    answer(&w, 1, 2);
    assert_int_equal(expect(&w, WISH_START).jobs[0]->id, 1);
    assert_int_equal(expect(&w, WISH_START).jobs[0]->id, 2);
    expect(&w, WISH_WAIT);
    end_slot(&w, 0, JOB_END_DONE, 1);
    struct wished both = expect(&w, WISH_FINISH); /* one has ended: one may begin */
    assert_int_equal(both.finish->count, 1);
    assert_int_equal(both.finish->claim.max, 1);
    answer(&w, 3, 1);
    assert_int_equal(expect(&w, WISH_START).jobs[0]->id, 3);
    end_slot(&w, 0, JOB_END_DONE, 1);
    struct wished report = expect(&w, WISH_FINISH);
    end_slot(&w, 1, JOB_END_RETRY, 1); /* while the call is on its way: with the next */
    assert_int_equal(report.finish->count, 1);
    assert_int_equal(report.finish->items[0].outcome, JOB_COMPLETE);
    answer(&w, 0, 0);
    report = expect(&w, WISH_FINISH);
    assert_int_equal(report.finish->count, 1);
    assert_int_equal(report.finish->items[0].outcome, JOB_FAIL);
    assert_int_equal(report.finish->items[0].delay_ms, -1);
    w.results[0] = JOB_RESULT_RETRY;
    answer(&w, 0, 0);
    expect(&w, WISH_WAIT);
    struct engine_job_metrics m = metrics(&w);
    assert_int_equal(m.completed, 2);
    assert_int_equal(m.failed, 1);
    assert_int_equal(m.retried, 1);
    assert_true(m.idle);
    assert_int_equal(w.freed, w.grants);
    finish(&w);
}

TEST(an_empty_claim_waits_for_the_poll_or_a_wake_up) {
    struct world w;
    begin(&w, (struct engine_handler){0});
    expect(&w, WISH_FINISH);
    answer(&w, 0, 0);
    assert_int_equal(expect(&w, WISH_WAIT).at_ms, w.now_ms + POLL_MS);
    step(&w, (struct engine_event){.type = EVENT_WAKE});
    expect(&w, WISH_FINISH);
    answer(&w, 0, 0);
    w.now_ms += POLL_MS;
    expect(&w, WISH_FINISH);
    finish(&w);
}

/* Idle is who knows that nothing is left: a claim that was sent while a job ran says nothing of what the job
 * enqueued, be its end in the store already or yet to be reported. */
TEST(an_empty_claim_from_before_the_end_of_a_job_does_not_make_idle) {
    static const enum job_end ends[] = {JOB_END_SETTLED, JOB_END_DONE};
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
        struct world w;
        begin(&w, (struct engine_handler){0});
        expect(&w, WISH_FINISH);
        answer(&w, 1, 1);
        expect(&w, WISH_START);
        expect(&w, WISH_FINISH); /* for the other slot */
        end_slot(&w, 0, ends[i], 1);
        answer(&w, 0, 0);
        assert_false(metrics(&w).idle);
        struct wished next = expect(&w, WISH_FINISH); /* at once */
        assert_int_equal(next.finish->claim.max, SLOTS);
        answer(&w, 2, 1);
        assert_int_equal(expect(&w, WISH_START).jobs[0]->id, 2);
        no_more(&w);
        finish(&w);
    }
}

/* covers: J05 */
TEST(a_running_job_is_renewed_and_hears_of_a_cancellation) {
    struct world w;
    begin(&w, (struct engine_handler){0});
    expect(&w, WISH_FINISH);
    answer(&w, 1, 1);
    expect(&w, WISH_START);
    w.now_ms += ENGINE_LISTEN_MS;
    struct wished renew = next(&w);
    while (renew.type == WISH_FINISH) {
        answer(&w, 0, 0);
        renew = next(&w);
    }
    assert_int_equal(renew.type, WISH_RENEW);
    assert_int_equal(renew.renew->items[0].ref.id, 1);
    enum store_answer applied = ANSWER_APPLIED;
    bool cancel = true;
    struct renew_result result = {&applied, &cancel, 1};
    renewed(&w, PAWL_OK, &result);
    struct wished told = expect(&w, WISH_CANCEL);
    assert_int_equal(told.action.reason, STOP_ASKED);
    assert_int_equal(metrics(&w).renewed, 1);
    finish(&w);
}

/* Promise 9: what has no lease any more has no effect. covers: B4.14 */
TEST(a_lease_that_nobody_renews_fences_its_job) {
    struct world w;
    begin(&w, (struct engine_handler){0});
    expect(&w, WISH_FINISH);
    answer(&w, 1, 3);
    expect(&w, WISH_START);
    expect(&w, WISH_START);
    w.now_ms += LEASE_MS; /* the process was stopped */
    struct wished told = expect(&w, WISH_CANCEL);
    assert_int_equal(told.action.reason, STOP_FENCED);
    expect(&w, WISH_CANCEL);
    end_slot(&w, 0, JOB_END_DONE, 1);
    end_slot(&w, 1, JOB_END_DONE, 1);
    struct wished call = next(&w); /* the third never starts */
    assert_int_equal(call.type, WISH_FINISH);
    assert_int_equal(call.finish->count, 0);
    assert_int_equal(metrics(&w).fenced, 3);
    finish(&w);
}

/* covers: B4.14 */
TEST(a_job_that_another_worker_has_is_stopped_at_once) {
    struct world w;
    begin(&w, (struct engine_handler){0});
    expect(&w, WISH_FINISH);
    answer(&w, 1, SLOTS);
    expect(&w, WISH_START);
    expect(&w, WISH_START);
    w.now_ms += ENGINE_LISTEN_MS;
    expect(&w, WISH_RENEW);
    enum store_answer answers[SLOTS] = {ANSWER_STALE, ANSWER_APPLIED};
    bool cancel[SLOTS] = {false};
    renewed(&w, PAWL_OK, &(struct renew_result){answers, cancel, SLOTS});
    struct wished told = expect(&w, WISH_CANCEL);
    assert_int_equal(told.action.reason, STOP_FENCED);
    end_slot(&w, told.action.slot, JOB_END_DONE, 1);
    assert_int_equal(metrics(&w).fenced, 1);
    assert_int_equal(metrics(&w).pending, 0);
    finish(&w);
}

/* covers: J17 */
TEST(a_lost_answer_is_asked_for_again_under_the_same_key) {
    struct world w;
    begin(&w, (struct engine_handler){0});
    struct wished first = expect(&w, WISH_FINISH);
    pawl_uuid request = first.finish->claim.request;
    step(&w, (struct engine_event){.type = EVENT_JOBS_FINISHED, .status = PAWL_UNKNOWN});
    expect(&w, WISH_WAIT);
    w.now_ms += ENGINE_BACKOFF_MS_MAX;
    struct wished again = expect(&w, WISH_FINISH);
    assert_memory_equal(&again.finish->claim.request, &request, sizeof request);
    answer(&w, 1, 1);
    expect(&w, WISH_START);
    assert_int_equal(metrics(&w).lost_calls, 1);
    finish(&w);
}

/* What the repeated call brings may have been granted by the first one: its lease runs since then. */
TEST(a_lease_of_a_repeated_call_counts_from_the_first) {
    struct world w;
    begin(&w, (struct engine_handler){0});
    expect(&w, WISH_FINISH);
    int64_t first_ms = w.now_ms;
    step(&w, (struct engine_event){.type = EVENT_JOBS_FINISHED, .status = PAWL_UNKNOWN});
    w.now_ms += ENGINE_BACKOFF_MS_MAX;
    expect(&w, WISH_FINISH);
    answer(&w, 1, 1);
    assert_int_equal(expect(&w, WISH_START).action.run.fence_ms, first_ms + LEASE_MS - LEASE_MS / 10);
    finish(&w);
}

TEST(a_job_without_a_handler_is_left_to_others) {
    struct world w;
    begin(&w, (struct engine_handler){0});
    expect(&w, WISH_FINISH);
    struct job unknown = {.id = 5, .token = 5, .type = STR("unknown")};
    answer_with(&w, &unknown, 1);
    struct wished back = expect(&w, WISH_FINISH);
    assert_int_equal(back.finish->items[0].outcome, JOB_RELEASE);
    assert_int_equal(back.finish->items[0].delay_ms, ENGINE_NO_HANDLER_MS);
    finish(&w);
}

TEST(quick_functions_are_handed_out_in_bundles_and_slow_ones_are_not) {
    struct world w;
    begin(&w, (struct engine_handler){.bundled = true});
    expect(&w, WISH_FINISH);
    answer(&w, 1, 6);
    assert_int_equal(expect(&w, WISH_START).count, 1); /* nothing is known of it yet */
    assert_int_equal(expect(&w, WISH_START).count, 1);
    end_with(&w, 0, JOB_END_DONE, 1, 10);
    assert_int_equal(expect(&w, WISH_START).count, 2); /* the slots share what waits */
    finish(&w);
}

static void answer_renewal(struct world *w, enum store_answer answer) {
    enum store_answer answers[SLOTS] = {answer, answer};
    bool cancel[SLOTS] = {false};
    struct renew_result result = {answers, cancel, SLOTS};
    renewed(w, PAWL_OK, &result);
}

/* So many slots begin with a job; the store hears first of what is in its last attempt. */
static void expect_starts(struct world *w, size_t count) {
    if (w->max_attempts == 1) {
        assert_int_equal(expect(w, WISH_RENEW).renew->count, count);
        answer_renewal(w, ANSWER_APPLIED);
    }
    for (size_t i = 0; i < count; i++)
        expect(w, WISH_START);
}

/* Runs jobs that take item_us, is granted another, and returns how many it asks for while all slots run. */
static int asked_ahead(struct world *w, int64_t item_us) {
    expect(w, WISH_FINISH);
    answer(w, 1, SLOTS);
    expect_starts(w, SLOTS);
    expect(w, WISH_WAIT);
    end_with(w, 0, JOB_END_DONE, 1, item_us);
    assert_int_equal(expect(w, WISH_FINISH).finish->claim.max, 1);
    answer(w, 11, 1);
    expect_starts(w, 1);
    struct wished wished = next(w);
    return wished.type == WISH_FINISH ? wished.finish->claim.max : 0;
}

/* Leasing more than can start keeps it from others. */
TEST(only_what_takes_microseconds_is_claimed_ahead) {
    struct world w;
    begin(&w, (struct engine_handler){.bundled = true});
    assert_int_equal(asked_ahead(&w, 20), BATCH - SLOTS);
    finish(&w);
    begin(&w, (struct engine_handler){.bundled = true});
    assert_int_equal(asked_ahead(&w, ENGINE_SHORT_US + 1), 0);
    finish(&w);
    begin(&w, (struct engine_handler){.bundled = false}); /* a program, however quick */
    assert_int_equal(asked_ahead(&w, 20), 0);
    finish(&w);
    begin(&w, (struct engine_handler){.bundled = true}); /* a last attempt must not be lost by waiting */
    w.max_attempts = 1;
    assert_int_equal(asked_ahead(&w, 20), 0);
    finish(&w);
}

TEST(what_cannot_begin_for_long_goes_back) {
    struct world w;
    begin(&w, (struct engine_handler){.bundled = true});
    size_t ahead = (size_t)asked_ahead(&w, 20);
    answer(&w, 21, ahead);
    assert_int_equal(expect(&w, WISH_WAIT).at_ms, w.now_ms + ENGINE_WAIT_MS);
    w.now_ms += ENGINE_WAIT_MS; /* this time they are not quick */
    struct wished back = expect(&w, WISH_FINISH);
    assert_int_equal(back.finish->count, ahead);
    assert_int_equal(back.finish->items[0].outcome, JOB_RELEASE);
    assert_int_equal(back.finish->items[0].delay_ms, 0);
    assert_int_equal(back.finish->claim.max, 0);
    finish(&w);
}

TEST(a_last_attempt_does_not_wait) {
    struct world w;
    begin(&w, (struct engine_handler){.bundled = true});
    size_t ahead = (size_t)asked_ahead(&w, 20);
    struct job *jobs = fresh(&w);
    for (size_t i = 0; i < ahead; i++)
        jobs[i] = (struct job){.id = 21 + (int64_t)i,
                               .token = 21,
                               .type = STR("t"),
                               .attempts = 1,
                               .max_attempts = i == 0 ? 1 : 2};
    answer_with(&w, jobs, ahead);
    expect(&w, WISH_WAIT);
    w.now_ms += ENGINE_JOB_LINGER_MS;
    struct wished back = expect(&w, WISH_FINISH);
    assert_int_equal(back.finish->count, 1);
    assert_int_equal(back.finish->items[0].ref.id, 21);
    assert_int_equal(back.finish->items[0].outcome, JOB_RELEASE);
    assert_int_equal(back.finish->claim.max, 0); /* and nothing more is claimed ahead */
    finish(&w);
}

/* Grants one job that is started with care, and returns the renewal that tells of its start. */
static struct wished grant_suspect(struct world *w) {
    begin(w, (struct engine_handler){.bundled = true});
    expect(w, WISH_FINISH);
    struct job *suspect = fresh(w);
    *suspect = (struct job){
        .id = 7, .token = 7, .type = STR("t"), .attempts = 1, .max_attempts = 25, .flags = JOB_SUSPECT};
    answer_with(w, suspect, 1);
    struct wished told = expect(w, WISH_RENEW);
    assert_int_equal(told.renew->count, 1);
    assert_int_equal(told.renew->items[0].ref.id, 7);
    return told;
}

/* The store must know that it has begun: else its attempt is not counted when the worker dies. */
TEST(the_start_of_a_suspect_is_told_first) {
    struct world w;
    grant_suspect(&w);
    renewed(&w, PAWL_UNAVAILABLE, NULL);
    expect(&w, WISH_WAIT); /* not told: not begun */
    w.now_ms += ENGINE_BACKOFF_MS_MAX;
    expect(&w, WISH_RENEW);
    answer_renewal(&w, ANSWER_APPLIED);
    assert_int_equal(expect(&w, WISH_START).jobs[0]->id, 7);
    no_more(&w);
    end_slot(&w, 0, JOB_END_DONE, 1);
    assert_int_equal(expect(&w, WISH_FINISH).finish->items[0].outcome, JOB_COMPLETE);
    finish(&w);
}

TEST(a_suspect_that_is_taken_away_before_its_start_leaves_the_slot) {
    struct world w;
    grant_suspect(&w);
    answer_renewal(&w, ANSWER_STALE);
    w.now_ms += POLL_MS;
    assert_int_equal(expect(&w, WISH_FINISH).finish->claim.max, SLOTS);
    finish(&w);
    grant_suspect(&w);
    evict(&w);
    answer_renewal(&w, ANSWER_APPLIED); /* it was on its way, and counts nothing */
    assert_int_equal(expect(&w, WISH_FINISH).finish->claim.max, SLOTS);
    finish(&w);
}

TEST(a_stop_gives_a_suspect_back_that_has_not_begun) {
    struct world w;
    grant_suspect(&w);
    stop(&w);
    answer_renewal(&w, ANSWER_APPLIED);
    struct wished back = expect(&w, WISH_FINISH);
    assert_int_equal(back.finish->count, 1);
    assert_int_equal(back.finish->items[0].outcome, JOB_RELEASE);
    answer(&w, 0, 0);
    expect(&w, WISH_DONE);
    finish(&w);
}

static void tell(struct world *w, int slot, const char *json) {
    step(w, (struct engine_event){
                .type = EVENT_PROGRESS, .slot = slot, .text = strdup(json), .text_len = strlen(json)});
}

TEST(the_last_progress_is_told_before_a_failure) {
    struct world w;
    begin(&w, (struct engine_handler){0});
    expect(&w, WISH_FINISH);
    answer(&w, 1, SLOTS);
    expect(&w, WISH_START);
    expect(&w, WISH_START);
    tell(&w, 0, "1");
    tell(&w, 0, "2");
    tell(&w, 1, "3");
    end_slot(&w, 0, JOB_END_RETRY, 1);
    end_slot(&w, 1, JOB_END_DONE, 1); /* nobody reads the progress of what is done */
    struct wished renew = expect(&w, WISH_RENEW);
    assert_int_equal(renew.renew->count, 1);
    assert_int_equal(renew.renew->items[0].ref.id, 1);
    assert_true(str_equal_cstr(renew.renew->items[0].progress, "2"));
    assert_false(metrics(&w).idle);
    enum store_answer applied = ANSWER_APPLIED;
    bool cancel = false;
    renewed(&w, PAWL_OK, &(struct renew_result){&applied, &cancel, 1});
    struct wished report = expect(&w, WISH_FINISH);
    assert_int_equal(report.finish->count, 2);
    assert_int_equal(report.finish->items[1].outcome, JOB_FAIL);
    answer(&w, 0, 0);
    expect(&w, WISH_WAIT);
    assert_int_equal(w.freed, w.grants);
    finish(&w);
}

/* The store does not answer, and the lease is over: the report goes out all the same. */
TEST(progress_that_cannot_be_told_does_not_hold_up_a_failure) {
    struct world w;
    begin(&w, (struct engine_handler){0});
    expect(&w, WISH_FINISH);
    answer(&w, 1, 1);
    expect(&w, WISH_START);
    no_more(&w);
    tell(&w, 0, "1");
    end_slot(&w, 0, JOB_END_RETRY, 1);
    expect(&w, WISH_RENEW);
    renewed(&w, PAWL_UNAVAILABLE, &(struct renew_result){0});
    expect(&w, WISH_WAIT);
    w.now_ms += LEASE_MS;
    assert_int_equal(expect(&w, WISH_FINISH).finish->count, 1);
    finish(&w);
}

/* covers: J14 B4.12 */
TEST(a_stop_gives_back_what_has_not_begun_and_waits_for_the_rest) {
    struct world w;
    begin(&w, (struct engine_handler){.concurrency = 1});
    expect(&w, WISH_FINISH);
    answer(&w, 1, 2);
    expect(&w, WISH_START);
    stop(&w);
    expect(&w, WISH_WAIT); /* a moment for company */
    w.now_ms += ENGINE_JOB_LINGER_MS;
    struct wished back = expect(&w, WISH_FINISH);
    assert_int_equal(back.finish->count, 1);
    assert_int_equal(back.finish->items[0].outcome, JOB_RELEASE);
    assert_int_equal(back.finish->claim.max, 0);
    answer(&w, 0, 0);
    expect(&w, WISH_WAIT);
    end_slot(&w, 0, JOB_END_DONE, 1);
    expect(&w, WISH_FINISH);
    answer(&w, 0, 0);
    expect(&w, WISH_DONE);
    finish(&w);
}

TEST(a_stop_that_lasts_too_long_cancels_and_burns_no_attempt) {
    struct world w;
    begin(&w, (struct engine_handler){0});
    expect(&w, WISH_FINISH);
    answer(&w, 1, 1);
    expect(&w, WISH_START);
    no_more(&w);
    stop(&w);
    w.now_ms += 2000;
    struct wished told = expect(&w, WISH_CANCEL);
    assert_int_equal(told.action.reason, STOP_LEAVING);
    expect(&w, WISH_RENEW);
    answer_renewal(&w, ANSWER_APPLIED);
    end_slot(&w, 0, JOB_END_CANCELLED, 1);
    struct wished back = expect(&w, WISH_FINISH);
    assert_int_equal(back.finish->items[0].outcome, JOB_RELEASE);
    answer(&w, 0, 0);
    expect(&w, WISH_DONE);
    finish(&w);
}

TEST(an_evicted_instance_drops_everything) {
    struct world w;
    begin(&w, (struct engine_handler){0});
    expect(&w, WISH_FINISH);
    answer(&w, 1, 3);
    expect(&w, WISH_START);
    expect(&w, WISH_START);
    w.homeless = true;
    evict(&w);
    for (int i = 0; i < SLOTS; i++)
        assert_int_equal(expect(&w, WISH_CANCEL).action.reason, STOP_FENCED);
    end_slot(&w, 0, JOB_END_DONE, 1);
    end_slot(&w, 1, JOB_END_DONE, 1);
    expect(&w, WISH_WAIT); /* nothing is reported, nothing is claimed */
    registered(&w, 2);
    struct wished claim = expect(&w, WISH_FINISH);
    assert_int_equal(claim.finish->count, 0);
    assert_int_equal(w.freed, w.grants);
    finish(&w);
}

/* covers: J37 J38 */
TEST(figures_and_their_summary) {
    pawl_job_metrics metrics = {
        .processed = 8, .succeeded = 6, .failed = 2, .processing_ms = 400, .leases_acquired = 10};
    pawl_job_summary summary = pawl_job_metrics_summary(&metrics);
    assert_true(summary.success_rate == 0.75 && summary.error_rate == 0.25);
    assert_true(summary.lease_efficiency == 0.8 && summary.mean_ms == 50);
    summary = pawl_job_metrics_summary(&(pawl_job_metrics){0});
    assert_true(summary.success_rate == 0 && summary.mean_ms == 0);
}

/* What the store has granted and we do not know of goes back: we say what we hold. */
static void what_is_held_is_told(void **state) {
    (void)state;
    struct world w;
    begin_with(&w, (struct engine_handler){0}, 500);
    struct wished action = expect(&w, WISH_SETTLE);
    assert_int_equal(action.settle->count, 0);
    assert_int_equal(action.settle->settled, 0);
    no_more(&w); /* what a call on its way may bring is not settled */
    /* The store names a token that we never got: with the next call it is settled. */
    beaten(&w, &(struct grants_settled){.newest = 7});
    action = expect(&w, WISH_SETTLE);
    assert_int_equal(action.settle->settled, 7);
    assert_int_equal(action.settle->seen, 0);
    beaten(&w, &(struct grants_settled){.released = 1});
    w.now_ms += POLL_MS;
    expect(&w, WISH_FINISH);
    answer(&w, 1, 2);
    expect(&w, WISH_START);
    expect(&w, WISH_START);
    w.now_ms += 500;
    action = expect(&w, WISH_SETTLE);
    assert_int_equal(action.settle->count, 2);
    assert_true(action.settle->seen > 0);
    beaten(&w, &(struct grants_settled){0});
    finish(&w);
}

/* A handler that hangs again and again keeps nobody from being asked what the store has granted: what ran
 * into the end of its lease is listed until the store has counted it. */
static void who_is_fenced_does_not_put_off_what_is_settled(void **state) {
    (void)state;
    struct world w;
    begin_with(&w, (struct engine_handler){0}, 500);
    expect(&w, WISH_SETTLE);
    beaten(&w, &(struct grants_settled){0});
    expect(&w, WISH_FINISH);
    answer(&w, 1, 1);
    expect(&w, WISH_START);
    int64_t id = w.jobs[0][0].id, token = w.jobs[0][0].token;
    no_more(&w);
    w.now_ms += LEASE_MS;
    expect(&w, WISH_CANCEL);
    expect(&w, WISH_SETTLE); /* it was due long ago */
    end_slot(&w, 0, JOB_END_DONE, 1);
    assert_int_equal(metrics(&w).fenced, 1);
    beaten(&w, &(struct grants_settled){0});
    no_more(&w);
    no_more(&w);         /* the first was asked before the job ended */
    w.now_ms += 5 * 500; /* with nothing in hand there is no hurry */
    struct wished action = expect(&w, WISH_SETTLE);
    assert_int_equal(action.settle->count, 1);
    assert_int_equal(action.settle->held[0].token, token);
    assert_int_equal(action.settle->held[0].number, id);
    beaten(&w, &(struct grants_settled){0});
    no_more(&w);
    w.now_ms += LEASE_MS;
    action = expect(&w, WISH_SETTLE); /* by now the store has taken it back itself */
    assert_int_equal(action.settle->count, 0);
    finish(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_claims_starts_reports_and_claims_again),
        cmocka_unit_test(an_empty_claim_waits_for_the_poll_or_a_wake_up),
        cmocka_unit_test(an_empty_claim_from_before_the_end_of_a_job_does_not_make_idle),
        cmocka_unit_test(a_running_job_is_renewed_and_hears_of_a_cancellation),
        cmocka_unit_test(a_lease_that_nobody_renews_fences_its_job),
        cmocka_unit_test(a_job_that_another_worker_has_is_stopped_at_once),
        cmocka_unit_test(a_lost_answer_is_asked_for_again_under_the_same_key),
        cmocka_unit_test(a_lease_of_a_repeated_call_counts_from_the_first),
        cmocka_unit_test(a_job_without_a_handler_is_left_to_others),
        cmocka_unit_test(quick_functions_are_handed_out_in_bundles_and_slow_ones_are_not),
        cmocka_unit_test(only_what_takes_microseconds_is_claimed_ahead),
        cmocka_unit_test(what_cannot_begin_for_long_goes_back),
        cmocka_unit_test(a_last_attempt_does_not_wait),
        cmocka_unit_test(the_start_of_a_suspect_is_told_first),
        cmocka_unit_test(a_suspect_that_is_taken_away_before_its_start_leaves_the_slot),
        cmocka_unit_test(a_stop_gives_a_suspect_back_that_has_not_begun),
        cmocka_unit_test(the_last_progress_is_told_before_a_failure),
        cmocka_unit_test(progress_that_cannot_be_told_does_not_hold_up_a_failure),
        cmocka_unit_test(a_stop_gives_back_what_has_not_begun_and_waits_for_the_rest),
        cmocka_unit_test(a_stop_that_lasts_too_long_cancels_and_burns_no_attempt),
        cmocka_unit_test(an_evicted_instance_drops_everything),
        cmocka_unit_test(what_is_held_is_told),
        cmocka_unit_test(who_is_fenced_does_not_put_off_what_is_settled),
        cmocka_unit_test(figures_and_their_summary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
