/* Redrive against claim, report and another redrive. */
#include "interleave/calls.h"
#include "interleave/races.h"

enum { BLOCK = 1, SKIP = 2, PARK = 3 };

/* Messages 1 to 3 of one stream; 1 is dead under the policy. Gives the grant under which it died. */
static const char *one_dead(struct scene *s, int policy) {
    join(s, 1);
    for (int n = 1; n <= 3; n++)
        send_now(s, n, "x");
    const char *grant = run(s, s->a, sql_claim(s, 1, 10));
    assert_string_equal(run(s, s->a, sql_fail(s, 1, grant, 1, true, policy)), APPLIED);
    return grant;
}

static void a_claim_beside_a_redrive_sees_all_of_it_or_nothing(void **state) {
    struct scene *s = *state;
    const char *grant = one_dead(s, PARK);
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, sql_redrive(s, 1)), APPLIED);
    assert_string_equal(run(s, s->b, sql_claim(s, 1, 10)), ""); /* the lane is locked */
    run(s, s->a, "COMMIT");
    const char *again = run(s, s->b, sql_claim(s, 1, 10));
    assert_string_equal(numbers(s, again), "1 2 3");
    refused(s, 1, grant, 2);
    refused(s, 1, grant, 3);
}

static void a_redrive_that_rolls_back_leaves_the_stream_blocked(void **state) {
    struct scene *s = *state;
    const char *grant = one_dead(s, BLOCK);
    run(s, s->a, "BEGIN");
    run(s, s->a, sql_redrive(s, 1));
    run(s, s->a, "ROLLBACK");
    assert_string_equal(run(s, s->b, sql_claim(s, 1, 10)), "");
    assert_string_equal(where_is(s, 1), "dead a1 d0");
    refused(s, 1, grant, 2);
}

static void two_redrives_of_one_letter_bring_it_back_once(void **state) {
    struct scene *s = *state;
    const char *grant = one_dead(s, BLOCK);
    const char *redrive = text(s,
                               "SELECT pawl_internal.dead_redrive(ARRAY[1]::smallint[], ARRAY[%s]::bigint[])",
                               run(s, s->observer, "SELECT seq FROM pawl_internal.dead"));
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, redrive), APPLIED);
    start(s, s->b, redrive);
    blocked(s, s->b);
    run(s, s->a, "COMMIT");
    assert_string_equal(finish(s, s->b), "{6}"); /* not found: it is no dead letter any more */
    const char *again = run(s, s->b, sql_claim(s, 1, 10));
    assert_string_equal(numbers(s, again), "1 2 3");
    refused(s, 1, grant, 2);
}

static void a_redrive_waits_for_the_claim_that_holds_the_lane(void **state) {
    struct scene *s = *state;
    const char *grant = one_dead(s, SKIP);
    run(s, s->a, sql_complete(s, 1, grant, 2));
    run(s, s->a, sql_complete(s, 1, grant, 3));
    send_now(s, 4, "x");
    run(s, s->a, "BEGIN");
    const char *four = run(s, s->a, sql_claim(s, 1, 10));
    assert_string_equal(numbers(s, four), "4");
    start(s, s->b, sql_redrive(s, 1));
    blocked(s, s->b);
    run(s, s->a, "COMMIT");
    assert_string_equal(finish(s, s->b), APPLIED);
    move_clock(s, 1000);
    /* The stream is in flight: the redriven one runs next, not beside it. */
    assert_string_equal(run(s, s->b, sql_claim(s, 1, 10)), "");
    assert_string_equal(run(s, s->a, sql_complete(s, 1, four, 4)), APPLIED);
    assert_string_equal(numbers(s, run(s, s->b, sql_claim(s, 1, 10))), "1");
    refused(s, 1, "1@1", 1);
}

static void messages_put_while_a_stream_is_parked_come_back_with_it_in_order(void **state) {
    struct scene *s = *state;
    const char *grant = one_dead(s, PARK);
    run(s, s->a, "BEGIN");
    run(s, s->a, sql_send(s, 4, "x")); /* drawn before the redrive, committed after it */
    assert_string_equal(run(s, s->b, sql_redrive(s, 1)), APPLIED);
    run(s, s->a, "COMMIT");
    const char *seen = "";
    for (int i = 0; i < 3; i++) {
        const char *got = run(s, s->b, sql_claim(s, 1, 10));
        for (const char *at = got; *at != '\0'; at += strcspn(at, " "), at += *at == ' ')
            assert_string_equal(run(s, s->b, sql_complete(s, 1, got, atoi(at))), APPLIED);
        seen = text(s, "%s%s%s", seen, *seen != '\0' && *got != '\0' ? " " : "", numbers(s, got));
    }
    assert_string_equal(seen, "1 2 3 4");
    refused(s, 1, grant, 2);
}

static const struct CMUnitTest tests[] = {
    SCENE_TEST(a_claim_beside_a_redrive_sees_all_of_it_or_nothing),
    SCENE_TEST(a_redrive_that_rolls_back_leaves_the_stream_blocked),
    SCENE_TEST(two_redrives_of_one_letter_bring_it_back_once),
    SCENE_TEST(a_redrive_waits_for_the_claim_that_holds_the_lane),
    SCENE_TEST(messages_put_while_a_stream_is_parked_come_back_with_it_in_order),
};

RACES(dead, tests);
