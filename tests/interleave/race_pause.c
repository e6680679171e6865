/* "A resume misses nothing that is set aside, or given back, while it happens." */
#include "interleave/calls.h"
#include "interleave/races.h"

#define PAUSE(scope, name) "SELECT pawl_internal.pause_set(" #scope "::smallint, '" name "', NULL, 'anna')"
#define RESUME(scope, name) "SELECT pawl_internal.pause_clear(" #scope "::smallint, '" name "')"

static void expect_claim(struct scene *s, const char *wanted) {
    assert_string_equal(numbers(s, run(s, s->observer, sql_claim(s, 1, 10))), wanted);
}

static void a_resume_does_not_wait_for_a_claim_and_misses_nothing_of_it(void **state) {
    struct scene *s = *state;
    join(s, 1);
    run(s, s->observer, PAUSE(2, "x"));
    send_now(s, 1, "x");
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, sql_claim(s, 1, 10)), "");
    run(s, s->b, RESUME(2, "x"));
    expect_claim(s, "");
    run(s, s->a, "COMMIT");
    expect_claim(s, "1");
}

static void nor_does_a_heartbeat_miss_it(void **state) {
    struct scene *s = *state;
    join(s, 1);
    run(s, s->observer, PAUSE(2, "x"));
    send_now(s, 1, "x");
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, sql_claim(s, 1, 10)), "");
    run(s, s->b, RESUME(2, "x"));
    run(s, s->b, sql_beat(s, 1)); /* the claim is still at the lane */
    run(s, s->a, "COMMIT");
    assert_string_equal(run(s, s->observer, "SELECT count(*) FROM pawl_internal.resumed"), "1");
    run(s, s->b, sql_beat(s, 1));
    assert_string_equal(run(s, s->observer, "SELECT count(*) FROM pawl_internal.resumed"), "0");
    expect_claim(s, "1");
}

/* How many messages a claim gives. */
static const char *counted(struct scene *s, struct session *session, int max) {
    return run(s, session, text(s, "SELECT cardinality(string_to_array((%s), ' '))", sql_claim(s, 1, max)));
}

/* With eight lanes: a transaction that has locked one of them. */
static void a_resume_stops_no_lane_because_one_is_locked(void **state) {
    struct scene *s = *state;
    join(s, 1);
    run(s, s->observer, PAUSE(1, "T"));
    for (int n = 1; n <= 32; n++)
        send_now(s, n, text(s, "s%d", n));
    expect_claim(s, "");
    assert_string_equal(run(s, s->observer, "SELECT count(DISTINCT lane) FROM pawl_internal.aside"), "8");
    run(s, s->c, "BEGIN; SELECT 1 FROM pawl_internal.lane WHERE kind = 1 AND lane = 3 FOR UPDATE");
    run(s, s->b, RESUME(1, "T"));
    const char *others = run(s, s->observer, "SELECT count(*) FROM pawl_internal.aside WHERE lane <> 3");
    assert_string_equal(counted(s, s->a, 100), others);
    run(s, s->c, "COMMIT");
    assert_string_equal(counted(s, s->a, 100),
                        run(s, s->observer, "SELECT count(*) FROM pawl_internal.aside WHERE lane = 3"));
}

static void a_resume_does_not_wait_for_a_hold_and_does_not_miss_it(void **state) {
    struct scene *s = *state;
    join(s, 1);
    run(s, s->observer, PAUSE(1, "T"));
    send_now(s, 1, "x");
    send_now(s, 2, "y");
    expect_claim(s, "");
    run(s, s->c, "BEGIN; SELECT 1 FROM pawl_internal.hold WHERE key = 'x' FOR UPDATE");
    run(s, s->b, RESUME(1, "T"));
    expect_claim(s, "2");
    run(s, s->c, "COMMIT");
    move_clock(s, 1000); /* the lane has a claim: it is visited again when that takes long */
    expect_claim(s, "1");
}

static void a_claim_beside_a_resume_lets_nothing_wait(void **state) {
    struct scene *s = *state;
    join(s, 1);
    run(s, s->observer, PAUSE(2, "x"));
    send_now(s, 1, "x");
    run(s, s->b, "BEGIN");
    run(s, s->b, RESUME(2, "x"));
    assert_string_equal(run(s, s->a, sql_claim(s, 1, 10)), "");
    run(s, s->b, "COMMIT");
    expect_claim(s, "1");
}

static void a_pause_that_comes_back_lets_the_next_claim_pass_over_it(void **state) {
    struct scene *s = *state;
    join(s, 1);
    run(s, s->observer, PAUSE(1, "T"));
    send_now(s, 1, "x");
    run(s, s->b, "BEGIN");
    run(s, s->b, RESUME(1, "T"));
    run(s, s->b, "ROLLBACK");
    expect_claim(s, "");
    run(s, s->observer, RESUME(1, "T"));
    expect_claim(s, "1");
}

/* The worker has read of a pause; whether it is still there is asked when the message comes back. */
static const char *sql_give_back(struct scene *s, const char *grant) {
    const char *release = sql_release(s, 1, grant, 1);
    return text(s, "%.*s, ARRAY['T*'])", (int)strlen(release) - 1, release);
}

static void a_resume_waits_for_what_is_given_back_for_its_handler(void **state) {
    struct scene *s = *state;
    join(s, 1);
    send_now(s, 1, "x");
    run(s, s->observer, PAUSE(3, "T*"));
    const char *grant = run(s, s->a, sql_claim(s, 1, 10));
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, sql_give_back(s, grant)), APPLIED);
    start(s, s->b, RESUME(3, "T*"));
    blocked(s, s->b);
    run(s, s->a, "COMMIT");
    finish(s, s->b);
    expect_claim(s, "1");
}

static void what_is_given_back_beside_the_resume_of_its_handler_does_not_wait(void **state) {
    struct scene *s = *state;
    join(s, 1);
    send_now(s, 1, "x");
    run(s, s->observer, PAUSE(3, "T*"));
    const char *grant = run(s, s->a, sql_claim(s, 1, 10));
    run(s, s->b, "BEGIN");
    run(s, s->b, RESUME(3, "T*"));
    assert_string_equal(run(s, s->a, sql_give_back(s, grant)), APPLIED); /* it does not wait for it */
    run(s, s->b, "COMMIT");
    expect_claim(s, "1");
}

static void a_message_that_is_cancelled_while_it_is_given_back_does_not_wait(void **state) {
    struct scene *s = *state;
    join(s, 1);
    send_now(s, 1, "x");
    run(s, s->observer, PAUSE(3, "T*"));
    const char *grant = run(s, s->a, sql_claim(s, 1, 10));
    const char *cancel = text(s, "SELECT pawl_internal.pause_set(5::smallint, '%s', NULL, 'anna')",
                              run(s, s->observer, "SELECT id FROM pawl_internal.live_message"));
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, sql_give_back(s, grant)), APPLIED);
    start(s, s->b, cancel);
    blocked(s, s->b);
    run(s, s->a, "COMMIT");
    finish(s, s->b);
    expect_claim(s, "1");
}

static void a_cancelled_message_does_not_wait_behind_the_claim_that_passes_over_it(void **state) {
    struct scene *s = *state;
    join(s, 1);
    run(s, s->observer, PAUSE(2, "x"));
    send_now(s, 1, "x");
    const char *cancel = text(s, "SELECT pawl_internal.pause_set(5::smallint, '%s', NULL, 'anna')",
                              run(s, s->observer, "SELECT id FROM pawl_internal.live_message"));
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, sql_claim(s, 1, 10)), "");
    start(s, s->b, cancel);
    blocked(s, s->b);
    run(s, s->a, "COMMIT");
    finish(s, s->b);
    expect_claim(s, "1");
}

/* 9,000 messages commit late, most of them of a paused topic: more than one claim reads. Every tenth of the
 * first "open" * 10 is not paused, in a stream of its own. Nothing of it may be left behind the cursor. */
static void late_and_paused(struct scene *s, int open, int distance) {
    join(s, 1);
    run(s, s->a, "BEGIN");
    run(s, s->a,
        text(s,
             "SELECT count(pawl.send(CASE WHEN n %% 10 = 0 AND n <= %d THEN 'U' ELSE 'T' END, '{}', "
             "CASE WHEN n %% 10 = 0 AND n <= %d THEN 'u' || n ELSE 'x' END, "
             "id => ('01900000-0000-7000-8000-0100' || lpad(to_hex(n), 8, '0'))::uuid)) "
             "FROM generate_series(1, 9000) AS n",
             10 * open, 10 * open));
    run(s, s->observer,
        text(s, "SELECT nextval('pawl_internal.message_seq') FROM generate_series(1, %d)", distance));
    send_now(s, 10001, "y");
    const char *first = run(s, s->b, sql_claim(s, 1, 10));
    assert_string_equal(run(s, s->b, sql_complete(s, 1, first, 10001)), APPLIED); /* the cursor is here */
    run(s, s->observer, PAUSE(1, "T"));
    run(s, s->a, "COMMIT");
    const char *grant = run(s, s->b, sql_claim(s, 1, 500));
    assert_string_equal(numbers(s, grant), open > 0 ? "10 20 30" : "");
    for (int n = 10; n <= 10 * open; n += 10)
        assert_string_equal(run(s, s->b, sql_complete(s, 1, grant, n)), APPLIED);
    assert_string_equal(run(s, s->b, sql_claim(s, 1, 500)), "");
    assert_string_equal(run(s, s->observer, "SELECT count(*) FROM pawl_internal.live_message"), "0");
    run(s, s->observer, RESUME(1, "T"));
    assert_string_equal(counted(s, s->b, 5000), "5000");
    assert_string_equal(run(s, s->observer, "SELECT count(*) FROM pawl_internal.aside"),
                        text(s, "%d", 9000 - open));
}

static void more_late_commits_than_a_claim_passes_over_are_not_lost(void **state) {
    late_and_paused(*state, 0, 0);
}

static void nor_are_they_when_they_are_very_far_back(void **state) { late_and_paused(*state, 0, 25000); }

static void nor_are_they_when_some_are_granted(void **state) { late_and_paused(*state, 3, 0); }

static const struct CMUnitTest tests[] = {
    SCENE_TEST(a_resume_does_not_wait_for_a_claim_and_misses_nothing_of_it),
    SCENE_TEST(nor_does_a_heartbeat_miss_it),
    SCENE_TEST_LANES(a_resume_stops_no_lane_because_one_is_locked),
    SCENE_TEST(a_resume_does_not_wait_for_a_hold_and_does_not_miss_it),
    SCENE_TEST(a_claim_beside_a_resume_lets_nothing_wait),
    SCENE_TEST(a_pause_that_comes_back_lets_the_next_claim_pass_over_it),
    SCENE_TEST(a_resume_waits_for_what_is_given_back_for_its_handler),
    SCENE_TEST(what_is_given_back_beside_the_resume_of_its_handler_does_not_wait),
    SCENE_TEST(a_message_that_is_cancelled_while_it_is_given_back_does_not_wait),
    SCENE_TEST(a_cancelled_message_does_not_wait_behind_the_claim_that_passes_over_it),
    SCENE_TEST(more_late_commits_than_a_claim_passes_over_are_not_lost),
    SCENE_TEST(nor_are_they_when_they_are_very_far_back),
    SCENE_TEST(nor_are_they_when_some_are_granted),
};

RACES(pause, tests);
