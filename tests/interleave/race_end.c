/* "Renew, complete, fail and release lock the claim row first; expiry and eviction lock the lane and end its
 * claims." */
#include "interleave/calls.h"
#include "interleave/races.h"

/* Instance 1 holds messages 1 and 2 of two streams in one claim. */
static const char *two_held(struct scene *s) {
    join(s, 1);
    send_now(s, 1, "x");
    send_now(s, 2, "y");
    const char *grant = run(s, s->a, sql_claim(s, 1, 10));
    assert_string_equal(numbers(s, grant), "1 2");
    return grant;
}

static void expiry_leaves_a_completion_alone_and_then_sees_it_done(void **state) {
    struct scene *s = *state;
    const char *grant = two_held(s);
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, sql_complete(s, 1, grant, 1)), APPLIED);
    move_clock(s, LEASE_MS);
    assert_string_equal(run(s, s->b, sql_claim(s, 1, 10)), ""); /* nobody waits for it */
    run(s, s->a, "COMMIT");
    assert_string_equal(numbers(s, run(s, s->b, sql_claim(s, 1, 10))), "2"); /* only the unfinished one */
    assert_string_equal(where_is(s, 1), "gone");
    assert_string_equal(where_is(s, 2), "aside a0 d0 l2");
    assert_string_equal(run(s, s->a, sql_complete(s, 1, grant, 1)), DUPLICATE);
    refused(s, 1, grant, 2);
}

static void expiry_that_left_the_whole_claim_alone_finds_nothing_to_end(void **state) {
    struct scene *s = *state;
    const char *grant = two_held(s);
    run(s, s->a, "BEGIN");
    run(s, s->a, sql_complete(s, 1, grant, 1));
    run(s, s->a, sql_complete(s, 1, grant, 2));
    move_clock(s, LEASE_MS);
    assert_string_equal(run(s, s->b, sql_claim(s, 1, 10)), "");
    run(s, s->a, "COMMIT");
    assert_string_equal(run(s, s->b, sql_claim(s, 1, 10)), "");
    assert_string_equal(where_is(s, 1), "gone");
    assert_string_equal(where_is(s, 2), "gone");
    assert_string_equal(run(s, s->observer, "SELECT sum(done) FROM pawl_internal.tally"), "2");
    refused(s, 1, "1@1", 1);
}

static void a_completion_that_waited_for_expiry_is_stale(void **state) {
    struct scene *s = *state;
    const char *grant = two_held(s);
    move_clock(s, LEASE_MS);
    run(s, s->b, "BEGIN");
    const char *again = run(s, s->b, sql_claim(s, 1, 10));
    assert_string_equal(numbers(s, again), "1"); /* a suspect, alone */
    start(s, s->a, sql_complete(s, 1, grant, 1));
    blocked(s, s->a);
    run(s, s->b, "COMMIT");
    assert_string_equal(finish(s, s->a), STALE);
    assert_string_equal(where_is(s, 1), "aside a0 d0 l2");
    refused(s, 1, grant, 1);
    refused(s, 1, grant, 2);
    assert_string_equal(run(s, s->b, sql_complete(s, 1, again, 1)), APPLIED);
}

static void a_completion_that_waited_for_an_expiry_that_rolled_back_is_applied(void **state) {
    struct scene *s = *state;
    const char *grant = two_held(s);
    move_clock(s, LEASE_MS);
    run(s, s->b, "BEGIN");
    const char *lost = run(s, s->b, sql_claim(s, 1, 10));
    start(s, s->a, sql_complete(s, 1, grant, 1));
    blocked(s, s->a);
    run(s, s->b, "ROLLBACK");
    assert_string_equal(finish(s, s->a), APPLIED);
    assert_string_equal(where_is(s, 1), "gone");
    refused(s, 1, lost, 1);
}

static void eviction_waits_for_a_completion_and_takes_the_rest(void **state) {
    struct scene *s = *state;
    const char *grant = two_held(s);
    run(s, s->a, "BEGIN");
    run(s, s->a, sql_complete(s, 1, grant, 1));
    start(s, s->b, sql_evict(s, 1));
    blocked(s, s->b);
    run(s, s->a, "COMMIT");
    finish(s, s->b);
    assert_string_equal(where_is(s, 1), "gone");
    assert_string_equal(where_is(s, 2), "aside a0 d0 l2");
    assert_string_equal(lane_owner(s), "free");
    assert_string_equal(run(s, s->a, sql_complete(s, 1, grant, 1)), DUPLICATE);
    refused(s, 1, grant, 2);
}

static void an_eviction_beside_a_claim_waits_and_ends_it_too(void **state) {
    struct scene *s = *state;
    join(s, 1);
    send_now(s, 1, "x");
    run(s, s->a, "BEGIN");
    const char *grant = run(s, s->a, sql_claim(s, 1, 10));
    start(s, s->b, sql_evict(s, 1));
    blocked(s, s->b);
    run(s, s->a, "COMMIT");
    finish(s, s->b);
    assert_string_equal(where_is(s, 1), "aside a0 d0 l2");
    assert_string_equal(lane_owner(s), "free");
    refused(s, 1, grant, 1);
}

static void a_completion_that_waited_for_the_eviction_is_stale(void **state) {
    struct scene *s = *state;
    const char *grant = two_held(s);
    run(s, s->b, "BEGIN");
    run(s, s->b, sql_evict(s, 1));
    start(s, s->a, sql_complete(s, 1, grant, 1));
    blocked(s, s->a);
    run(s, s->b, "COMMIT");
    assert_string_equal(finish(s, s->a), STALE);
    assert_string_equal(where_is(s, 1), "aside a0 d0 l2");
    refused(s, 1, grant, 1);
    refused(s, 1, grant, 2);
}

static void a_ghost_of_the_evicted_is_answered_stale_after_the_work_went_on(void **state) {
    struct scene *s = *state;
    const char *grant = two_held(s);
    run(s, s->observer, sql_evict(s, 1));
    join(s, 2);
    const char *again = run(s, s->b, sql_claim(s, 2, 10));
    assert_string_equal(numbers(s, again), "1");
    refused(s, 1, grant, 1); /* before the new owner is done … */
    assert_string_equal(run(s, s->b, sql_complete(s, 2, again, 1)), APPLIED);
    refused(s, 1, grant, 1); /* … and after */
    refused(s, 1, grant, 2);
    assert_string_equal(run_error(s, s->a, sql_beat(s, 1)), "PW004");
    assert_string_equal(run_error(s, s->a, sql_claim(s, 1, 10)), "PW004");
}

static void expiry_leaves_a_renewal_alone(void **state) {
    struct scene *s = *state;
    const char *grant = two_held(s);
    run(s, s->a, "BEGIN");
    move_clock(s, LEASE_MS);
    assert_string_equal(run(s, s->a, sql_renew(s, 1, grant, 1)), APPLIED);
    assert_string_equal(run(s, s->b, sql_claim(s, 1, 10)), "");
    run(s, s->a, "COMMIT");
    /* The renewed one lives on in a part of its own; its sibling was taken back. */
    assert_string_equal(numbers(s, run(s, s->b, sql_claim(s, 1, 10))), "2");
    assert_string_equal(where_is(s, 1), "message");
    refused(s, 1, grant, 2);
    assert_string_equal(run(s, s->a, sql_complete(s, 1, grant, 1)), APPLIED);
}

static void a_renewal_that_waited_for_expiry_is_stale(void **state) {
    struct scene *s = *state;
    const char *grant = two_held(s);
    move_clock(s, LEASE_MS);
    run(s, s->b, "BEGIN");
    run(s, s->b, sql_claim(s, 1, 10));
    start(s, s->a, sql_renew(s, 1, grant, 1));
    blocked(s, s->a);
    run(s, s->b, "COMMIT");
    assert_string_equal(finish(s, s->a), STALE);
    refused(s, 1, grant, 1);
}

static void renewing_some_ids_splits_the_claim_so_a_hung_sibling_does_not_live_on(void **state) {
    struct scene *s = *state;
    const char *grant = two_held(s);
    move_clock(s, LEASE_MS - 1);
    assert_string_equal(run(s, s->a, sql_renew(s, 1, grant, 2)), APPLIED);
    move_clock(s, 1);
    assert_string_equal(numbers(s, run(s, s->b, sql_claim(s, 1, 10))), ""); /* it waits to run alone */
    refused(s, 1, grant, 1);
    assert_string_equal(run(s, s->a, sql_complete(s, 1, grant, 2)), APPLIED);
    const char *again = run(s, s->b, sql_claim(s, 1, 10));
    assert_string_equal(numbers(s, again), "1");
    assert_string_equal(run(s, s->b, sql_complete(s, 1, again, 1)), APPLIED);
}

static void two_reports_of_one_claim_wait_for_each_other_and_both_count(void **state) {
    struct scene *s = *state;
    const char *grant = two_held(s);
    run(s, s->a, "BEGIN");
    run(s, s->a, sql_complete(s, 1, grant, 1));
    start(s, s->b, sql_complete(s, 1, grant, 2));
    blocked(s, s->b);
    run(s, s->a, "COMMIT");
    assert_string_equal(finish(s, s->b), APPLIED);
    assert_string_equal(where_is(s, 1), "gone");
    assert_string_equal(where_is(s, 2), "gone");
    assert_string_equal(run(s, s->observer, "SELECT count(*) FROM pawl_internal.claim WHERE state = 1"), "0");
    refused(s, 1, "1@1", 1);
}

static void the_same_completion_twice_at_once_is_applied_once(void **state) {
    struct scene *s = *state;
    const char *grant = two_held(s);
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, sql_complete(s, 1, grant, 1)), APPLIED);
    start(s, s->b, sql_complete(s, 1, grant, 1));
    blocked(s, s->b);
    run(s, s->a, "COMMIT");
    assert_string_equal(finish(s, s->b), DUPLICATE);
    assert_string_equal(run(s, s->observer, "SELECT sum(done) FROM pawl_internal.tally"), "1");
    refused(s, 1, "1@1", 1);
}

/* pawl.finish has no answer that a caller could overlook: what is not held undoes the caller's transaction.
 */
static void what_is_not_held_cannot_be_finished_in_a_transaction(void **state) {
    struct scene *s = *state;
    join(s, 1);
    send_now(s, 1, "x");
    send_now(s, 2, "x");
    long long token = token_of(s, run(s, s->a, sql_claim(s, 1, 10)), 1);
    assert_string_equal(run_error(s, s->b, sql_finish(s, token, 2)), "PW003");     /* 1 comes first */
    assert_string_equal(run_error(s, s->b, sql_finish(s, token + 1, 1)), "PW004"); /* nobody's token */
    run(s, s->a, "BEGIN");
    run(s, s->a, sql_finish(s, token, 1));
    run(s, s->a, "ROLLBACK");
    run(s, s->a, sql_finish(s, token, 1));
    assert_string_equal(run_error(s, s->b, sql_finish(s, token, 1)), "PW004"); /* once */
    assert_string_equal(where_is(s, 1), "gone");
}

static void a_failure_sets_successors_aside_while_the_next_report_waits(void **state) {
    struct scene *s = *state;
    join(s, 1);
    for (int n = 1; n <= 3; n++)
        send_now(s, n, "x");
    const char *grant = run(s, s->a, sql_claim(s, 1, 10));
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, sql_fail(s, 1, grant, 1, false, 0)), APPLIED);
    start(s, s->b, sql_complete(s, 1, grant, 2));
    blocked(s, s->b);
    run(s, s->a, "COMMIT");
    assert_string_equal(finish(s, s->b), STALE); /* it was set aside behind the failure */
    refused(s, 1, grant, 2);
    refused(s, 1, grant, 3);
    assert_string_equal(where_is(s, 1), "aside a1 d0 l0");
    assert_string_equal(where_is(s, 2), "aside a0 d0 l0");
    const char *again = run(s, s->b, sql_claim(s, 1, 10));
    assert_string_equal(numbers(s, again), "1 2 3");
}

static void messages_put_while_a_stream_is_aside_join_behind(void **state) {
    struct scene *s = *state;
    join(s, 1);
    send_now(s, 1, "x");
    const char *grant = run(s, s->a, sql_claim(s, 1, 10));
    run(s, s->a, "BEGIN");
    run(s, s->a, sql_fail(s, 1, grant, 1, false, 0)); /* the hold is not yet visible */
    send_now(s, 2, "x");
    send_now(s, 3, "y");
    move_clock(s, 1000);
    /* Whatever this claim sees, it may not grant 2 before 1 is done. */
    start(s, s->b, sql_claim(s, 1, 10));
    run(s, s->a, "COMMIT");
    const char *seen = finish(s, s->b);
    refused(s, 1, text(s, "2@%lld", token_of(s, grant, 1)), 2);
    for (const char *got = seen; strstr(seen, "2@") == NULL; seen = text(s, "%s %s", seen, got)) {
        for (const char *at = got; *at != '\0'; at += strcspn(at, " "), at += *at == ' ')
            assert_string_equal(run(s, s->b, sql_complete(s, 1, got, atoi(at))), APPLIED);
        got = run(s, s->b, sql_claim(s, 1, 10));
        assert_true(strlen(got) > 0);
    }
    assert_non_null(strstr(seen, "1@"));
    assert_true(strstr(seen, "1@") < strstr(seen, "2@"));
}

/* A worker is a session here: it dies with what it holds. */
static void a_message_that_kills_its_worker_ends_as_a_dead_letter_and_its_mates_complete(void **state) {
    struct scene *s = *state;
    join(s, 1);
    for (int n = 1; n <= 4; n++)
        send_now(s, n, text(s, "stream-%d", n));
    const char *last = "";
    for (int round = 0; round < 40 && strncmp(where_is(s, 3), "dead", 4) != 0; round++) {
        const char *grant = run(s, s->a, sql_claim(s, 1, 10));
        if (strstr(text(s, " %s", grant), " 3@") != NULL) {
            last = grant;
            cut(s, &s->a);
            move_clock(s, LEASE_MS);
        } else {
            for (const char *at = grant; *at != '\0'; at += strcspn(at, " "), at += *at == ' ')
                assert_string_equal(run(s, s->a, sql_complete(s, 1, grant, atoi(at))), APPLIED);
            move_clock(s, 1000);
        }
    }
    assert_string_equal(where_is(s, 3), "dead a0 d5");
    for (int n = 1; n <= 4; n++) {
        if (n != 3)
            assert_string_equal(where_is(s, n), "gone");
    }
    assert_string_equal(run(s, s->observer, "SELECT sum(done) FROM pawl_internal.tally"), "3");
    refused(s, 1, last, 3);
}

static const struct CMUnitTest tests[] = {
    SCENE_TEST(expiry_leaves_a_completion_alone_and_then_sees_it_done),
    SCENE_TEST(expiry_that_left_the_whole_claim_alone_finds_nothing_to_end),
    SCENE_TEST(a_completion_that_waited_for_expiry_is_stale),
    SCENE_TEST(a_completion_that_waited_for_an_expiry_that_rolled_back_is_applied),
    SCENE_TEST(eviction_waits_for_a_completion_and_takes_the_rest),
    SCENE_TEST(an_eviction_beside_a_claim_waits_and_ends_it_too),
    SCENE_TEST(a_completion_that_waited_for_the_eviction_is_stale),
    SCENE_TEST(a_ghost_of_the_evicted_is_answered_stale_after_the_work_went_on),
    SCENE_TEST(expiry_leaves_a_renewal_alone),
    SCENE_TEST(a_renewal_that_waited_for_expiry_is_stale),
    SCENE_TEST(renewing_some_ids_splits_the_claim_so_a_hung_sibling_does_not_live_on),
    SCENE_TEST(two_reports_of_one_claim_wait_for_each_other_and_both_count),
    SCENE_TEST(the_same_completion_twice_at_once_is_applied_once),
    SCENE_TEST(what_is_not_held_cannot_be_finished_in_a_transaction),
    SCENE_TEST(a_failure_sets_successors_aside_while_the_next_report_waits),
    SCENE_TEST(messages_put_while_a_stream_is_aside_join_behind),
    SCENE_TEST(a_message_that_kills_its_worker_ends_as_a_dead_letter_and_its_mates_complete),
};

RACES(end, tests);
