/* Hand-over and membership: a lane moves only after its last claim ended, and to one owner. */
#include "interleave/calls.h"
#include "interleave/races.h"

static const char *count(struct scene *s, const char *what) {
    return run(s, s->observer,
               text(s, "SELECT count(*) FROM pawl_internal.lane WHERE kind = 1 AND %s", what));
}

static void a_draining_lane_moves_only_after_its_last_claim_ended(void **state) {
    struct scene *s = *state;
    join(s, 1);
    for (int n = 1; n <= 60; n++)
        send_now(s, n, text(s, "stream-%d", n));
    const char *grant = run(s, s->a, sql_claim(s, 1, 100)); /* every lane is busy */
    join(s, 2);
    assert_string_equal(run(s, s->observer, sql_beat(s, 1)), "0/4/0");
    assert_string_equal(count(s, "draining"), "4");
    run(s, s->a, "BEGIN");
    for (const char *at = grant; *at != '\0'; at += strcspn(at, " "), at += *at == ' ')
        assert_string_equal(run(s, s->a, sql_complete(s, 1, grant, atoi(at))), APPLIED);
    /* The completions are not committed: for everybody else the claims are still there. */
    run(s, s->observer, sql_beat(s, 1));
    assert_string_equal(run(s, s->observer, sql_beat(s, 2)), "0/0/0");
    assert_string_equal(count(s, "draining"), "4");
    run(s, s->a, "COMMIT");
    assert_string_equal(run(s, s->observer, sql_beat(s, 1)), "0/4/0");
    assert_string_equal(run(s, s->observer, sql_beat(s, 2)), "4/0/0");
    assert_string_equal(count(s, "owner IS NULL"), "0");
    refused(s, 2, grant, atoi(grant));
}

static void a_lane_is_not_given_away_under_a_claim_that_is_being_made(void **state) {
    struct scene *s = *state;
    join(s, 1);
    for (int n = 1; n <= 60; n++)
        send_now(s, n, text(s, "stream-%d", n));
    join(s, 2);
    run(s, s->a, "BEGIN");
    const char *grant = run(s, s->a, sql_claim(s, 1, 100));     /* locks every lane of the owner */
    assert_string_equal(run(s, s->b, sql_beat(s, 1)), "0/0/0"); /* a beat does not wait for it */
    run(s, s->a, "COMMIT");
    assert_string_equal(run(s, s->b, sql_beat(s, 1)), "0/4/0");
    assert_string_equal(count(s, "draining"), "4"); /* busy by now: they drain, they are not free */
    assert_string_equal(count(s, "owner IS NULL"), "0");
    assert_string_equal(run(s, s->a, sql_complete(s, 1, grant, atoi(grant))), APPLIED);
    refused(s, 2, grant, atoi(grant));
}

static void a_claim_beside_a_hand_over_grants_nothing_of_the_lanes_that_go(void **state) {
    struct scene *s = *state;
    join(s, 1);
    for (int n = 1; n <= 60; n++)
        send_now(s, n, text(s, "stream-%d", n));
    join(s, 2);
    run(s, s->b, "BEGIN");
    assert_string_equal(run(s, s->b, sql_beat(s, 1)), "0/4/0");
    assert_string_equal(run(s, s->a, sql_claim(s, 1, 100)), ""); /* all its lanes are locked: skipped */
    run(s, s->b, "COMMIT");
    const char *kept = run(s, s->a, sql_claim(s, 1, 100));
    run(s, s->observer, sql_beat(s, 2));
    const char *taken = run(s, s->c, sql_claim(s, 2, 100));
    assert_true(strlen(kept) > 0 && strlen(taken) > 0);
    assert_string_equal(run(s, s->observer, "SELECT sum(items) FROM pawl_internal.claim WHERE state = 1"),
                        "60");
    refused(s, 1, taken, atoi(taken));
    refused(s, 2, kept, atoi(kept));
}

static void two_newcomers_at_once_never_take_the_same_lane(void **state) {
    struct scene *s = *state;
    join(s, 1);
    join(s, 2);
    join(s, 3);
    assert_string_equal(run(s, s->observer, sql_beat(s, 1)), "0/4/0"); /* at most half at once */
    assert_string_equal(run(s, s->observer, sql_beat(s, 1)), "0/1/0");
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, sql_beat(s, 2)), "3/0/0"); /* one of the two gets the odd lane */
    assert_string_equal(run(s, s->b, sql_beat(s, 3)), "2/0/0"); /* a beat does not wait for another */
    run(s, s->a, "COMMIT");
    assert_string_equal(run(s, s->b, sql_beat(s, 2)), "0/0/0"); /* even, and it stays so */
    assert_string_equal(run(s, s->b, sql_beat(s, 3)), "0/0/0");
    assert_string_equal(count(s, "owner IS NULL"), "0");
    refused(s, 2, "1@1", 1);
}

static void a_lane_that_was_freed_and_taken_has_a_new_token(void **state) {
    struct scene *s = *state;
    join(s, 1);
    send_now(s, 1, "x");
    const char *old = run(s, s->a, sql_claim(s, 1, 10));
    run(s, s->observer, sql_evict(s, 1));
    join(s, 2);
    const char *fresh = run(s, s->b, sql_claim(s, 2, 10));
    assert_string_equal(numbers(s, fresh), "1");
    assert_true(token_of(s, fresh, 1) > token_of(s, old, 1));
    assert_string_equal(lane_owner(s), "2");
    refused(s, 1, old, 1);
    refused(s, 2, old, 1);
    assert_string_equal(run(s, s->b, sql_complete(s, 2, fresh, 1)), APPLIED);
}

static void an_instance_that_beats_right_now_is_not_evicted(void **state) {
    struct scene *s = *state;
    join(s, 1);
    join(s, 2);
    run(s, s->observer,
        "UPDATE pawl_internal.instance SET lease_ms = 15000, lease_until_ms = beat_ms + 15000 "
        "WHERE id = '01900000-0000-7000-8000-aa0000000001'");
    send_now(s, 1, "x");
    const char *grant = run(s, s->a, sql_claim(s, 1, 10));
    move_clock(s, 15000);
    run(s, s->a, "BEGIN");
    run(s, s->a, sql_beat(s, 1)); /* revives; not committed yet */
    assert_string_equal(run(s, s->b, sql_beat(s, 2)), "0/0/0");
    run(s, s->a, "COMMIT");
    assert_string_equal(lane_owner(s), "1");
    assert_string_equal(run(s, s->a, sql_complete(s, 1, grant, 1)), APPLIED);
    refused(s, 1, "1@1", 1);
}

static void a_beat_that_waited_for_its_own_eviction_is_told(void **state) {
    struct scene *s = *state;
    join(s, 1);
    send_now(s, 1, "x");
    const char *grant = run(s, s->a, sql_claim(s, 1, 10));
    run(s, s->b, "BEGIN");
    run(s, s->b, sql_evict(s, 1));
    start(s, s->a, sql_beat(s, 1));
    blocked(s, s->a);
    run(s, s->b, "COMMIT");
    assert_string_equal(finish_error(s, s->a), "PW004");
    refused(s, 1, grant, 1);
}

/* A client that stops in the middle of a transaction keeps what it has locked, and nothing else. */
static void a_beat_does_not_wait_for_a_silent_peer_that_is_idle_in_a_transaction(void **state) {
    struct scene *s = *state;
    join_lease(s, 1, 1000);
    for (int n = 1; n <= 60; n++)
        send_now(s, n, text(s, "stream-%d", n));
    const char *grant = run(s, s->a, sql_claim(s, 1, 100)); /* on every lane */
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, sql_complete(s, 1, grant, 1)), APPLIED); /* it holds one claim */
    join(s, 2);
    move_clock(s, 2000);
    assert_string_equal(run(s, s->b, sql_beat(s, 2)), "8/0/1");
    assert_string_equal(run(s, s->observer, "SELECT count(*) FROM pawl_internal.claim WHERE state = 1"),
                        "1"); /* the one that is held */
    assert_true(strlen(run(s, s->b, sql_claim(s, 2, 100))) > 0);
    run(s, s->a, "COMMIT");
    assert_string_equal(run(s, s->b, sql_beat(s, 2)), "0/0/0"); /* now nothing is left of it */
    assert_string_equal(run(s, s->observer, "SELECT sum(done) FROM pawl_internal.tally"), "1");
    refused(s, 1, grant, 2);
}

static void a_beat_does_not_wait_for_lanes_that_an_idle_transaction_has_locked(void **state) {
    struct scene *s = *state;
    join_lease(s, 1, 1000);
    for (int n = 1; n <= 60; n++)
        send_now(s, n, text(s, "stream-%d", n));
    run(s, s->a, "BEGIN");
    run(s, s->a, sql_claim(s, 1, 1)); /* one lane */
    join(s, 2);
    move_clock(s, 2000);
    assert_string_equal(run(s, s->b, sql_beat(s, 2)), "7/0/1");
    assert_true(strlen(run(s, s->b, sql_claim(s, 2, 100))) > 0);
    run(s, s->a, "COMMIT");
    assert_string_equal(run(s, s->b, sql_beat(s, 2)), "1/0/0");
    refused(s, 1, "1@1", 1);
}

/* Evicted, and when an absent peer is believed to be dead. */
static const char *look(struct scene *s, int n) {
    return run(s, s->observer,
               text(s,
                    "SELECT evicted || '/' || believe_ms FROM "
                    "pawl_internal.peers_look('01900000-0000-7000-8000-aa00%08x')",
                    (unsigned)n));
}

/* Its sessions, and with them the locks, are of another server: as after a server start, nobody has had time
 * to take its lock again. The promotion is seen before anybody has raised the epoch. */
static void absent_locks_say_nothing_for_one_lease_after_a_promotion(void **state) {
    struct scene *s = *state;
    join(s, 2);
    join_lease(s, 1, 15000);
    run(s, s->b, "SELECT pawl_internal.liveness_hold('01900000-0000-7000-8000-aa0000000002')");
    assert_string_equal(look(s, 1), "0/-1");
    run(s, s->observer, "UPDATE pawl_internal.settings SET timeline = '00000000'");
    cut(s, &s->b);
    assert_string_equal(look(s, 1), "0/-1");
    move_clock(s, 5000);
    assert_string_equal(look(s, 1), "0/-1");
    run(s, s->observer, "SELECT pawl_internal.epoch_follow(0)");
    move_clock(s, 9000);
    run(s, s->observer, sql_beat(s, 1));
    move_clock(s, 5999);
    assert_string_equal(look(s, 1), "0/-1");
    move_clock(s, 1); /* a lease after the epoch was raised */
    assert_string_equal(look(s, 1), "0/300");
    move_clock(s, 300);
    assert_string_equal(look(s, 1), "1/-1");
}

static const char *locked(struct scene *s, int n) {
    return run(s, s->observer,
               text(s,
                    "SELECT concat_ws(' ', locked, locked_pid) FROM "
                    "pawl_internal.why('01900000-0000-7000-8000-0100%08x')",
                    (unsigned)n));
}

static void why_names_who_has_locked_what_a_message_waits_for(void **state) {
    struct scene *s = *state;
    join(s, 1);
    send_now(s, 1, "x");
    send_now(s, 2, "x");
    const char *pid = run(s, s->a, "SELECT pg_backend_pid()");
    run(s, s->a, "BEGIN");
    const char *grant = run(s, s->a, sql_claim(s, 1, 1));
    assert_string_equal(locked(s, 1), text(s, "lane %s", pid));
    assert_string_equal(locked(s, 2), text(s, "lane %s", pid));
    run(s, s->a, "COMMIT");
    assert_string_equal(locked(s, 1), "");
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, sql_complete(s, 1, grant, 1)), APPLIED);
    assert_string_equal(locked(s, 1), text(s, "claim %s", pid));
    assert_string_equal(locked(s, 2), text(s, "claim %s", pid)); /* by the one in front */
    run(s, s->a, "COMMIT");
    run(s, s->a, "BEGIN");
    run(s, s->a, sql_beat(s, 1));
    assert_string_equal(locked(s, 2), text(s, "instance %s", pid));
    run(s, s->a, "COMMIT");
    assert_string_equal(locked(s, 2), "");
}

/* An instance that beats and reports that it holds nothing: its grants are given back. Returns
 * "released/epoch". */
static const char *sql_settle(struct scene *s, int instance, long long settled) {
    return text(
        s,
        "SELECT released || '/' || epoch FROM "
        "pawl_internal.grants_settle('01900000-0000-7000-8000-aa00%08x', 1::smallint, NULL, NULL, %lld, 0)",
        (unsigned)instance, settled);
}

static void a_beat_does_not_wait_for_a_claim_that_an_idle_transaction_has_locked(void **state) {
    struct scene *s = *state;
    join(s, 1);
    send_now(s, 1, "x");
    const char *grant = run(s, s->a, sql_claim(s, 1, 10));
    long long token = token_of(s, grant, 1);
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, sql_fail(s, 1, grant, 1, false, 0)), APPLIED);
    run(s, s->b, sql_beat(s, 1));
    assert_string_equal(run(s, s->b, sql_settle(s, 1, token)), "0/1"); /* left to a later beat */
    run(s, s->a, "ROLLBACK");
    assert_string_equal(run(s, s->b, sql_settle(s, 1, token)), "1/1");
    assert_string_equal(where_is(s, 1), "aside a0 d0 l0");
    assert_string_equal(numbers(s, run(s, s->b, sql_claim(s, 1, 10))), "1");
}

/* A promotion, as the schema sees it: the timeline is not the one it knows. */
static void promote(struct scene *s) {
    run(s, s->observer, "UPDATE pawl_internal.settings SET timeline = '00000000'");
}

static const char *epoch_of(struct scene *s, const char *grant, int n) {
    return text(s, "%lld", token_of(s, grant, n) >> 40);
}

static const char *epoch(struct scene *s) {
    return run(s, s->observer, "SELECT epoch FROM pawl_internal.settings");
}

static void a_claim_in_an_idle_transaction_after_a_promotion_holds_up_no_token(void **state) {
    struct scene *s = *state;
    join(s, 1);
    join(s, 2);
    run(s, s->observer, sql_beat(s, 1));
    run(s, s->observer, sql_beat(s, 2));
    for (int n = 1; n <= 60; n++)
        send_now(s, n, text(s, "stream-%d", n));
    promote(s);
    run(s, s->a, "BEGIN");
    const char *first = run(s, s->a, sql_claim(s, 1, 100)); /* and then it idles */
    const char *second = run(s, s->b, sql_claim(s, 2, 1));
    assert_string_equal(epoch_of(s, first, atoi(first)), "9");
    assert_string_equal(epoch_of(s, second, atoi(second)), "9");
    assert_string_equal(epoch(s), "1"); /* no grant writes it */
    run(s, s->b, sql_beat(s, 2));
    assert_string_equal(epoch(s), "9");
    run(s, s->a, "COMMIT");
    const char *third = run(s, s->b, sql_claim(s, 2, 100));
    assert_string_equal(epoch_of(s, third, atoi(third)), "9");
    assert_true(token_of(s, third, atoi(third)) > token_of(s, second, atoi(second)));
    assert_true(token_of(s, second, atoi(second)) > token_of(s, first, atoi(first)));
    refused(s, 2, first, atoi(first));
}

static void a_beat_that_raises_the_epoch_and_does_not_end_holds_up_nobody(void **state) {
    struct scene *s = *state;
    join(s, 1);
    join(s, 2);
    run(s, s->observer, sql_beat(s, 1));
    run(s, s->observer, sql_beat(s, 2));
    for (int n = 1; n <= 60; n++)
        send_now(s, n, text(s, "stream-%d", n));
    promote(s);
    run(s, s->a, "BEGIN");
    run(s, s->a, sql_beat(s, 1)); /* it has the settings */
    const char *first = run(s, s->b, sql_claim(s, 2, 1));
    assert_string_equal(epoch_of(s, first, atoi(first)), "9"); /* what the beat would have written */
    run(s, s->b, sql_beat(s, 2));
    assert_string_equal(run(s, s->b, sql_settle(s, 2, 0)), "0/9");
    run(s, s->a, "ROLLBACK");
    assert_string_equal(epoch(s), "1");
    assert_string_equal(run(s, s->b, sql_settle(s, 2, 0)), "0/9");
    assert_string_equal(epoch(s), "9");
    const char *second = run(s, s->b, sql_claim(s, 2, 1));
    assert_true(token_of(s, second, atoi(second)) > token_of(s, first, atoi(first)));
    refused(s, 1, first, atoi(first));
}

/* Else both servers would give the same tokens. */
static void a_promotion_that_lost_a_raise_of_the_epoch_is_above_it(void **state) {
    struct scene *s = *state;
    join(s, 1);
    send_now(s, 1, "x");
    run(s, s->a, "BEGIN");
    run(s, s->a, "SELECT pawl_internal.epoch_raise()");
    const char *lost = run(s, s->a, sql_claim(s, 1, 1));
    run(s, s->a, "ROLLBACK");
    promote(s);
    const char *grant = run(s, s->b, sql_claim(s, 1, 1));
    assert_true(token_of(s, grant, 1) >> 40 > token_of(s, lost, 1) >> 40);
    run(s, s->b, sql_beat(s, 1)); /* writes what the grant has computed */
    refused(s, 1, lost, 1);
}

/* It may not go on with what is left as if nothing had happened, and what is left is not forgotten. */
static void who_is_evicted_in_part_is_told_and_a_later_beat_takes_the_rest(void **state) {
    struct scene *s = *state;
    join_lease(s, 1, 1000);
    for (int n = 1; n <= 60; n++)
        send_now(s, n, text(s, "stream-%d", n));
    const char *grant = run(s, s->a, sql_claim(s, 1, 100)); /* on every lane */
    run(s, s->a, "BEGIN");
    run(s, s->a,
        text(s, "SELECT 1 FROM pawl_internal.claim WHERE token = %lld FOR UPDATE", token_of(s, grant, 1)));
    join(s, 2);
    move_clock(s, 2000);
    run(s, s->b, sql_beat(s, 2));
    assert_string_equal(run(s, s->observer, "SELECT count(*) FROM pawl_internal.claim WHERE state = 1"), "1");
    assert_string_equal(run_error(s, s->c, sql_beat(s, 1)), "PW004");
    assert_string_equal(run_error(s, s->c, sql_claim(s, 1, 100)), "PW004");
    move_clock(s, LEASE_MS / 2); /* not overdue: only an eviction ends it */
    run(s, s->observer, "UPDATE pawl_internal.settings SET stale_ms = 1");
    run(s, s->observer, "SELECT instances_removed FROM pawl_internal.maintain(NULL, 1000)");
    assert_string_equal(run(s, s->observer, "SELECT count(*) FROM pawl_internal.instance WHERE state = 2"),
                        "1");
    run(s, s->b, sql_beat(s, 2)); /* this one cannot take it either, and leaves it to the next */
    run(s, s->a, "COMMIT");
    run(s, s->b, sql_beat(s, 2));
    assert_string_equal(run(s, s->observer, "SELECT count(*) FROM pawl_internal.claim WHERE state = 1"), "0");
    assert_string_equal(where_is(s, 1), "aside a0 d0 l2");
    assert_string_equal(
        run(s, s->observer, "SELECT instances_removed FROM pawl_internal.maintain(NULL, 1000)"), "1");
    refused(s, 1, grant, 1);
}

static void lanes_change_hands_though_an_idle_transaction_holds_the_balance(void **state) {
    struct scene *s = *state;
    join(s, 1);
    join(s, 2);
    run(s, s->a, "BEGIN");
    run(s, s->a, "SELECT kind FROM pawl_internal.balance WHERE kind = 1 FOR UPDATE");
    assert_string_equal(run(s, s->b, sql_beat(s, 1)), "0/4/0");
    assert_string_equal(run(s, s->b, sql_beat(s, 2)), "4/0/0");
    run(s, s->a, "COMMIT");
    assert_string_equal(count(s, "owner IS NULL"), "0");
    refused(s, 2, "1@1", 1);
}

static void expiry_by_a_stranger_beside_the_owners_own_claim_ends_it_once(void **state) {
    struct scene *s = *state;
    join(s, 1);
    join(s, 2);
    send_now(s, 1, "x");
    const char *grant = run(s, s->a, sql_claim(s, 1, 10));
    move_clock(s, LEASE_MS);
    run(s, s->a, "BEGIN");
    const char *again = run(s, s->a, sql_claim(s, 1, 10)); /* the owner takes it back itself */
    assert_string_equal(numbers(s, again), "1");
    assert_string_equal(run(s, s->b, sql_claim(s, 2, 10)), ""); /* the lane is locked: left to its owner */
    run(s, s->a, "COMMIT");
    assert_string_equal(run(s, s->b, sql_claim(s, 2, 10)), "");
    assert_string_equal(where_is(s, 1), "aside a0 d0 l2"); /* lost once, not twice */
    assert_string_equal(lane_owner(s), "1");
    refused(s, 1, grant, 1);
    assert_string_equal(run(s, s->a, sql_complete(s, 1, again, 1)), APPLIED);
}

static const struct CMUnitTest tests[] = {
    SCENE_TEST_LANES(a_draining_lane_moves_only_after_its_last_claim_ended),
    SCENE_TEST_LANES(a_lane_is_not_given_away_under_a_claim_that_is_being_made),
    SCENE_TEST_LANES(a_claim_beside_a_hand_over_grants_nothing_of_the_lanes_that_go),
    SCENE_TEST_LANES(two_newcomers_at_once_never_take_the_same_lane),
    SCENE_TEST(a_lane_that_was_freed_and_taken_has_a_new_token),
    SCENE_TEST(an_instance_that_beats_right_now_is_not_evicted),
    SCENE_TEST(a_beat_that_waited_for_its_own_eviction_is_told),
    SCENE_TEST(absent_locks_say_nothing_for_one_lease_after_a_promotion),
    SCENE_TEST(why_names_who_has_locked_what_a_message_waits_for),
    SCENE_TEST(expiry_by_a_stranger_beside_the_owners_own_claim_ends_it_once),
    SCENE_TEST_LANES(a_beat_does_not_wait_for_a_silent_peer_that_is_idle_in_a_transaction),
    SCENE_TEST_LANES(a_beat_does_not_wait_for_lanes_that_an_idle_transaction_has_locked),
    SCENE_TEST(a_beat_does_not_wait_for_a_claim_that_an_idle_transaction_has_locked),
    SCENE_TEST_LANES(a_claim_in_an_idle_transaction_after_a_promotion_holds_up_no_token),
    SCENE_TEST_LANES(a_beat_that_raises_the_epoch_and_does_not_end_holds_up_nobody),
    SCENE_TEST(a_promotion_that_lost_a_raise_of_the_epoch_is_above_it),
    SCENE_TEST_LANES(who_is_evicted_in_part_is_told_and_a_later_beat_takes_the_rest),
    SCENE_TEST_LANES(lanes_change_hands_though_an_idle_transaction_holds_the_balance),
};

RACES(handover, tests);
