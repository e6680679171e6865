/* Jobs: two claims, completion against expiry and cancel, fires, limits, unique keys, signals. */
#include "interleave/calls.h"
#include "interleave/races.h"

#define WORKER(n) "'01900000-0000-7000-8000-00000000000" #n "'"
#define CLAIM(n, max)                                                                                        \
    "SELECT id FROM pawl_internal.jobs_claim(" WORKER(n) ", 'default', " #max ", 60000, NULL)"
#define DONE(n, id, token)                                                                                   \
    "SELECT (pawl_internal.jobs_report(" WORKER(n) ", ARRAY[" token "]::bigint[], ARRAY[" #id                \
                                                   "]::bigint[], NULL, NULL, NULL, NULL, "                   \
                                                   "NULL, NULL, NULL, NULL, NULL, NULL, NULL)).answers"
#define TOKEN_OF(id) "(SELECT max(token) FROM pawl_internal.job_claim WHERE " #id " = ANY (ids || done_ids))"

static void workers(struct scene *s) {
    run(s, s->observer,
        "SELECT count(*) FROM pawl_internal.instance_register(" WORKER(
            1) ", 's', 'h', 1, NULL, 16, 86400000, 0, 0)");
    run(s, s->observer,
        "SELECT count(*) FROM pawl_internal.instance_register(" WORKER(
            2) ", 's', 'h', 2, NULL, 16, 86400000, 0, 0)");
}

static void enqueue(struct scene *s, const char *rest) {
    run(s, s->observer, text(s, "SELECT pawl.enqueue('x'%s)", rest));
}

/* covers: J52 B4.15 */
static void two_claims_share_the_work_without_waiting(void **state) {
    struct scene *s = *state;
    workers(s);
    for (int i = 0; i < 4; i++)
        enqueue(s, "");
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, CLAIM(1, 2)), "1 2");
    assert_string_equal(run(s, s->b, CLAIM(2, 9)), "3 4");
    run(s, s->a, "ROLLBACK");
    assert_string_equal(run(s, s->b, CLAIM(2, 9)), "1 2");
}

/* covers: B4.5 B4.14 */
static void a_completion_beside_the_sweep_wins_or_is_stale(void **state) {
    struct scene *s = *state;
    workers(s);
    enqueue(s, "");
    run(s, s->a, CLAIM(1, 1));
    move_clock(s, 61000);
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, DONE(1, 1, TOKEN_OF(1))), "{1}");
    assert_string_equal(run(s, s->b, CLAIM(2, 1)), ""); /* the claim is locked: nothing is taken from it */
    run(s, s->a, "COMMIT");
    enqueue(s, "");
    run(s, s->a, CLAIM(1, 1));
    const char *token = run(s, s->observer, "SELECT " TOKEN_OF(2));
    move_clock(s, 61000);
    run(s, s->b, "BEGIN");
    assert_string_equal(run(s, s->b, CLAIM(2, 1)), "2");
    start(s, s->a,
          text(s,
               "SELECT (pawl_internal.jobs_report(" WORKER(
                   1) ", ARRAY[%s]::bigint[], ARRAY[2]::bigint[], NULL, NULL, NULL, "
                      "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)).answers",
               token));
    blocked(s, s->a);
    run(s, s->b, "COMMIT");
    assert_string_equal(finish(s, s->a), "{3}");
}

#define SETTLE(n)                                                                                            \
    "SELECT released FROM pawl_internal.grants_settle(" WORKER(n) ", 2::smallint, NULL, NULL, " TOKEN_OF(    \
        1) ", 0)"

/* Jobs that got lost on their way are given back beside a beat, which waits for no open transaction. */
static void to_settle_does_not_wait_for_a_job_that_an_idle_transaction_has_locked(void **state) {
    struct scene *s = *state;
    workers(s);
    enqueue(s, "");
    run(s, s->a, CLAIM(1, 1));
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, DONE(1, 1, TOKEN_OF(1))), "{1}");
    assert_string_equal(run(s, s->b, SETTLE(1)), "0");
    run(s, s->a, "ROLLBACK");
    assert_string_equal(run(s, s->b, SETTLE(1)), "1");
    assert_string_equal(run(s, s->b, CLAIM(2, 1)), "1");
}

static void a_cancel_beside_a_completion_leaves_one_end(void **state) {
    struct scene *s = *state;
    workers(s);
    enqueue(s, "");
    run(s, s->a, CLAIM(1, 1));
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, DONE(1, 1, TOKEN_OF(1))), "{1}");
    start(s, s->b, "SELECT pawl_internal.jobs_cancel(ARRAY[1]::bigint[])");
    blocked(s, s->b);
    run(s, s->a, "COMMIT");
    assert_string_equal(finish(s, s->b), "{6}");
    assert_string_equal(run(s, s->observer, "SELECT outcome FROM pawl_internal.task_run"), "1");
}

/* covers: B4.3 */
static void one_instant_fires_once_whoever_comes(void **state) {
    struct scene *s = *state;
    static const char fire[] = "SELECT (pawl_internal.schedule_fire('s', 1, 0, ARRAY[1000]::bigint[], "
                               "ARRAY[1000]::bigint[], 1000, 2000)).answers";
    run(s, s->observer,
        "SELECT answer FROM pawl_internal.task_put('t', NULL, 'x', NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0, "
        "0, 0)");
    run(s, s->observer,
        "SELECT answer FROM pawl_internal.schedule_put('s', 't', 4::smallint, '* * * * *', NULL, NULL, "
        "1::smallint, "
        "0, 1::smallint, "
        "0, 0, 0, false, 1000, 0)");
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, fire), "{1}");
    start(s, s->b, fire);
    blocked(s, s->b);
    run(s, s->a, "COMMIT");
    assert_string_equal(finish(s, s->b), "{2}");
    assert_string_equal(run(s, s->observer, "SELECT count(*) FROM pawl_internal.job"), "1");
    run(s, s->observer,
        "UPDATE pawl_internal.schedule SET last_ms = 0, next_ms = 1000"); /* even then the row says no */
    assert_string_equal(run(s, s->b, fire), "{2}");
}

static void a_limit_holds_between_two_claims(void **state) {
    struct scene *s = *state;
    workers(s);
    run(s, s->observer, "SELECT pawl_internal.job_limit_set('k', 1, 0, 0, 1)");
    for (int i = 0; i < 3; i++)
        enqueue(s, ", key => 'k'");
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, CLAIM(1, 9)), "1");
    start(s, s->b, CLAIM(2, 9));
    blocked(s, s->b);
    run(s, s->a, "COMMIT");
    assert_string_equal(finish(s, s->b), "");
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, DONE(1, 1, TOKEN_OF(1))), "{1}");
    start(s, s->b, CLAIM(2, 9));
    blocked(s, s->b); /* and a place that becomes free is not missed */
    run(s, s->a, "COMMIT");
    assert_string_equal(finish(s, s->b), "2");
}

static void a_unique_key_waits_for_the_one_who_has_it(void **state) {
    struct scene *s = *state;
    static const char same[] = "SELECT pawl.enqueue('x', unique_key => 'u')";
    run(s, s->a, "BEGIN");
    run(s, s->a, same);
    start(s, s->b, same);
    blocked(s, s->b);
    run(s, s->a, "ROLLBACK");
    assert_string_not_equal(finish(s, s->b), "");
    assert_string_equal(run(s, s->observer, "SELECT count(*) FROM pawl_internal.job"),
                        "1"); /* not lost with the other */
}

static void a_signal_is_not_lost_between_waiting_and_waking(void **state) {
    struct scene *s = *state;
    workers(s);
    enqueue(s, "");
    run(s, s->a, CLAIM(1, 1));
    run(s, s->a, "BEGIN");
    run(s, s->a,
        "SELECT (pawl_internal.jobs_report(" WORKER(1) ", ARRAY[" TOKEN_OF(
            1) "]::bigint[], ARRAY[1]::bigint[], ARRAY[5]::smallint[], NULL, "
               "ARRAY[-1]::bigint[], NULL, NULL, NULL, NULL, NULL, NULL, ARRAY['w'], "
               "ARRAY['step'])).answers");
    start(s, s->b, "SELECT woken FROM pawl_internal.jobs_wake('w', '1', 0)");
    blocked(s, s->b);
    run(s, s->a, "COMMIT");
    assert_string_equal(finish(s, s->b), "1");
    assert_string_equal(run(s, s->a, CLAIM(1, 1)), "1");
}

/* covers: B4.4 */
static void an_effect_and_its_completion_are_one(void **state) {
    struct scene *s = *state;
    workers(s);
    enqueue(s, "");
    run(s, s->a, CLAIM(1, 1));
    const char *complete = text(s, "SELECT pawl_internal.job_complete(" WORKER(1) ", %s, 1)",
                                run(s, s->observer, "SELECT " TOKEN_OF(1)));
    move_clock(s, 61000);
    assert_string_equal(run(s, s->b, CLAIM(2, 1)), "1");
    assert_string_equal(run_error(s, s->a, complete), "PW004"); /* whatever was written with it is undone */
}

static const struct CMUnitTest tests[] = {
    SCENE_TEST(two_claims_share_the_work_without_waiting),
    SCENE_TEST(a_completion_beside_the_sweep_wins_or_is_stale),
    SCENE_TEST(to_settle_does_not_wait_for_a_job_that_an_idle_transaction_has_locked),
    SCENE_TEST(a_cancel_beside_a_completion_leaves_one_end),
    SCENE_TEST(one_instant_fires_once_whoever_comes),
    SCENE_TEST(a_limit_holds_between_two_claims),
    SCENE_TEST(a_unique_key_waits_for_the_one_who_has_it),
    SCENE_TEST(a_signal_is_not_lost_between_waiting_and_waking),
    SCENE_TEST(an_effect_and_its_completion_are_one),
};

RACES(jobs, tests);
