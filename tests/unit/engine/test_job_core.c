/* The decisions of the job side: claiming, starting, renewing, reporting, giving up, stopping. No store, no
 * clock: the test is both. */
#include "support/check.h"

#include <string.h>

#include "base/str.h"
#include "engine/jobs/job_core.h"

enum { LEASE_MS = 10000, POLL_MS = 1000, SLOTS = 2, BATCH = 8, JOBS_MAX = 8 };

struct world {
    struct job_core *core;
    struct job_rule rules[2];
    struct job jobs[JOBS_MAX];
    enum store_answer answers[JOBS_MAX];
    enum job_result results[JOBS_MAX];
    int64_t now_ms;
    int max_attempts;  /* of what is granted */
    int grants, freed; /* arenas that were handed over and came back */
};

static int match(void *self, const struct job *job) {
    (void)self;
    return str_equal_cstr(job->type, "unknown") ? -1 : 0;
}

static void begin(struct world *w, struct job_rule rule) {
    *w = (struct world){.rules = {rule}, .now_ms = 100000, .max_attempts = 25};
    struct job_core_config config = {.slots = SLOTS,
                                     .batch = BATCH,
                                     .lease_ms = LEASE_MS,
                                     .poll_ms = POLL_MS,
                                     .drain_ms = 2000,
                                     .rules = w->rules,
                                     .rule_count = 2,
                                     .match = match,
                                     .seed = 3};
    w->core = job_core_create(&config);
    assert_non_null(w->core);
    job_core_instance(w->core, (pawl_uuid){{1}});
}

/* The next action that is not handing memory back. */
static struct job_action next(struct world *w) {
    struct job_action action;
    do {
        assert_true(job_core_next(w->core, w->now_ms, &action));
        w->freed += action.type == JOB_ACT_FREE_GRANT;
    } while (action.type == JOB_ACT_FREE_GRANT || action.type == JOB_ACT_FREE_RESULT);
    return action;
}

static struct job_action expect(struct world *w, enum job_action_type type) {
    struct job_action action = next(w);
    assert_int_equal(action.type, type);
    return action;
}

/* Answers a call: everything reported is applied, count jobs with ids from first on are granted. */
static void answer(struct world *w, int64_t first, size_t count) {
    struct finish_result result = {w->answers, w->results, JOBS_MAX, {w->jobs, count}};
    for (size_t i = 0; i < JOBS_MAX; i++)
        w->answers[i] = ANSWER_APPLIED;
    for (size_t i = 0; i < count; i++)
        w->jobs[i] = (struct job){.id = first + (int64_t)i,
                                  .token = first,
                                  .type = STR("t"),
                                  .attempts = 1,
                                  .max_attempts = w->max_attempts};
    w->grants += count > 0;
    job_core_finished_call(w->core, w->now_ms, w->now_ms, PAWL_OK, &result, count > 0 ? w : NULL);
}

static void end_slot(struct world *w, int slot, enum job_end end, size_t count) {
    struct job_result_in results[JOB_CORE_BUNDLE_MAX];
    for (size_t i = 0; i < count; i++)
        results[i] = (struct job_result_in){.end = end, .delay_ms = -1};
    job_core_slot_ended(w->core, w->now_ms, slot, results, 5000);
}

static void finish(struct world *w) { job_core_free(w->core); }

/* covers: J04 J07 */
TEST(it_claims_starts_reports_and_claims_again) {
    struct world w;
    begin(&w, (struct job_rule){0});
    struct job_action claim = expect(&w, JOB_ACT_FINISH);
    assert_int_equal(claim.finish->count, 0);
    assert_int_equal(claim.finish->claim.max, SLOTS);
    answer(&w, 1, 2);
    assert_int_equal(expect(&w, JOB_ACT_START).jobs[0]->id, 1);
    assert_int_equal(expect(&w, JOB_ACT_START).jobs[0]->id, 2);
    expect(&w, JOB_ACT_WAIT);
    end_slot(&w, 0, JOB_END_DONE, 1);
    struct job_action both = expect(&w, JOB_ACT_FINISH); /* one has ended: one may begin */
    assert_int_equal(both.finish->count, 1);
    assert_int_equal(both.finish->claim.max, 1);
    answer(&w, 3, 1);
    assert_int_equal(expect(&w, JOB_ACT_START).jobs[0]->id, 3);
    end_slot(&w, 0, JOB_END_DONE, 1);
    end_slot(&w, 1, JOB_END_RETRY, 1);
    struct job_action report = expect(&w, JOB_ACT_FINISH);
    assert_int_equal(report.finish->count, 2);
    assert_int_equal(report.finish->items[0].outcome, JOB_COMPLETE);
    assert_int_equal(report.finish->items[1].outcome, JOB_FAIL);
    assert_int_equal(report.finish->items[1].delay_ms, -1);
    w.results[1] = JOB_RESULT_RETRY;
    answer(&w, 0, 0);
    expect(&w, JOB_ACT_WAIT);
    struct job_core_metrics m = job_core_metrics(w.core);
    assert_int_equal(m.completed, 2);
    assert_int_equal(m.failed, 1);
    assert_int_equal(m.retried, 1);
    assert_true(m.idle);
    assert_int_equal(w.freed, w.grants);
    finish(&w);
}

TEST(an_empty_claim_waits_for_the_poll_or_a_wake_up) {
    struct world w;
    begin(&w, (struct job_rule){0});
    expect(&w, JOB_ACT_FINISH);
    answer(&w, 0, 0);
    assert_int_equal(expect(&w, JOB_ACT_WAIT).at_ms, w.now_ms + POLL_MS);
    job_core_claim_at(w.core, 0);
    expect(&w, JOB_ACT_FINISH);
    answer(&w, 0, 0);
    w.now_ms += POLL_MS;
    expect(&w, JOB_ACT_FINISH);
    finish(&w);
}

/* covers: J05 */
TEST(a_running_job_is_renewed_and_hears_of_a_cancellation) {
    struct world w;
    begin(&w, (struct job_rule){0});
    expect(&w, JOB_ACT_FINISH);
    answer(&w, 1, 1);
    expect(&w, JOB_ACT_START);
    w.now_ms += JOB_CORE_RENEW_MS;
    struct job_action renew = next(&w);
    while (renew.type == JOB_ACT_FINISH) {
        answer(&w, 0, 0);
        renew = next(&w);
    }
    assert_int_equal(renew.type, JOB_ACT_RENEW);
    assert_int_equal(renew.renew->items[0].ref.id, 1);
    enum store_answer applied = ANSWER_APPLIED;
    bool cancel = true;
    struct renew_result result = {&applied, &cancel, 1};
    job_core_renewed(w.core, w.now_ms, w.now_ms, PAWL_OK, &result);
    struct job_action told = expect(&w, JOB_ACT_CANCEL);
    assert_int_equal(told.reason, STOP_ASKED);
    assert_int_equal(job_core_metrics(w.core).renewed, 1);
    finish(&w);
}

/* Promise 9: what has no lease any more has no effect. covers: B4.14 */
TEST(a_lease_that_nobody_renews_fences_its_job) {
    struct world w;
    begin(&w, (struct job_rule){0});
    expect(&w, JOB_ACT_FINISH);
    answer(&w, 1, 3);
    expect(&w, JOB_ACT_START);
    expect(&w, JOB_ACT_START);
    w.now_ms += LEASE_MS; /* the process was stopped */
    struct job_action told = expect(&w, JOB_ACT_CANCEL);
    assert_int_equal(told.reason, STOP_FENCED);
    expect(&w, JOB_ACT_CANCEL);
    end_slot(&w, 0, JOB_END_DONE, 1);
    end_slot(&w, 1, JOB_END_DONE, 1);
    struct job_action call = next(&w); /* the third never starts */
    assert_int_equal(call.type, JOB_ACT_FINISH);
    assert_int_equal(call.finish->count, 0);
    assert_int_equal(job_core_metrics(w.core).fenced, 3);
    finish(&w);
}

/* covers: B4.14 */
TEST(a_job_that_another_worker_has_is_stopped_at_once) {
    struct world w;
    begin(&w, (struct job_rule){0});
    expect(&w, JOB_ACT_FINISH);
    answer(&w, 1, SLOTS);
    expect(&w, JOB_ACT_START);
    expect(&w, JOB_ACT_START);
    w.now_ms += JOB_CORE_RENEW_MS;
    expect(&w, JOB_ACT_RENEW);
    enum store_answer answers[SLOTS] = {ANSWER_STALE, ANSWER_APPLIED};
    bool cancel[SLOTS] = {false};
    job_core_renewed(w.core, w.now_ms, w.now_ms, PAWL_OK, &(struct renew_result){answers, cancel, SLOTS});
    struct job_action told = expect(&w, JOB_ACT_CANCEL);
    assert_int_equal(told.reason, STOP_FENCED);
    end_slot(&w, told.slot, JOB_END_DONE, 1);
    assert_int_equal(job_core_metrics(w.core).fenced, 1);
    assert_int_equal(job_core_metrics(w.core).pending, 0);
    finish(&w);
}

/* covers: J17 */
TEST(a_lost_answer_is_asked_for_again_under_the_same_key) {
    struct world w;
    begin(&w, (struct job_rule){0});
    struct job_action first = expect(&w, JOB_ACT_FINISH);
    pawl_uuid request = first.finish->claim.request;
    job_core_finished_call(w.core, w.now_ms, w.now_ms, PAWL_UNKNOWN, &(struct finish_result){0}, NULL);
    expect(&w, JOB_ACT_WAIT);
    w.now_ms += JOB_CORE_BACKOFF_MS_MAX;
    struct job_action again = expect(&w, JOB_ACT_FINISH);
    assert_memory_equal(&again.finish->claim.request, &request, sizeof request);
    answer(&w, 1, 1);
    expect(&w, JOB_ACT_START);
    assert_int_equal(job_core_metrics(w.core).lost_calls, 1);
    finish(&w);
}

/* What the repeated call brings may have been granted by the first one: its lease runs since then. */
TEST(a_lease_of_a_repeated_call_counts_from_the_first) {
    struct world w;
    begin(&w, (struct job_rule){0});
    expect(&w, JOB_ACT_FINISH);
    int64_t first_ms = w.now_ms;
    job_core_finished_call(w.core, w.now_ms, w.now_ms, PAWL_UNKNOWN, &(struct finish_result){0}, NULL);
    w.now_ms += JOB_CORE_BACKOFF_MS_MAX;
    expect(&w, JOB_ACT_FINISH);
    answer(&w, 1, 1);
    assert_int_equal(expect(&w, JOB_ACT_START).fence_ms, first_ms + LEASE_MS - LEASE_MS / 10);
    finish(&w);
}

TEST(a_job_without_a_handler_is_left_to_others) {
    struct world w;
    begin(&w, (struct job_rule){0});
    expect(&w, JOB_ACT_FINISH);
    struct finish_result result = {w.answers, w.results, 0, {w.jobs, 1}};
    w.jobs[0] = (struct job){.id = 5, .token = 5, .type = STR("unknown")};
    job_core_finished_call(w.core, w.now_ms, w.now_ms, PAWL_OK, &result, &w);
    struct job_action back = expect(&w, JOB_ACT_FINISH);
    assert_int_equal(back.finish->items[0].outcome, JOB_RELEASE);
    assert_int_equal(back.finish->items[0].delay_ms, JOB_CORE_NO_HANDLER_MS);
    finish(&w);
}

TEST(quick_functions_are_handed_out_in_bundles_and_slow_ones_are_not) {
    struct world w;
    begin(&w, (struct job_rule){.bundled = true});
    expect(&w, JOB_ACT_FINISH);
    answer(&w, 1, 6);
    assert_int_equal(expect(&w, JOB_ACT_START).count, 1); /* nothing is known of it yet */
    assert_int_equal(expect(&w, JOB_ACT_START).count, 1);
    struct job_result_in done = {.end = JOB_END_DONE, .delay_ms = -1};
    job_core_slot_ended(w.core, w.now_ms, 0, &done, 10);
    assert_int_equal(expect(&w, JOB_ACT_START).count, 2); /* the slots share what waits */
    finish(&w);
}

/* Ends a slot of `count` jobs that took item_us each. */
static void end_quickly(struct world *w, int slot, size_t count, int64_t item_us) {
    struct job_result_in results[JOB_CORE_BUNDLE_MAX];
    for (size_t i = 0; i < count; i++)
        results[i] = (struct job_result_in){.end = JOB_END_DONE, .delay_ms = -1};
    job_core_slot_ended(w->core, w->now_ms, slot, results, item_us * (int64_t)count);
}

static void answer_renewal(struct world *w, enum store_answer answer) {
    enum store_answer answers[SLOTS] = {answer, answer};
    bool cancel[SLOTS] = {false};
    struct renew_result result = {answers, cancel, SLOTS};
    job_core_renewed(w->core, w->now_ms, w->now_ms, PAWL_OK, &result);
}

/* Every slot begins with a job; the store hears first of what is in its last attempt. */
static void expect_starts(struct world *w) {
    if (w->max_attempts == 1) {
        assert_int_equal(expect(w, JOB_ACT_RENEW).renew->count, SLOTS);
        answer_renewal(w, ANSWER_APPLIED);
    }
    for (int i = 0; i < SLOTS; i++)
        expect(w, JOB_ACT_START);
}

/* Runs jobs that take item_us, is granted as many again, and returns how many it asks for while these run. */
static int asked_ahead(struct world *w, int64_t item_us) {
    expect(w, JOB_ACT_FINISH);
    answer(w, 1, SLOTS);
    expect_starts(w);
    expect(w, JOB_ACT_WAIT);
    for (int i = 0; i < SLOTS; i++)
        end_quickly(w, i, 1, item_us);
    assert_int_equal(expect(w, JOB_ACT_FINISH).finish->claim.max, SLOTS);
    answer(w, 11, SLOTS);
    expect_starts(w);
    struct job_action action = next(w);
    return action.type == JOB_ACT_FINISH ? action.finish->claim.max : 0;
}

/* Leasing more than can start keeps it from others. */
TEST(only_what_takes_microseconds_is_claimed_ahead) {
    struct world w;
    begin(&w, (struct job_rule){.bundled = true});
    assert_int_equal(asked_ahead(&w, 20), BATCH - SLOTS);
    finish(&w);
    begin(&w, (struct job_rule){.bundled = true});
    assert_int_equal(asked_ahead(&w, JOB_CORE_QUICK_US + 1), 0);
    finish(&w);
    begin(&w, (struct job_rule){.bundled = false}); /* a program, however quick */
    assert_int_equal(asked_ahead(&w, 20), 0);
    finish(&w);
    begin(&w, (struct job_rule){.bundled = true}); /* a last attempt must not be lost by waiting */
    w.max_attempts = 1;
    assert_int_equal(asked_ahead(&w, 20), 0);
    finish(&w);
}

TEST(what_cannot_begin_for_long_goes_back) {
    struct world w;
    begin(&w, (struct job_rule){.bundled = true});
    size_t ahead = (size_t)asked_ahead(&w, 20);
    answer(&w, 21, ahead);
    assert_int_equal(expect(&w, JOB_ACT_WAIT).at_ms, w.now_ms + JOB_CORE_WAIT_MS);
    w.now_ms += JOB_CORE_WAIT_MS; /* this time they are not quick */
    struct job_action back = expect(&w, JOB_ACT_FINISH);
    assert_int_equal(back.finish->count, ahead);
    assert_int_equal(back.finish->items[0].outcome, JOB_RELEASE);
    assert_int_equal(back.finish->items[0].delay_ms, 0);
    assert_int_equal(back.finish->claim.max, 0);
    finish(&w);
}

TEST(a_last_attempt_does_not_wait) {
    struct world w;
    begin(&w, (struct job_rule){.bundled = true});
    size_t ahead = (size_t)asked_ahead(&w, 20);
    struct finish_result result = {w.answers, w.results, JOBS_MAX, {w.jobs, ahead}};
    for (size_t i = 0; i < ahead; i++)
        w.jobs[i] = (struct job){.id = 21 + (int64_t)i,
                                 .token = 21,
                                 .type = STR("t"),
                                 .attempts = 1,
                                 .max_attempts = i == 0 ? 1 : 2};
    job_core_finished_call(w.core, w.now_ms, w.now_ms, PAWL_OK, &result, &w);
    expect(&w, JOB_ACT_WAIT);
    w.now_ms += JOB_CORE_LINGER_MS;
    struct job_action back = expect(&w, JOB_ACT_FINISH);
    assert_int_equal(back.finish->count, 1);
    assert_int_equal(back.finish->items[0].ref.id, 21);
    assert_int_equal(back.finish->items[0].outcome, JOB_RELEASE);
    assert_int_equal(back.finish->claim.max, 0); /* and nothing more is claimed ahead */
    finish(&w);
}

/* Grants one job that is started with care, and returns the renewal that tells of its start. */
static struct job_action grant_suspect(struct world *w) {
    struct finish_result result = {w->answers, w->results, JOBS_MAX, {w->jobs, 1}};
    begin(w, (struct job_rule){.bundled = true});
    expect(w, JOB_ACT_FINISH);
    w->jobs[0] = (struct job){
        .id = 7, .token = 7, .type = STR("t"), .attempts = 1, .max_attempts = 25, .flags = JOB_SUSPECT};
    w->grants++;
    job_core_finished_call(w->core, w->now_ms, w->now_ms, PAWL_OK, &result, w);
    struct job_action told = expect(w, JOB_ACT_RENEW);
    assert_int_equal(told.renew->count, 1);
    assert_int_equal(told.renew->items[0].ref.id, 7);
    return told;
}

/* The store must know that it has begun: else its attempt is not counted when the worker dies. */
TEST(the_start_of_a_suspect_is_told_first) {
    struct world w;
    grant_suspect(&w);
    job_core_renewed(w.core, w.now_ms, w.now_ms, PAWL_UNAVAILABLE, NULL);
    expect(&w, JOB_ACT_WAIT); /* not told: not begun */
    w.now_ms += JOB_CORE_BACKOFF_MS_MAX;
    expect(&w, JOB_ACT_RENEW);
    answer_renewal(&w, ANSWER_APPLIED);
    assert_int_equal(expect(&w, JOB_ACT_START).jobs[0]->id, 7);
    end_slot(&w, 0, JOB_END_DONE, 1);
    assert_int_equal(expect(&w, JOB_ACT_FINISH).finish->items[0].outcome, JOB_COMPLETE);
    finish(&w);
}

TEST(a_suspect_that_is_taken_away_before_its_start_leaves_the_slot) {
    struct world w;
    grant_suspect(&w);
    answer_renewal(&w, ANSWER_STALE);
    w.now_ms += POLL_MS;
    assert_int_equal(expect(&w, JOB_ACT_FINISH).finish->claim.max, SLOTS);
    finish(&w);
    grant_suspect(&w);
    job_core_instance(w.core, (pawl_uuid){{2}});
    assert_int_equal(expect(&w, JOB_ACT_FINISH).finish->claim.max, SLOTS);
    finish(&w);
}

TEST(a_stop_gives_a_suspect_back_that_has_not_begun) {
    struct world w;
    grant_suspect(&w);
    answer_renewal(&w, ANSWER_APPLIED);
    job_core_stop(w.core, w.now_ms, false);
    struct job_action back = expect(&w, JOB_ACT_FINISH);
    assert_int_equal(back.finish->count, 1);
    assert_int_equal(back.finish->items[0].outcome, JOB_RELEASE);
    answer(&w, 0, 0);
    expect(&w, JOB_ACT_DONE);
    finish(&w);
}

static void tell(struct world *w, int slot, const char *json) {
    job_core_gets_on(w->core, w->now_ms, slot);
    job_core_progress(w->core, slot, 0, strdup(json), strlen(json));
}

TEST(the_last_progress_is_told_before_a_failure) {
    struct world w;
    begin(&w, (struct job_rule){0});
    expect(&w, JOB_ACT_FINISH);
    answer(&w, 1, SLOTS);
    expect(&w, JOB_ACT_START);
    expect(&w, JOB_ACT_START);
    tell(&w, 0, "1");
    tell(&w, 0, "2");
    tell(&w, 1, "3");
    end_slot(&w, 0, JOB_END_RETRY, 1);
    end_slot(&w, 1, JOB_END_DONE, 1); /* nobody reads the progress of what is done */
    struct job_action renew = expect(&w, JOB_ACT_RENEW);
    assert_int_equal(renew.renew->count, 1);
    assert_int_equal(renew.renew->items[0].ref.id, 1);
    assert_true(str_equal_cstr(renew.renew->items[0].progress, "2"));
    assert_false(job_core_metrics(w.core).idle);
    enum store_answer applied = ANSWER_APPLIED;
    bool cancel = false;
    job_core_renewed(w.core, w.now_ms, w.now_ms, PAWL_OK, &(struct renew_result){&applied, &cancel, 1});
    struct job_action report = expect(&w, JOB_ACT_FINISH);
    assert_int_equal(report.finish->count, 2);
    assert_int_equal(report.finish->items[1].outcome, JOB_FAIL);
    answer(&w, 0, 0);
    expect(&w, JOB_ACT_WAIT);
    assert_int_equal(w.freed, w.grants);
    finish(&w);
}

/* The store does not answer, and the lease is over: the report goes out all the same. */
TEST(progress_that_cannot_be_told_does_not_hold_up_a_failure) {
    struct world w;
    begin(&w, (struct job_rule){0});
    expect(&w, JOB_ACT_FINISH);
    answer(&w, 1, 1);
    expect(&w, JOB_ACT_START);
    tell(&w, 0, "1");
    end_slot(&w, 0, JOB_END_RETRY, 1);
    expect(&w, JOB_ACT_RENEW);
    job_core_renewed(w.core, w.now_ms, w.now_ms, PAWL_UNAVAILABLE, &(struct renew_result){0});
    expect(&w, JOB_ACT_WAIT);
    w.now_ms += LEASE_MS;
    assert_int_equal(expect(&w, JOB_ACT_FINISH).finish->count, 1);
    finish(&w);
}

/* covers: J14 B4.12 */
TEST(a_stop_gives_back_what_has_not_begun_and_waits_for_the_rest) {
    struct world w;
    begin(&w, (struct job_rule){.concurrency = 1});
    expect(&w, JOB_ACT_FINISH);
    answer(&w, 1, 2);
    expect(&w, JOB_ACT_START);
    job_core_stop(w.core, w.now_ms, false);
    expect(&w, JOB_ACT_WAIT); /* a moment for company */
    w.now_ms += JOB_CORE_LINGER_MS;
    struct job_action back = expect(&w, JOB_ACT_FINISH);
    assert_int_equal(back.finish->count, 1);
    assert_int_equal(back.finish->items[0].outcome, JOB_RELEASE);
    assert_int_equal(back.finish->claim.max, 0);
    answer(&w, 0, 0);
    expect(&w, JOB_ACT_WAIT);
    end_slot(&w, 0, JOB_END_DONE, 1);
    expect(&w, JOB_ACT_FINISH);
    answer(&w, 0, 0);
    expect(&w, JOB_ACT_DONE);
    finish(&w);
}

TEST(a_stop_that_lasts_too_long_cancels_and_burns_no_attempt) {
    struct world w;
    begin(&w, (struct job_rule){0});
    expect(&w, JOB_ACT_FINISH);
    answer(&w, 1, 1);
    expect(&w, JOB_ACT_START);
    job_core_stop(w.core, w.now_ms, false);
    w.now_ms += 2000;
    struct job_action told = expect(&w, JOB_ACT_CANCEL);
    assert_int_equal(told.reason, STOP_LEAVING);
    end_slot(&w, 0, JOB_END_CANCELLED, 1);
    struct job_action back = expect(&w, JOB_ACT_FINISH);
    assert_int_equal(back.finish->items[0].outcome, JOB_RELEASE);
    answer(&w, 0, 0);
    expect(&w, JOB_ACT_DONE);
    finish(&w);
}

TEST(an_evicted_instance_drops_everything) {
    struct world w;
    begin(&w, (struct job_rule){0});
    expect(&w, JOB_ACT_FINISH);
    answer(&w, 1, 3);
    expect(&w, JOB_ACT_START);
    job_core_instance(w.core, (pawl_uuid){{0}});
    struct job_action told = expect(&w, JOB_ACT_CANCEL);
    assert_int_equal(told.reason, STOP_FENCED);
    end_slot(&w, 0, JOB_END_DONE, 1);
    expect(&w, JOB_ACT_WAIT); /* nothing is reported, nothing is claimed */
    job_core_instance(w.core, (pawl_uuid){{2}});
    struct job_action claim = expect(&w, JOB_ACT_FINISH);
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
    begin(&w, (struct job_rule){0});
    job_core_free(w.core);
    struct job_core_config config = {.slots = SLOTS,
                                     .batch = BATCH,
                                     .lease_ms = LEASE_MS,
                                     .poll_ms = POLL_MS,
                                     .settle_ms = 500,
                                     .rules = w.rules,
                                     .rule_count = 2,
                                     .match = match,
                                     .seed = 3};
    w.core = job_core_create(&config);
    job_core_instance(w.core, (pawl_uuid){{1}});
    struct job_action action = expect(&w, JOB_ACT_SETTLE);
    assert_int_equal(action.settle->count, 0);
    assert_int_equal(action.settle->settled, 0);
    /* The store names a token that we never got: with the next call it is settled. */
    job_core_settled(w.core, w.now_ms, PAWL_OK, &(struct grants_settled){.newest = 7});
    action = expect(&w, JOB_ACT_SETTLE);
    assert_int_equal(action.settle->settled, 7);
    assert_int_equal(action.settle->seen, 0);
    job_core_settled(w.core, w.now_ms, PAWL_OK, &(struct grants_settled){.released = 1});
    expect(&w, JOB_ACT_FINISH);
    answer(&w, 1, 2);
    expect(&w, JOB_ACT_START);
    expect(&w, JOB_ACT_START);
    w.now_ms += 500;
    action = expect(&w, JOB_ACT_SETTLE);
    assert_int_equal(action.settle->count, 2);
    assert_true(action.settle->seen > 0);
    job_core_settled(w.core, w.now_ms, PAWL_OK, &(struct grants_settled){0});
    job_core_free(w.core);
}

/* A handler that hangs again and again keeps nobody from being asked what the store has granted: what ran
 * into the end of its lease is listed until the store has counted it. */
static void who_is_fenced_does_not_put_off_what_is_settled(void **state) {
    (void)state;
    struct world w;
    begin(&w, (struct job_rule){0});
    job_core_free(w.core);
    struct job_core_config config = {.slots = SLOTS,
                                     .batch = BATCH,
                                     .lease_ms = LEASE_MS,
                                     .poll_ms = POLL_MS,
                                     .settle_ms = 500,
                                     .rules = w.rules,
                                     .rule_count = 2,
                                     .match = match,
                                     .seed = 3};
    w.core = job_core_create(&config);
    job_core_instance(w.core, (pawl_uuid){{1}});
    expect(&w, JOB_ACT_SETTLE);
    job_core_settled(w.core, w.now_ms, PAWL_OK, &(struct grants_settled){0});
    expect(&w, JOB_ACT_FINISH);
    answer(&w, 1, 1);
    expect(&w, JOB_ACT_START);
    int64_t id = w.jobs[0].id, token = w.jobs[0].token;
    w.now_ms += LEASE_MS;
    expect(&w, JOB_ACT_CANCEL);
    end_slot(&w, 0, JOB_END_DONE, 1);
    assert_int_equal(job_core_metrics(w.core).fenced, 1);
    struct job_action action = expect(&w, JOB_ACT_SETTLE); /* it was due long ago */
    assert_int_equal(action.settle->count, 1);
    assert_int_equal(action.settle->held[0].token, token);
    assert_int_equal(action.settle->held[0].number, id);
    job_core_settled(w.core, w.now_ms, PAWL_OK, &(struct grants_settled){0});
    expect(&w, JOB_ACT_FINISH);
    answer(&w, 2, 0);
    w.now_ms += LEASE_MS;
    action = expect(&w, JOB_ACT_SETTLE); /* by now the store has taken it back itself */
    assert_int_equal(action.settle->count, 0);
    job_core_free(w.core);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_claims_starts_reports_and_claims_again),
        cmocka_unit_test(an_empty_claim_waits_for_the_poll_or_a_wake_up),
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
