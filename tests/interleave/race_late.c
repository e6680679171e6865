/* Late commits: "nothing is lost behind the cursor and no foreign long transaction stops the lane". */
#include "interleave/calls.h"
#include "interleave/races.h"

enum { BLOCK = 1 };

/* covers: BX.8 B2.2 */
static void a_lower_number_that_commits_late_is_claimed_next(void **state) {
    struct scene *s = *state;
    join(s, 1);
    run(s, s->a, "BEGIN");
    run(s, s->a, sql_send(s, 1, "x")); /* draws the lower number and stays open */
    send_now(s, 2, "y");
    const char *first = run(s, s->b, sql_claim(s, 1, 10));
    assert_string_equal(numbers(s, first), "2");
    assert_string_equal(run(s, s->b, sql_complete(s, 1, first, 2)), APPLIED);
    assert_string_equal(run(s, s->b, sql_claim(s, 1, 10)), "");
    run(s, s->a, "COMMIT");
    const char *late = run(s, s->b, sql_claim(s, 1, 10));
    assert_string_equal(numbers(s, late), "1"); /* behind the cursor, not lost */
    refused(s, 1, "1@1", 1);
    assert_string_equal(run(s, s->b, sql_complete(s, 1, late, 1)), APPLIED);
    assert_string_equal(run(s, s->b, sql_claim(s, 1, 10)), "");
}

/* c has an id and stays open until its very end. */
static void puts_go_on_beside_the_foreign_one(struct scene *s) {
    for (int n = 1; n <= 5; n++) {
        send_now(s, n, "x");
        const char *grant = run(s, s->b, sql_claim(s, 1, 10));
        assert_string_equal(numbers(s, grant), text(s, "%d", n));
        assert_string_equal(run(s, s->b, sql_complete(s, 1, grant, n)), APPLIED);
        refused(s, 1, "9@1", 9);
    }
    /* A late commit is still found while the foreign one is open. */
    run(s, s->a, "BEGIN");
    run(s, s->a, sql_send(s, 6, "x"));
    send_now(s, 7, "y");
    const char *seven = run(s, s->b, sql_claim(s, 1, 10));
    assert_string_equal(numbers(s, seven), "7");
    run(s, s->b, sql_complete(s, 1, seven, 7));
    run(s, s->a, "COMMIT");
    const char *six = run(s, s->b, sql_claim(s, 1, 10));
    assert_string_equal(numbers(s, six), "6");
    run(s, s->b, sql_complete(s, 1, six, 6));
    /* The foreign one puts at its very end, with an old transaction id and a new number. */
    run(s, s->c, sql_send(s, 8, "z"));
    assert_string_equal(run(s, s->b, sql_claim(s, 1, 10)), "");
    run(s, s->c, "COMMIT");
    assert_string_equal(numbers(s, run(s, s->b, sql_claim(s, 1, 10))), "8");
}

static void open_foreign_one(struct scene *s) {
    join(s, 1);
    run(s, s->observer, "CREATE TABLE public.app (n integer)");
    run(s, s->c, "BEGIN; INSERT INTO public.app VALUES (1)");
}

static void a_foreign_transaction_that_stays_open_stops_nothing_and_hides_nothing(void **state) {
    open_foreign_one(*state);
    puts_go_on_beside_the_foreign_one(*state);
}

static void transactions_that_follow_one_another_keep_their_order(void **state) {
    struct scene *s = *state;
    join(s, 1);
    run(s, s->a, "BEGIN");
    run(s, s->a, sql_send(s, 1, "x")); /* an early number … */
    send_now(s, 2, "y");
    const char *other = run(s, s->b, sql_claim(s, 1, 10)); /* … the cursor passes it … */
    assert_string_equal(numbers(s, other), "2");
    run(s, s->b, sql_complete(s, 1, other, 2));
    run(s, s->a, "COMMIT"); /* … it commits late … */
    send_now(s, 3, "x");    /* … and only then the next of its stream is put */
    const char *grant = run(s, s->b, sql_claim(s, 1, 10));
    assert_string_equal(numbers(s, grant), "1 3");
    refused(s, 1, "1@1", 1);
    assert_string_equal(run(s, s->b, sql_complete(s, 1, grant, 3)), CONFLICT);
    assert_string_equal(run(s, s->b, sql_complete(s, 1, grant, 1)), APPLIED);
    assert_string_equal(run(s, s->b, sql_complete(s, 1, grant, 3)), APPLIED);
}

/* apart: a stream of the lane is held, so that claims look at each message. */
static void late_commits(struct scene *s, bool apart) {
    join(s, 1);
    run(s, s->a, "BEGIN");
    for (int n = 1; n <= 5; n++)
        run(s, s->a, sql_send(s, n, "x"));
    for (int n = 6; n <= 8; n++)
        send_now(s, n, "y");
    const char *first = run(s, s->b, sql_claim(s, 1, 10));
    assert_string_equal(numbers(s, first), "6 7 8");
    run(s, s->b, sql_complete(s, 1, first, 6));
    run(s, s->b, sql_complete(s, 1, first, 7));
    run(s, s->b, apart ? sql_fail(s, 1, first, 8, true, BLOCK) : sql_complete(s, 1, first, 8));
    run(s, s->a, "COMMIT");
    send_now(s, 9, "x");
    /* The late ones first, to their end, from the snapshot that found them. */
    static const char *const turns[] = {"1 2", "3 4", "5", "9", ""};
    for (int i = 0; i < 5; i++) {
        const char *grant = run(s, s->b, sql_claim(s, 1, 2));
        assert_string_equal(numbers(s, grant), turns[i]);
        for (const char *rest = turns[i]; *rest != '\0'; rest += strcspn(rest, " "), rest += *rest == ' ')
            assert_string_equal(run(s, s->b, sql_complete(s, 1, grant, atoi(rest))), APPLIED);
    }
    refused(s, 1, "1@1", 1);
}

static void more_late_commits_than_one_claim_takes_all_come_in_order(void **state) {
    late_commits(*state, false);
}

static void more_late_commits_beside_a_held_stream_all_come_in_order(void **state) {
    late_commits(*state, true);
}

/* An id is granted once per token: the claim ends below the cursor, and what it left is found by the next. */
static void late_twins(struct scene *s, bool apart, bool paused) {
    join(s, 1);
    if (paused)
        run(s, s->observer, "SELECT pawl_internal.pause_set(2::smallint, 'w', NULL, 'anna')");
    run(s, s->a, "BEGIN");
    run(s, s->a, sql_send(s, 1, paused ? "w" : "z"));
    run(s, s->a, sql_send(s, 1, "x"));
    run(s, s->a, sql_send(s, 2, "x"));
    run(s, s->a, sql_send(s, 1, "v"));
    send_now(s, 3, "y");
    const char *grant = run(s, s->b, sql_claim(s, 1, 10));
    assert_string_equal(numbers(s, grant), "3");
    run(s, s->b, apart ? sql_fail(s, 1, grant, 3, true, BLOCK) : sql_complete(s, 1, grant, 3));
    run(s, s->a, "COMMIT");
    static const char *const turns[] = {"1", "1 2", "1", ""};
    for (int i = paused ? 1 : 0; i < 4; i++) {
        grant = run(s, s->b, sql_claim(s, 1, 10));
        assert_string_equal(numbers(s, grant), turns[i]);
        if (turns[i][0] == '1')
            assert_string_equal(run(s, s->b, sql_complete(s, 1, grant, 1)), APPLIED);
        if (strchr(turns[i], '2') != NULL)
            assert_string_equal(run(s, s->b, sql_complete(s, 1, grant, 2)), APPLIED);
    }
    refused(s, 1, "1@1", 1);
}

static void late_commits_with_one_id_come_one_after_the_other(void **state) {
    late_twins(*state, false, false);
}

static void late_commits_with_one_id_beside_a_held_stream_do_too(void **state) {
    late_twins(*state, true, false);
}

static void late_commits_with_one_id_behind_a_paused_one_do_too(void **state) {
    late_twins(*state, false, true);
}

static void a_late_commit_into_a_stream_in_flight_waits_aside(void **state) {
    struct scene *s = *state;
    join(s, 1);
    run(s, s->a, "BEGIN");
    run(s, s->a, sql_send(s, 1, "x"));
    send_now(s, 2, "x"); /* overlapping transactions have no order between them */
    const char *two = run(s, s->b, sql_claim(s, 1, 10));
    assert_string_equal(numbers(s, two), "2");
    run(s, s->a, "COMMIT");
    move_clock(s, 1000);
    assert_string_equal(run(s, s->b, sql_claim(s, 1, 10)), ""); /* never two of a stream at once */
    assert_string_equal(run(s, s->b, sql_complete(s, 1, two, 2)), APPLIED);
    const char *one = run(s, s->b, sql_claim(s, 1, 10));
    assert_string_equal(numbers(s, one), "1");
    refused(s, 1, "1@1", 1);
    assert_string_equal(run(s, s->b, sql_complete(s, 1, one, 1)), APPLIED);
}

static void a_late_commit_out_of_a_savepoint_is_found_too(void **state) {
    struct scene *s = *state;
    join(s, 1);
    run(s, s->a, "BEGIN; SAVEPOINT p");
    run(s, s->a, sql_send(s, 1, "x"));
    run(s, s->a, "RELEASE p; SAVEPOINT q");
    run(s, s->a, sql_send(s, 2, "x"));
    run(s, s->a, "ROLLBACK TO q");
    for (int n = 3; n <= 6; n++) {
        send_now(s, n, "y");
        const char *grant = run(s, s->b, sql_claim(s, 1, 1));
        assert_string_equal(numbers(s, grant), text(s, "%d", n));
        run(s, s->b, sql_complete(s, 1, grant, n));
    }
    run(s, s->a, "COMMIT");
    const char *late = run(s, s->b, sql_claim(s, 1, 10));
    assert_string_equal(numbers(s, late), "1"); /* 2 was never committed */
    refused(s, 1, "1@1", 1);
}

static void many_cursors_later_the_oldest_commit_is_still_found(void **state) {
    struct scene *s = *state;
    join(s, 1);
    run(s, s->a, "BEGIN");
    run(s, s->a, sql_send(s, 1, "x"));
    run(s, s->c, "BEGIN");
    for (int n = 10; n < 60; n++) { /* each claim remembers where 1 may be */
        if (n == 35)
            run(s, s->c, sql_send(s, 2, "z"));
        send_now(s, n, "y");
        const char *grant = run(s, s->b, sql_claim(s, 1, 10));
        assert_string_equal(numbers(s, grant), text(s, "%d", n)); /* nothing is read twice */
        run(s, s->b, sql_complete(s, 1, grant, n));
    }
    run(s, s->c, "COMMIT");
    const char *two = run(s, s->b, sql_claim(s, 1, 10));
    assert_string_equal(numbers(s, two), "2");
    run(s, s->b, sql_complete(s, 1, two, 2));
    run(s, s->a, "COMMIT");
    assert_string_equal(numbers(s, run(s, s->b, sql_claim(s, 1, 10))), "1");
    refused(s, 1, "1@1", 1);
}

static void a_put_that_is_rolled_back_leaves_a_hole_nobody_waits_for(void **state) {
    struct scene *s = *state;
    join(s, 1);
    run(s, s->a, "BEGIN");
    run(s, s->a, sql_send(s, 1, "x"));
    send_now(s, 2, "x");
    run(s, s->a, "ROLLBACK");
    const char *grant = run(s, s->b, sql_claim(s, 1, 10));
    assert_string_equal(numbers(s, grant), "2");
    assert_string_equal(run(s, s->b, sql_complete(s, 1, grant, 2)), APPLIED);
    assert_string_equal(run(s, s->b, sql_claim(s, 1, 10)), "");
    refused(s, 1, "1@1", 1);
}

/* "An xid must exist before the sequence number is drawn, or no snapshot lists it": the put is stopped in
 * between. */
static void a_put_that_has_its_number_but_not_its_row_is_not_lost(void **state) {
    struct scene *s = *state;
    join(s, 1);
    run(s, s->observer,
        "CREATE FUNCTION public.stop() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "IF NEW.type = 'stop' THEN PERFORM pg_advisory_xact_lock_shared(42); END IF; RETURN NEW; END $$; "
        "CREATE TRIGGER stop BEFORE INSERT ON pawl_internal.message FOR EACH ROW EXECUTE FUNCTION "
        "public.stop()");
    /* Every 32nd number is logged and would give an id by itself: not the one that counts here. */
    send_now(s, 9, "w");
    const char *nine = run(s, s->b, sql_claim(s, 1, 10));
    run(s, s->b, sql_complete(s, 1, nine, 9));
    run(s, s->c, "SELECT pg_advisory_lock(42)");
    start(s, s->a, "SELECT pawl.send('stop', '{}', 'x', id => '01900000-0000-7000-8000-010000000001')");
    blocked(s, s->a);
    send_now(s, 2, "y");
    const char *two = run(s, s->b, sql_claim(s, 1, 10));
    assert_string_equal(numbers(s, two), "2"); /* the cursor is behind the number of 1 now */
    run(s, s->b, sql_complete(s, 1, two, 2));
    run(s, s->c, "SELECT pg_advisory_unlock(42)");
    finish(s, s->a);
    assert_string_equal(numbers(s, run(s, s->b, sql_claim(s, 1, 10))), "1");
    refused(s, 1, "1@1", 1);
}

/* Between the id of a claim and its read a transaction begins, draws a number, and another one commits. */
static void a_transaction_that_began_while_a_claim_was_being_made_is_not_lost(void **state) {
    struct scene *s = *state;
    join(s, 1);
    send_now(s, 1, "w");
    run(s, s->c,
        "BEGIN; ALTER SEQUENCE pawl_internal.token_seq OWNED BY NONE"); /* whoever draws a token waits */
    start(s, s->b, sql_claim(s, 1, 10));
    blocked(s, s->b);
    run(s, s->a, "BEGIN");
    run(s, s->a, sql_send(s, 2, "x"));
    send_now(s, 3, "y");
    run(s, s->c, "ROLLBACK");
    const char *first = finish(s, s->b);
    assert_string_equal(numbers(s, first), "1 3"); /* the read's own snapshot is what the claim remembers */
    run(s, s->b, sql_complete(s, 1, first, 1));
    run(s, s->b, sql_complete(s, 1, first, 3));
    assert_string_equal(run(s, s->b, sql_claim(s, 1, 10)), "");
    run(s, s->a, "COMMIT");
    assert_string_equal(numbers(s, run(s, s->b, sql_claim(s, 1, 10))), "2");
    refused(s, 1, "1@1", 1);
}

/* covers: M52 M64 */
static void a_message_lives_and_dies_with_the_applications_transaction(void **state) {
    struct scene *s = *state;
    join(s, 1);
    run(s, s->observer, "CREATE TABLE public.orders (n integer)");
    run(s, s->a, "BEGIN; INSERT INTO public.orders VALUES (1)");
    run(s, s->a, sql_send(s, 1, "x"));
    assert_string_equal(run(s, s->b, sql_claim(s, 1, 10)), ""); /* not yet */
    run(s, s->a, "ROLLBACK");
    assert_string_equal(run(s, s->b, sql_claim(s, 1, 10)), "");
    run(s, s->a, "BEGIN; INSERT INTO public.orders VALUES (2)");
    run(s, s->a, sql_send(s, 2, "x"));
    run(s, s->a, "COMMIT");
    assert_string_equal(numbers(s, run(s, s->b, sql_claim(s, 1, 10))), "2");
    assert_string_equal(run(s, s->observer, "SELECT n FROM public.orders"), "2");
    refused(s, 1, "1@1", 1);
}

static const struct CMUnitTest tests[] = {
    SCENE_TEST(a_lower_number_that_commits_late_is_claimed_next),
    SCENE_TEST(a_foreign_transaction_that_stays_open_stops_nothing_and_hides_nothing),
    SCENE_TEST(transactions_that_follow_one_another_keep_their_order),
    SCENE_TEST(more_late_commits_than_one_claim_takes_all_come_in_order),
    SCENE_TEST(more_late_commits_beside_a_held_stream_all_come_in_order),
    SCENE_TEST(late_commits_with_one_id_come_one_after_the_other),
    SCENE_TEST(late_commits_with_one_id_beside_a_held_stream_do_too),
    SCENE_TEST(late_commits_with_one_id_behind_a_paused_one_do_too),
    SCENE_TEST(a_late_commit_into_a_stream_in_flight_waits_aside),
    SCENE_TEST(a_late_commit_out_of_a_savepoint_is_found_too),
    SCENE_TEST(many_cursors_later_the_oldest_commit_is_still_found),
    SCENE_TEST(a_put_that_is_rolled_back_leaves_a_hole_nobody_waits_for),
    SCENE_TEST(a_put_that_has_its_number_but_not_its_row_is_not_lost),
    SCENE_TEST(a_transaction_that_began_while_a_claim_was_being_made_is_not_lost),
    SCENE_TEST(a_message_lives_and_dies_with_the_applications_transaction),
};

RACES(late, tests);
