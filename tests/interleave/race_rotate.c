/* Rotation: a segment is emptied when nothing needs it any more, and whatever does, blocks it without harm.
 */
#include "interleave/calls.h"
#include "interleave/races.h"

static const char *const rotate = "SELECT pawl_internal.segments_rotate()";

/* Every segment that has a page is due to be followed by the next. */
static void small_segments(struct scene *s) {
    join(s, 1);
    run(s, s->observer, "UPDATE pawl_internal.settings SET segment_bytes = 1");
}

static const char *held(struct scene *s) {
    return run(s, s->observer, "SELECT held FROM pawl_internal.segment WHERE held IS NOT NULL");
}

static const char *in_segment(struct scene *s, int segment) {
    return run(s, s->observer,
               text(s, "SELECT count(*) FROM pawl_internal.message WHERE segment = %d", segment));
}

static void one_is_done(struct scene *s, int n) {
    const char *grant = run(s, s->b, sql_claim(s, 1, 10));
    assert_string_equal(numbers(s, grant), text(s, "%d", n));
    assert_string_equal(run(s, s->b, sql_complete(s, 1, grant, n)), APPLIED);
}

static void a_segment_that_was_read_is_emptied_and_used_again(void **state) {
    struct scene *s = *state;
    small_segments(s);
    for (int n = 1; n <= 7; n++) {
        send_now(s, n, "x");
        one_is_done(s, n);
        assert_string_equal(in_segment(s, (n - 1) % 3), "1");
        assert_string_equal(run(s, s->observer, rotate), "t"); /* on to the next */
        assert_string_equal(run(s, s->observer, rotate), "t"); /* and this one is emptied */
        assert_string_equal(run(s, s->observer, "SELECT count(*) FROM pawl_internal.message"), "0");
    }
}

static void an_open_writer_keeps_its_segment(void **state) {
    struct scene *s = *state;
    small_segments(s);
    run(s, s->a, "BEGIN");
    run(s, s->a, sql_send(s, 1, "x"));
    assert_string_equal(run(s, s->observer, rotate), "t"); /* messages go into the next */
    assert_string_equal(run(s, s->observer, rotate), "f");
    assert_string_equal(held(s), "an open transaction that has put into it or read it, or a dump");
    send_now(s, 2, "y");
    one_is_done(s, 2);
    run(s, s->a, "COMMIT");
    assert_string_equal(run(s, s->observer, rotate), "t"); /* the third is empty */
    assert_string_equal(held(s), "unread messages of kind outbox in lane 0");
    one_is_done(s, 1);
    assert_string_equal(run(s, s->observer, rotate), "t");
    assert_string_equal(in_segment(s, 0), "0");
    assert_string_equal(held(s), "");
}

static void a_dump_keeps_the_segments_and_stops_nothing(void **state) {
    struct scene *s = *state;
    small_segments(s);
    send_now(s, 1, "x");
    one_is_done(s, 1);
    run(s, s->c, "BEGIN; LOCK TABLE pawl_internal.message IN ACCESS SHARE MODE");
    assert_string_equal(run(s, s->observer, rotate), "t");
    assert_string_equal(run(s, s->observer, rotate), "f");
    send_now(s, 2, "x");
    one_is_done(s, 2);
    run(s, s->c, "COMMIT");
    assert_string_equal(run(s, s->observer, rotate), "t");
    assert_string_equal(in_segment(s, 0), "0");
}

static void an_active_claim_keeps_its_messages(void **state) {
    struct scene *s = *state;
    small_segments(s);
    send_now(s, 1, "x");
    send_now(s, 2, "x");
    const char *grant = run(s, s->b, sql_claim(s, 1, 10));
    assert_string_equal(run(s, s->observer, rotate), "t");
    assert_string_equal(run(s, s->observer, rotate), "f");
    assert_non_null(strstr(held(s), "messages of kind outbox in lane 0 that instance "));
    /* One fails and is copied aside, with what follows it: nothing needs the segment any more. */
    assert_string_equal(run(s, s->b, sql_fail(s, 1, grant, 1, false, 0)), APPLIED);
    assert_string_equal(where_is(s, 2), "aside a0 d0 l0");
    assert_string_equal(run(s, s->observer, rotate), "t");
    assert_string_equal(in_segment(s, 0), "0");
    move_clock(s, 60000);
    grant = run(s, s->b, sql_claim(s, 1, 10));
    assert_string_equal(numbers(s, grant), "1 2");
}

static void a_claim_that_is_being_made_keeps_what_it_read(void **state) {
    struct scene *s = *state;
    small_segments(s);
    send_now(s, 1, "x");
    assert_string_equal(run(s, s->observer, rotate), "t");
    run(s, s->b, "BEGIN");
    const char *grant = run(s, s->b, sql_claim(s, 1, 10));
    assert_string_equal(run(s, s->observer, rotate), "f");
    run(s, s->b, "COMMIT");
    assert_string_equal(run(s, s->observer, rotate), "f");
    assert_string_equal(run(s, s->b, sql_complete(s, 1, grant, 1)), APPLIED);
    assert_string_equal(run(s, s->observer, rotate), "t");
}

static void a_lane_that_nobody_serves_keeps_the_ring_and_puts_go_on(void **state) {
    struct scene *s = *state;
    small_segments(s);
    run(s, s->observer, "SELECT pawl.receive('c', gen_random_uuid(), 't', '{}')");
    assert_string_equal(run(s, s->observer, rotate), "t");
    for (int n = 1; n <= 3; n++) {
        send_now(s, n, "x");
        one_is_done(s, n);
        run(s, s->observer, rotate);
    }
    assert_string_equal(held(s), "unread messages of kind inbox in lane 0");
    assert_string_equal(in_segment(s, 0), "1");
    /* The others take turns as far as they can: the one before the held one is never followed. */
    send_now(s, 4, "x");
    one_is_done(s, 4);
    assert_string_equal(in_segment(s, 2),
                        run(s, s->observer, "SELECT count(*) - 1 FROM pawl_internal.message"));
}

static void a_crash_after_the_switch_or_before_the_commit_of_the_emptying_loses_nothing(void **state) {
    struct scene *s = *state;
    small_segments(s);
    send_now(s, 1, "x");
    one_is_done(s, 1);
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, rotate), "t"); /* switched … */
    cut(s, &s->a);                                  /* … and not recorded */
    send_now(s, 2, "x");
    assert_string_equal(in_segment(s, 1), "1");
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, rotate), "t"); /* emptied … */
    cut(s, &s->a);                                  /* … and undone */
    assert_string_equal(in_segment(s, 0), "1");
    one_is_done(s, 2);
    assert_string_equal(run(s, s->b, sql_claim(s, 1, 10)), "");
    assert_string_equal(run(s, s->observer, rotate), "t");
    assert_string_equal(in_segment(s, 0), "0");
}

static const struct CMUnitTest tests[] = {
    SCENE_TEST(a_segment_that_was_read_is_emptied_and_used_again),
    SCENE_TEST(an_open_writer_keeps_its_segment),
    SCENE_TEST(a_dump_keeps_the_segments_and_stops_nothing),
    SCENE_TEST(an_active_claim_keeps_its_messages),
    SCENE_TEST(a_claim_that_is_being_made_keeps_what_it_read),
    SCENE_TEST(a_lane_that_nobody_serves_keeps_the_ring_and_puts_go_on),
    SCENE_TEST(a_crash_after_the_switch_or_before_the_commit_of_the_emptying_loses_nothing),
};

RACES(rotate, tests);
