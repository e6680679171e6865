/* Windows: what a claim reads is what became visible since the last one, in the order of the numbers,
 * whatever the order of the transactions' ids. */
#include "interleave/calls.h"
#include "interleave/races.h"

#define DRAW_ID "SELECT pg_current_xact_id() IS NOT NULL"

static const char *claimed_and_completed(struct scene *s, int instance) {
    const char *grant = run(s, s->b, sql_claim(s, instance, 10));
    for (const char *at = grant; *at != '\0'; at += strcspn(at, " "), at += *at == ' ')
        assert_string_equal(run(s, s->b, sql_complete(s, instance, grant, atoi(at))), APPLIED);
    return numbers(s, grant);
}

/* The xmax of a snapshot is the last id that ended, plus one: who runs at or above it is listed nowhere. */
static void a_writer_above_xmax_is_found_when_it_commits(void **state) {
    struct scene *s = *state;
    join(s, 1);
    run(s, s->c, "BEGIN");
    run(s, s->c, DRAW_ID);
    run(s, s->a, "BEGIN");
    run(s, s->a, sql_send(s, 1, "x")); /* a higher id, a lower number */
    run(s, s->c, sql_send(s, 2, "y"));
    run(s, s->c, "COMMIT");
    assert_string_equal(claimed_and_completed(s, 1), "2");
    assert_string_equal(claimed_and_completed(s, 1), "");
    run(s, s->a, "COMMIT");
    send_now(s, 3, "x");
    assert_string_equal(claimed_and_completed(s, 1), "1 3");
    assert_string_equal(claimed_and_completed(s, 1), "");
}

static void an_id_drawn_before_and_numbers_after_keep_the_order_of_the_numbers(void **state) {
    struct scene *s = *state;
    join(s, 1);
    run(s, s->c, "BEGIN");
    run(s, s->c, DRAW_ID);
    send_now(s, 1, "x");
    run(s, s->c, sql_send(s, 2, "x")); /* serialised after 1, with the lower id */
    run(s, s->c, "COMMIT");
    assert_string_equal(claimed_and_completed(s, 1), "1 2");
}

/* The claim's own id is older than that of a writer whose number it passes. */
static void a_claim_in_a_transaction_that_has_an_id_misses_nothing(void **state) {
    struct scene *s = *state;
    join(s, 1);
    send_now(s, 9, "w");
    assert_string_equal(claimed_and_completed(s, 1), "9");
    run(s, s->b, "BEGIN");
    run(s, s->b, DRAW_ID);
    run(s, s->a, "BEGIN");
    run(s, s->a, sql_send(s, 1, "x"));
    send_now(s, 2, "y");
    assert_string_equal(claimed_and_completed(s, 1), "2");
    run(s, s->b, "COMMIT");
    assert_string_equal(claimed_and_completed(s, 1), "");
    run(s, s->a, "COMMIT");
    assert_string_equal(claimed_and_completed(s, 1), "1");
    assert_string_equal(claimed_and_completed(s, 1), "");
}

static void a_long_writer_stops_nothing_and_is_found_when_it_ends(void **state) {
    struct scene *s = *state;
    join(s, 1);
    run(s, s->c, "BEGIN");
    run(s, s->c, sql_send(s, 1, "x"));
    for (int n = 10; n < 40; n++) {
        if (n == 25)
            run(s, s->c, sql_send(s, 2, "x"));
        send_now(s, n, "y");
        assert_string_equal(claimed_and_completed(s, 1), text(s, "%d", n));
    }
    run(s, s->c, "COMMIT");
    send_now(s, 50, "y");
    assert_string_equal(claimed_and_completed(s, 1), "1 2 50");
    assert_string_equal(claimed_and_completed(s, 1), "");
}

static void what_a_transaction_puts_it_can_claim_and_nobody_gets_it_again(void **state) {
    struct scene *s = *state;
    join(s, 1);
    run(s, s->b, "BEGIN");
    run(s, s->b, sql_send(s, 1, "x"));
    assert_string_equal(claimed_and_completed(s, 1), "1");
    run(s, s->b, sql_send(s, 2, "x"));
    send_now(s, 3, "y");
    assert_string_equal(claimed_and_completed(s, 1), "2 3");
    run(s, s->b, sql_send(s, 4, "x"));
    run(s, s->b, "COMMIT");
    assert_string_equal(claimed_and_completed(s, 1), "4");
    assert_string_equal(claimed_and_completed(s, 1), "");
}

static void its_own_messages_below_the_cursor_are_found_too(void **state) {
    struct scene *s = *state;
    join(s, 1);
    run(s, s->b, "BEGIN");
    run(s, s->b, sql_send(s, 1, "x"));
    send_now(s, 2, "y");
    const char *two = run(s, s->a, sql_claim(s, 1, 10));
    assert_string_equal(numbers(s, two), "2");
    assert_string_equal(run(s, s->a, sql_complete(s, 1, two, 2)), APPLIED);
    assert_string_equal(claimed_and_completed(s, 1), "1");
    run(s, s->b, "COMMIT");
    assert_string_equal(claimed_and_completed(s, 1), "");
}

static void a_window_goes_on_with_the_next_owner_of_the_lane(void **state) {
    struct scene *s = *state;
    join(s, 1);
    run(s, s->a, "BEGIN");
    run(s, s->a, sql_send(s, 1, "x"));
    send_now(s, 2, "y");
    assert_string_equal(claimed_and_completed(s, 1), "2");
    run(s, s->observer, sql_evict(s, 1));
    join(s, 2);
    assert_string_equal(claimed_and_completed(s, 2), "");
    run(s, s->a, "COMMIT");
    send_now(s, 3, "x");
    assert_string_equal(claimed_and_completed(s, 2), "1 3");
    assert_string_equal(claimed_and_completed(s, 2), "");
}

static const struct CMUnitTest tests[] = {
    SCENE_TEST(a_writer_above_xmax_is_found_when_it_commits),
    SCENE_TEST(an_id_drawn_before_and_numbers_after_keep_the_order_of_the_numbers),
    SCENE_TEST(a_claim_in_a_transaction_that_has_an_id_misses_nothing),
    SCENE_TEST(a_long_writer_stops_nothing_and_is_found_when_it_ends),
    SCENE_TEST(what_a_transaction_puts_it_can_claim_and_nobody_gets_it_again),
    SCENE_TEST(its_own_messages_below_the_cursor_are_found_too),
    SCENE_TEST(a_window_goes_on_with_the_next_owner_of_the_lane),
};

RACES(window, tests);
