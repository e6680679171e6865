/* "A claim locks its lane rows in one statement and reads messages in the next." */
#include "interleave/calls.h"
#include "interleave/races.h"

static void a_second_claim_in_parallel_gets_nothing_of_the_lane_and_no_redelivery(void **state) {
    struct scene *s = *state;
    join(s, 1);
    send_now(s, 1, "x");
    send_now(s, 2, "y");
    run(s, s->a, "BEGIN");
    const char *first = run(s, s->a, sql_claim(s, 1, 1));
    assert_string_equal(numbers(s, first), "1");
    /* The lane is locked: the second does not wait for it, and does not see around it. */
    assert_string_equal(run(s, s->b, sql_claim(s, 1, 10)), "");
    run(s, s->a, "COMMIT");
    assert_string_equal(run(s, s->b, sql_claim(s, 1, 10)), ""); /* busy for a second */
    move_clock(s, 1000);
    const char *second = run(s, s->b, sql_claim(s, 1, 10));
    assert_string_equal(numbers(s, second), "2"); /* 1 is not delivered again */
    assert_true(token_of(s, second, 2) > token_of(s, first, 1));
    /* A token of nobody, and the token of the other claim: refused. */
    refused(s, 1, "1@1", 1);
    refused(s, 1, text(s, "1@%lld", token_of(s, second, 2)), 1);
    assert_string_equal(run(s, s->a, sql_complete(s, 1, first, 1)), APPLIED);
    assert_string_equal(run(s, s->a, sql_complete(s, 1, second, 2)), APPLIED);
}

static void a_read_whose_snapshot_is_older_than_the_lock_does_not_redeliver(void **state) {
    struct scene *s = *state;
    join(s, 1);
    send_now(s, 1, "x");
    run(s, s->b, "BEGIN ISOLATION LEVEL REPEATABLE READ");
    run(s, s->b, "SELECT count(*) FROM pawl_internal.message"); /* the snapshot is taken here */
    const char *first = run(s, s->a, sql_claim(s, 1, 10));
    assert_string_equal(numbers(s, first), "1");
    /* The old snapshot does not see the newest claim; granting 1 again would be the fault. */
    assert_string_equal(run_error(s, s->b, sql_claim(s, 1, 10)), "PW001");
    run(s, s->b, "ROLLBACK");
    refused(s, 1, "1@1", 1);
    assert_string_equal(run(s, s->a, sql_complete(s, 1, first, 1)), APPLIED);
}

static void a_claim_that_rolls_back_leaves_everything_to_the_next(void **state) {
    struct scene *s = *state;
    join(s, 1);
    send_now(s, 1, "x");
    run(s, s->a, "BEGIN");
    const char *lost = run(s, s->a, sql_claim(s, 1, 10));
    run(s, s->a, "ROLLBACK");
    const char *grant = run(s, s->b, sql_claim(s, 1, 10));
    assert_string_equal(numbers(s, grant), "1");
    assert_true(token_of(s, grant, 1) > token_of(s, lost, 1)); /* its token is never drawn again */
    refused(s, 1, lost, 1);
    assert_string_equal(run(s, s->b, sql_complete(s, 1, grant, 1)), APPLIED);
}

static void a_killed_session_leaves_everything_to_the_next(void **state) {
    struct scene *s = *state;
    join(s, 1);
    send_now(s, 1, "x");
    run(s, s->a, "BEGIN");
    const char *lost = run(s, s->a, sql_claim(s, 1, 10));
    cut(s, &s->a);
    const char *grant = run(s, s->b, sql_claim(s, 1, 10));
    assert_string_equal(numbers(s, grant), "1");
    refused(s, 1, lost, 1);
}

static void claims_of_two_owners_do_not_wait_for_each_other(void **state) {
    struct scene *s = *state;
    join(s, 1);
    join(s, 2);
    run(s, s->observer, sql_beat(s, 1));
    run(s, s->observer, sql_beat(s, 2));
    for (int n = 1; n <= 40; n++)
        send_now(s, n, text(s, "stream-%d", n));
    run(s, s->a, "BEGIN");
    run(s, s->b, "BEGIN");
    const char *first = run(s, s->a, sql_claim(s, 1, 100));
    const char *second = run(s, s->b, sql_claim(s, 2, 100));
    run(s, s->a, "COMMIT");
    run(s, s->b, "COMMIT");
    assert_string_equal(run(s, s->observer, "SELECT sum(items) FROM pawl_internal.claim WHERE state = 1"),
                        "40");
    for (int n = 1; n <= 40; n++) {
        bool in_first = strstr(text(s, " %s", first), text(s, " %d@", n)) != NULL;
        bool in_second = strstr(text(s, " %s", second), text(s, " %d@", n)) != NULL;
        assert_true(in_first != in_second); /* exactly one of them has it */
    }
    refused(s, 2, first, atoi(first)); /* the right token, the wrong instance */
}

static void a_claim_that_was_admitted_before_its_instance_was_evicted_gets_nothing(void **state) {
    struct scene *s = *state;
    join(s, 1);
    send_now(s, 1, "x");
    /* The key makes the claim stop between the check of the instance and the lock of the lane. */
    run(s, s->a, "BEGIN");
    run(s, s->a, sql_send_request(s, 9, "z", 5));
    start(s, s->b, sql_claim_request(s, 1, 10, 5));
    blocked(s, s->b);
    run(s, s->observer, sql_evict(s, 1));
    run(s, s->a, "ROLLBACK");
    if (s->by_lane) /* finds the lane taken away, and looks again */
        assert_string_equal(finish_error(s, s->b), "PW004");
    else
        assert_string_equal(finish(s, s->b), "");
    assert_string_equal(where_is(s, 1), "message");
    refused(s, 1, "1@1", 1);
    assert_string_equal(run_error(s, s->b, sql_claim(s, 1, 10)), "PW004");
}

/* covers: B3.8 W21 */
static void a_cancelled_claim_has_not_happened(void **state) {
    struct scene *s = *state;
    join(s, 1);
    send_now(s, 1, "x");
    run(s, s->a, "BEGIN");
    run(s, s->a, sql_send_request(s, 9, "z", 5));
    start(s, s->b, sql_claim_request(s, 1, 10, 5));
    blocked(s, s->b);
    cancel(s, s->b);
    assert_string_equal(finish_error(s, s->b), "57014");
    run(s, s->a, "ROLLBACK");
    assert_string_equal(run(s, s->observer, "SELECT count(*) FROM pawl_internal.claim WHERE items > 0"), "0");
    assert_string_equal(run(s, s->observer, "SELECT count(*) FROM pawl_internal.request"), "0");
    const char *grant = run(s, s->b, sql_claim_request(s, 1, 10, 5));
    assert_string_equal(numbers(s, grant), "1");
    refused(s, 1, "1@1", 1);
}

static const struct CMUnitTest tests[] = {
    SCENE_TEST(a_second_claim_in_parallel_gets_nothing_of_the_lane_and_no_redelivery),
    SCENE_TEST(a_read_whose_snapshot_is_older_than_the_lock_does_not_redeliver),
    SCENE_TEST(a_claim_that_rolls_back_leaves_everything_to_the_next),
    SCENE_TEST(a_killed_session_leaves_everything_to_the_next),
    SCENE_TEST_LANES(claims_of_two_owners_do_not_wait_for_each_other),
    SCENE_TEST(a_claim_that_was_admitted_before_its_instance_was_evicted_gets_nothing),
    SCENE_TEST(a_cancelled_claim_has_not_happened),
};

RACES(claim, tests);
