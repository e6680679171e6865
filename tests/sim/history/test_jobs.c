/* Tests of the checker of jobs: one sound history, and one broken by hand for each of its rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/history/jobs.h"

enum { LEASE_MS = 1000, NOW = 10000, TRIES = 3 };

struct story {
    struct history h;
    struct history_jobs j;
    int one, two;
};

static void put(struct story *s, int64_t id, int priority) {
    struct history_job_new in = {
        .key = -1, .unique = -1, .priority = priority, .max_attempts = TRIES, .due_ms = NOW, .now_ms = NOW};
    history_job_put(&s->j, id, &in);
}

static void begin(struct story *s) {
    struct history_rules rules = {POLICY_SKIP, TRIES, LEASE_MS, LEASE_MS};
    history_init(&s->h, &rules, 1);
    history_jobs_init(&s->j, &s->h);
    s->one = history_instance_new(&s->h);
    s->two = history_instance_new(&s->h);
    history_instance_lease(&s->h, s->one, NOW + LEASE_MS * 100);
    history_instance_lease(&s->h, s->two, NOW + LEASE_MS * 100);
    put(s, 1, 0);
    put(s, 2, 0);
}

static void grant(struct story *s, int64_t id, int64_t token, int instance, int attempts, int64_t now_ms) {
    struct job job = {.id = id, .token = token, .lease_until_ms = now_ms + LEASE_MS, .attempts = attempts};
    struct job_list list = {&job, 1};
    history_jobs_granted(&s->j, &list, instance, now_ms);
}

static void run(struct story *s, int64_t id, int64_t token) {
    int number = history_job_began(&s->j, id, token, NOW);
    history_job_effect(&s->j, number);
    history_job_ended(&s->j, number);
}

static void report(struct story *s, int64_t id, int64_t token, enum job_outcome outcome,
                   enum store_answer answer) {
    struct finish_item item = {.ref = {token, id}, .outcome = outcome, .error_class = CLASS_RETRYABLE};
    enum job_result result = outcome == JOB_FAIL ? JOB_RESULT_RETRY : JOB_RESULT_NONE;
    history_job_reported(&s->j, s->one, &item, answer, result, NOW);
}

static void expect(struct story *s, const char *rule) {
    if (rule == NULL)
        assert_string_equal(s->h.violated ? s->h.text : "", "");
    else
        assert_string_equal(s->h.violated ? s->h.rule : "nothing", rule);
    history_jobs_free(&s->j);
    history_free(&s->h);
}

static void test_a_sound_history(void **state) {
    (void)state;
    struct story s;
    begin(&s);
    grant(&s, 1, 10, s.one, 1, NOW);
    run(&s, 1, 10);
    report(&s, 1, 10, JOB_FAIL, ANSWER_APPLIED);
    grant(&s, 1, 11, s.one, 2, NOW);
    run(&s, 1, 11);
    report(&s, 1, 11, JOB_COMPLETE, ANSWER_APPLIED);
    report(&s, 1, 11, JOB_COMPLETE, ANSWER_DUPLICATE);
    grant(&s, 2, 12, s.one, 1, NOW);
    report(&s, 2, 12, JOB_RELEASE, ANSWER_APPLIED);
    grant(&s, 2, 13, s.two, 1, NOW);
    expect(&s, NULL);
}

static void test_a_lease_is_respected(void **state) {
    (void)state;
    struct story s;
    begin(&s);
    grant(&s, 1, 10, s.one, 1, NOW);
    grant(&s, 1, 11, s.two, 1, NOW + LEASE_MS / 2);
    expect(&s, "job_taken");
}

static void test_an_old_token_counts_for_nothing(void **state) {
    (void)state;
    struct story s;
    begin(&s);
    grant(&s, 1, 10, s.one, 1, NOW);
    run(&s, 1, 10);
    grant(&s, 1, 11, s.two, 1, NOW + LEASE_MS);
    report(&s, 1, 10, JOB_COMPLETE, ANSWER_APPLIED);
    expect(&s, "job_stale_accepted");
}

static void test_only_what_began_is_an_attempt(void **state) {
    (void)state;
    struct story s;
    begin(&s);
    grant(&s, 1, 10, s.one, 1, NOW);
    grant(&s, 1, 11, s.two, 2, NOW + LEASE_MS);
    expect(&s, "job_attempts");
    begin(&s);
    grant(&s, 1, 10, s.one, 1, NOW);
    history_job_renewed(&s.j, s.one, (struct job_ref){10, 1}, ANSWER_APPLIED, LEASE_MS, NOW);
    grant(&s, 1, 11, s.two, 1, NOW + LEASE_MS);
    expect(&s, "job_attempts");
}

static void test_the_first_in_order_is_granted(void **state) {
    (void)state;
    struct story s;
    begin(&s);
    put(&s, 3, 5);
    grant(&s, 1, 10, s.one, 1, NOW);
    expect(&s, "job_priority");
}

static void test_a_limit_is_kept(void **state) {
    (void)state;
    struct story s;
    begin(&s);
    s.j.limit[0] = 1;
    s.j.jobs[1].key = s.j.jobs[2].key = 0;
    grant(&s, 1, 10, s.one, 1, NOW);
    grant(&s, 2, 11, s.one, 1, NOW);
    expect(&s, "job_limit");
}

static void test_a_unique_key_is_held_by_one(void **state) {
    (void)state;
    struct story s;
    begin(&s);
    struct history_job_new in = {.key = -1, .unique = 0, .max_attempts = TRIES, .now_ms = NOW};
    history_job_put(&s.j, 3, &in);
    history_job_put(&s.j, 4, &in);
    expect(&s, "job_unique");
}

static void test_nothing_begins_after_its_end(void **state) {
    (void)state;
    struct story s;
    begin(&s);
    s.j.jobs[1].deadline_ms = NOW;
    grant(&s, 1, 10, s.one, 1, NOW);
    expect(&s, "job_deadline");
    begin(&s);
    grant(&s, 1, 10, s.one, 1, NOW);
    history_job_cancelled(&s.j, 1, ANSWER_APPLIED, NOW);
    grant(&s, 1, 11, s.one, 1, NOW + LEASE_MS);
    expect(&s, "job_cancel");
    begin(&s);
    grant(&s, 1, 10, s.one, 1, NOW);
    run(&s, 1, 10);
    report(&s, 1, 10, JOB_COMPLETE, ANSWER_APPLIED);
    grant(&s, 1, 11, s.one, 1, NOW);
    expect(&s, "job_ended");
}

static void test_nothing_gets_lost(void **state) {
    (void)state;
    struct story s;
    begin(&s);
    history_jobs_seen(&s.j, &(struct job_rows){0}, NOW, false);
    expect(&s, "job_lost");
}

static void test_nothing_starves(void **state) {
    (void)state;
    struct story s;
    begin(&s);
    s.j.jobs[1].key = 0;
    s.j.turns.weight[0] = 1;
    for (int64_t id = 3; id <= 4; id++) {
        struct history_job_new in = {
            .key = -1, .unique = -1, .max_attempts = TRIES, .due_ms = NOW + 1, .now_ms = NOW};
        history_job_put(&s.j, id, &in);
    }
    grant(&s, 2, 10, s.one, 1, NOW + 1);
    assert_false(s.h.violated);
    grant(&s, 3, 11, s.one, 1, NOW + 1);
    expect(&s, "key_starves");
}

static void test_what_was_done_stays_done_when_the_store_goes_back(void **state) {
    (void)state;
    struct story s;
    begin(&s);
    grant(&s, 1, 10, s.one, 1, NOW);
    struct history_jobs copy = s.j;
    copy.jobs = malloc(s.j.capacity * sizeof(*copy.jobs));
    assert_non_null(copy.jobs);
    memcpy(copy.jobs, s.j.jobs, s.j.capacity * sizeof(*copy.jobs));
    copy.runs = NULL;
    copy.run_count = copy.run_capacity = 0;
    run(&s, 1, 10);
    report(&s, 1, 10, JOB_COMPLETE, ANSWER_APPLIED);
    history_jobs_go_back(&s.j, &copy);
    report(&s, 1, 10, JOB_COMPLETE, ANSWER_APPLIED); /* the same, delivered again */
    assert_false(s.h.violated);
    report(&s, 1, 10, JOB_COMPLETE, ANSWER_APPLIED);
    expect(&s, "job_completed_twice");
}

static void test_a_job_begins_that_the_store_has_forgotten(void **state) {
    (void)state;
    struct story s;
    begin(&s);
    struct history_jobs copy = {.h = &s.h};
    grant(&s, 1, 10, s.one, 1, NOW);
    history_jobs_go_back(&s.j, &copy);
    run(&s, 1, 10);
    assert_false(s.h.violated);
    run(&s, 1, 10);
    expect(&s, "job_ran_twice");
}

static void test_keys_share_by_weight(void **state) {
    (void)state;
    struct history h = {0};
    struct history_turns turns = {.weight = {1, 2}};
    const bool could[HISTORY_CLASSES] = {true, true};
    /* Two of the second for each of the first, and the one that is level with it. */
    history_turn(&h, &turns, (const int[HISTORY_CLASSES]){0, 3}, could);
    history_turn(&h, &turns, (const int[HISTORY_CLASSES]){1, 2}, could);
    assert_false(h.violated);
    history_turn(&h, &turns, (const int[HISTORY_CLASSES]){0, 1}, could);
    assert_true(h.violated);
    assert_string_equal(h.rule, "key_starves");
}

static void test_kinds_share_by_weight(void **state) {
    (void)state;
    struct history h = {0};
    struct history_share s = {.h = &h, .weight = {1, 3}, .bound_ms = 1000};
    history_share_added(&s, SIDE_MESSAGES, 9, 0);
    history_share_added(&s, SIDE_JOBS, 9, 0);
    history_share_began(&s, SIDE_JOBS, 0);
    history_share_ended(&s, SIDE_JOBS, 3000);
    assert_false(h.violated);
    history_share_began(&s, SIDE_JOBS, 3000);
    history_share_ended(&s, SIDE_JOBS, 3100);
    assert_true(h.violated);
    assert_string_equal(h.rule, "kind_starves");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_sound_history),
        cmocka_unit_test(test_a_lease_is_respected),
        cmocka_unit_test(test_an_old_token_counts_for_nothing),
        cmocka_unit_test(test_only_what_began_is_an_attempt),
        cmocka_unit_test(test_the_first_in_order_is_granted),
        cmocka_unit_test(test_a_limit_is_kept),
        cmocka_unit_test(test_a_unique_key_is_held_by_one),
        cmocka_unit_test(test_nothing_begins_after_its_end),
        cmocka_unit_test(test_nothing_gets_lost),
        cmocka_unit_test(test_nothing_starves),
        cmocka_unit_test(test_what_was_done_stays_done_when_the_store_goes_back),
        cmocka_unit_test(test_a_job_begins_that_the_store_has_forgotten),
        cmocka_unit_test(test_keys_share_by_weight),
        cmocka_unit_test(test_kinds_share_by_weight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
