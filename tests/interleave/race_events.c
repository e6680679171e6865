/* Events and perspectives: appends to one stream, appends against registrations, late commits against
 * positions, wake-ups against completions, late workers against new ones. */
#include <string.h>

#include "interleave/calls.h"
#include "interleave/races.h"

static const char instance_1[] = "'01900000-0000-7000-8000-aa0000000001'";
static const char instance_2[] = "'01900000-0000-7000-8000-aa0000000002'";

static const char *sql_append(struct scene *s, const char *stream, int expected, const char *type) {
    return text(s, "SELECT version FROM pawl.append('%s', %d, '[{\"type\":\"%s\",\"payload\":{}}]')", stream,
                expected, type);
}

static const char sql_stamp[] =
    "SELECT stamped || '/' || last_position FROM pawl_internal.events_stamp(1000)";
static const char sql_all[] = "SELECT string_agg(stream || version, ' ' ORDER BY position) FROM "
                              "pawl_internal.events_all(0, false, 0, 1000)";

static const char *sql_register(struct scene *s, const char *pattern) {
    return text(
        s,
        "SELECT answer FROM pawl_internal.perspective_register('orders', 1, '{3}', '{%s}', 1::smallint, "
        "'INSERT INTO public.seen SELECT stream, version FROM pawl.event_rows($1)', NULL, 0, 0, "
        "0::smallint, 5000)",
        pattern);
}

static void enter(struct scene *s, const char *id) {
    run(s, s->observer,
        text(s,
             "SELECT now_ms FROM pawl_internal.instance_register(%s, 'orders', 'host', 1, NULL, 8, 86400000, "
             "0, 0)",
             id));
}

static const char *sql_grant(struct scene *s, const char *id, const char *stream) {
    return text(s,
                "SELECT CASE WHEN granted THEN stream || '@' || token ELSE 'busy:' || stream END FROM "
                "pawl_internal.checkpoints_claim(%s, %s, '{orders@1}', 10, 300000)",
                id, stream != NULL ? text(s, "'{%s}'", stream) : "NULL");
}

static const char *sql_apply(struct scene *s, const char *grant) {
    const char *at = strchr(grant, '@');
    return text(
        s,
        "SELECT answer || ':' || version FROM pawl_internal.perspective_apply('orders@1', %s, '{%.*s}', 0)",
        at + 1, (int)(at - grant), grant);
}

static void watch(struct scene *s) {
    run(s, s->observer,
        "CREATE TABLE public.seen (stream text, version bigint, PRIMARY KEY (stream, version))");
    assert_string_equal(run(s, s->observer, sql_register(s, "*")), "1");
    assert_string_equal(run(s, s->observer, "SELECT pawl_internal.perspective_backfill('orders@1', 100)"),
                        "t");
}

static void two_appends_to_one_stream_wait_for_one_another_and_leave_no_gap(void **state) {
    struct scene *s = *state;
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, sql_append(s, "x", 0, "Created")), "1");
    start(s, s->b, sql_append(s, "x", 0, "Created"));
    blocked(s, s->b);
    run(s, s->a, "COMMIT");
    assert_string_equal(finish_error(s, s->b), "PW003"); /* with the version that it really has */
    assert_string_equal(run(s, s->b, sql_append(s, "x", -1, "Paid")), "2");
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, sql_append(s, "x", 2, "Paid")), "3");
    start(s, s->b, sql_append(s, "x", 2, "Paid"));
    blocked(s, s->b);
    run(s, s->a, "ROLLBACK");
    assert_string_equal(finish(s, s->b), "3"); /* nobody took it */
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, sql_append(s, "x", 3, "Paid")), "4");
    start(s, s->b, sql_append(s, "x", -1, "Paid"));
    blocked(s, s->b);
    run(s, s->a, "COMMIT");
    assert_string_equal(finish(s, s->b), "5"); /* wherever the stream has got to */
}

/* covers: B0.6 BX.8 */
static void an_event_that_commits_late_gets_a_position_behind_those_that_were_read(void **state) {
    struct scene *s = *state;
    run(s, s->a, "BEGIN");
    run(s, s->a, sql_append(s, "x", 0, "Created")); /* the lower numbers, still open */
    run(s, s->b, sql_append(s, "y", 0, "Created"));
    assert_string_equal(run(s, s->b, sql_stamp), "1/1");
    assert_string_equal(run(s, s->b, sql_all), "y1");
    assert_string_equal(run(s, s->b, sql_stamp), "0/1");
    run(s, s->a, "COMMIT");
    assert_string_equal(run(s, s->b, sql_stamp), "1/2");
    assert_string_equal(run(s, s->b, sql_all), "y1 x1");
}

static void an_open_transaction_stops_no_position_and_costs_none(void **state) {
    struct scene *s = *state;
    run(s, s->observer, "CREATE TABLE public.app (n integer)");
    run(s, s->c, "BEGIN; INSERT INTO public.app VALUES (1)"); /* an old id that will not end */
    for (int n = 1; n <= 5; n++) {
        run(s, s->b, sql_append(s, "x", n - 1, "Created"));
        assert_string_equal(run(s, s->b, sql_stamp), text(s, "1/%d", n));
    }
    run(s, s->c, sql_append(s, "z", 0, "Created")); /* under the old id */
    assert_string_equal(run(s, s->b, sql_stamp), "0/5");
    run(s, s->c, "ROLLBACK");
    assert_string_equal(run(s, s->b, sql_stamp), "0/5");
    run(s, s->c, "BEGIN; INSERT INTO public.app VALUES (2)");
    run(s, s->b, sql_append(s, "x", 5, "Created"));
    assert_string_equal(run(s, s->b, sql_stamp), "1/6");
    run(s, s->c, sql_append(s, "z", 0, "Created"));
    run(s, s->c, "COMMIT");
    assert_string_equal(run(s, s->b, sql_stamp), "1/7");
}

static void a_second_stamper_returns_at_once_and_a_dead_one_leaves_nothing_behind(void **state) {
    struct scene *s = *state;
    run(s, s->b, sql_append(s, "x", 0, "Created"));
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, sql_stamp), "1/1");
    assert_string_equal(run(s, s->b, sql_stamp), "0/0"); /* not blocked, and nothing is given twice */
    cut(s, &s->a);
    const char *again = "";
    for (int i = 0; i < 200 && strcmp(again, "1/1") != 0; i++) /* until the server has noticed */
        again = run(s, s->b, text(s, "SELECT pg_sleep(0.02); %s", sql_stamp));
    assert_string_equal(again, "1/1");
}

static const char sql_feed[] = "SELECT events || '/' || fed FROM pawl_internal.receptors_feed('{mail}', 100)";
static const char sql_fed[] = "SELECT string_agg(headers ->> 'stream', ' ' ORDER BY seq) FROM "
                              "pawl_internal.live_message WHERE kind = 2";

static const char *sql_receptor(struct scene *s, const char *pattern, const char *replace) {
    return text(s, "SELECT pawl_internal.receptor_register('mail', '{3}', '{%s}', true, %s)", pattern,
                replace);
}

/* covers: W27 */
static void a_receptor_gets_an_event_that_commits_late_and_none_twice(void **state) {
    struct scene *s = *state;
    assert_string_equal(run(s, s->observer, sql_receptor(s, "*", "false")), "1");
    run(s, s->a, "BEGIN");
    run(s, s->a, sql_append(s, "x", 0, "Created"));
    run(s, s->b, sql_append(s, "y", 0, "Created"));
    assert_string_equal(run(s, s->b, sql_stamp), "1/1");
    assert_string_equal(run(s, s->b, sql_feed), "1/1");
    run(s, s->a, "COMMIT");
    run(s, s->b, sql_append(s, "z", 0, "Created"));
    assert_string_equal(run(s, s->b, sql_stamp), "2/3");
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, sql_feed), "2/2");
    assert_string_equal(run(s, s->b, sql_feed), "0/0"); /* not blocked: somebody is at it */
    run(s, s->a, "ROLLBACK");
    assert_string_equal(run(s, s->observer, sql_fed), "y");
    assert_string_equal(run(s, s->b, sql_feed), "2/2"); /* the messages went with the position */
    assert_string_equal(run(s, s->a, sql_feed), "0/0");
    assert_string_equal(run(s, s->observer, sql_fed), "y x z");
}

static void two_registrations_of_one_receptor_agree(void **state) {
    struct scene *s = *state;
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, sql_receptor(s, "a*", "false")), "1");
    start(s, s->b, sql_receptor(s, "a*", "false"));
    blocked(s, s->b);
    start(s, s->c, sql_receptor(s, "b*", "true"));
    blocked(s, s->c);
    run(s, s->a, "COMMIT");
    const char *second = finish(s, s->b), *third = finish(s, s->c);
    assert_true(strcmp(second, "2") == 0 ||
                strcmp(second, "4") == 0); /* as it was, or as the third left it */
    assert_string_equal(third, "1");
    assert_string_equal(run(s, s->observer, "SELECT patterns FROM pawl_internal.receptor_list()"), "3 b*");
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, "SELECT pawl_internal.receptor_remove('mail')"), "1");
    start(s, s->b, sql_receptor(s, "a*", "false"));
    blocked(s, s->b);
    run(s, s->a, "COMMIT");
    assert_string_equal(finish(s, s->b), "1"); /* it is a new one */
}

static void an_append_and_a_registration_leave_nothing_between_them(void **state) {
    struct scene *s = *state;
    run(s, s->observer, "CREATE TABLE public.seen (stream text, version bigint)");
    run(s, s->a, "BEGIN");
    run(s, s->a, sql_append(s, "x", 0, "Created")); /* has seen no perspective */
    start(s, s->b, sql_register(s, "*"));
    blocked(s, s->b);
    run(s, s->a, "COMMIT");
    assert_string_equal(finish(s, s->b), "1");
    assert_string_equal(run(s, s->b, "SELECT pawl_internal.perspective_backfill('orders@1', 100)"), "t");
    assert_string_equal(run(s, s->b, "SELECT stream FROM pawl_internal.checkpoint"), "x");
    /* The other way round: an append that waits for a registration sees it. */
    run(s, s->observer, "SELECT pawl_internal.perspective_change('orders@1', 3::smallint, 1000)");
    run(s, s->b, "BEGIN");
    run(s, s->b, sql_register(s, "*"));
    start(s, s->a, sql_append(s, "y", 0, "Created"));
    blocked(s, s->a);
    run(s, s->b, "COMMIT");
    assert_string_equal(finish(s, s->a), "1");
    assert_string_equal(
        run(s, s->b, "SELECT string_agg(stream, ' ' ORDER BY stream) FROM pawl_internal.checkpoint"), "x y");
}

/* Not when its lease ends, which is minutes later. */
static void a_checkpoint_that_was_locked_when_its_holder_left_is_free_when_the_lock_is(void **state) {
    struct scene *s = *state;
    watch(s);
    enter(s, instance_1);
    enter(s, instance_2);
    run(s, s->observer, sql_append(s, "x", 0, "Created"));
    assert_non_null(strstr(run(s, s->a, sql_grant(s, instance_1, "x")), "x@"));
    run(s, s->a, "BEGIN");
    run(s, s->a, "SELECT 1 FROM pawl_internal.checkpoint FOR UPDATE");
    run(s, s->b, text(s, "SELECT pawl_internal.instance_deregister(%s)", instance_1)); /* waits for nobody */
    assert_string_equal(run(s, s->b, sql_grant(s, instance_2, NULL)), "");
    run(s, s->a, "ROLLBACK");
    assert_non_null(strstr(run(s, s->b, sql_grant(s, instance_2, NULL)), "x@"));
    run(s, s->b, sql_beat(s, 2));
    assert_string_equal(run(s, s->b, "SELECT bool_or(leftovers) FROM pawl_internal.instance"), "f");
}

/* covers: B0.2 */
static void a_wake_up_during_a_completion_is_not_lost(void **state) {
    struct scene *s = *state;
    watch(s);
    enter(s, instance_1);
    enter(s, instance_2);
    run(s, s->observer, sql_append(s, "x", 0, "Created"));
    const char *grant = run(s, s->a, sql_grant(s, instance_1, "x"));
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, sql_apply(s, grant)),
                        "1:1"); /* has looked: nothing more, not committed */
    run(s, s->observer, sql_append(s, "x", 1, "Paid"));
    assert_string_equal(run(s, s->b, sql_grant(s, instance_2, "x")),
                        "busy:x"); /* the message must come again */
    run(s, s->a, "COMMIT");
    const char *next = run(s, s->b, sql_grant(s, instance_2, "x"));
    assert_string_equal(run(s, s->b, sql_apply(s, next)), "1:2");
    assert_string_equal(run(s, s->b, "SELECT count(*) FROM public.seen"), "2");
}

/* covers: B0.2 */
static void a_wake_up_for_what_somebody_holds_is_seen_by_him(void **state) {
    struct scene *s = *state;
    watch(s);
    enter(s, instance_1);
    enter(s, instance_2);
    run(s, s->observer, sql_append(s, "x", 0, "Created"));
    const char *grant = run(s, s->a, sql_grant(s, instance_1, "x"));
    run(s, s->observer, sql_append(s, "x", 1, "Paid"));
    run(s, s->b, "BEGIN");
    assert_string_equal(run(s, s->b, sql_grant(s, instance_2, "x")), ""); /* held: neither granted nor busy */
    start(s, s->a, sql_apply(s, grant));
    blocked(s, s->a); /* it looks at the stream when the wake-up has been taken */
    run(s, s->b, "COMMIT");
    assert_string_equal(finish(s, s->a), "1:2");
    assert_string_equal(run(s, s->b, "SELECT count(*) FROM public.seen"), "2");
}

/* covers: B0.5 P14 */
static void a_late_worker_cannot_apply_after_another_has_the_stream(void **state) {
    struct scene *s = *state;
    watch(s);
    enter(s, instance_1);
    enter(s, instance_2);
    run(s, s->observer, sql_append(s, "x", 0, "Created"));
    const char *old = run(s, s->a, sql_grant(s, instance_1, "x"));
    move_clock(s, LEASE_MS);
    const char *fresh = run(s, s->b, sql_grant(s, instance_2, NULL));
    run(s, s->b, "BEGIN");
    assert_string_equal(run(s, s->b, sql_apply(s, fresh)), "1:1");
    start(s, s->a, sql_apply(s, old));
    blocked(s, s->a);
    run(s, s->b, "COMMIT");
    assert_string_equal(finish(s, s->a), "3:1");
    assert_string_equal(run(s, s->a, "SELECT count(*) FROM public.seen"), "1");
    /* And in the other order: the old one came first and holds the row; the new one must not get it
     * meanwhile. */
    run(s, s->observer, sql_append(s, "x", 1, "Paid"));
    const char *mine = run(s, s->a, sql_grant(s, instance_1, "x"));
    move_clock(s, LEASE_MS);
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, sql_apply(s, mine)), "1:2");
    assert_string_equal(run(s, s->b, sql_grant(s, instance_2, NULL)), "");
    run(s, s->a, "COMMIT");
    assert_string_equal(run(s, s->b, sql_grant(s, instance_2, NULL)), "");
    assert_string_equal(run(s, s->a, "SELECT count(*) FROM public.seen"), "2");
}

/* covers: B0.12 */
static void model_and_checkpoint_live_and_die_together(void **state) {
    struct scene *s = *state;
    watch(s);
    enter(s, instance_1);
    run(s, s->observer, sql_append(s, "x", 0, "Created"));
    const char *grant = run(s, s->a, sql_grant(s, instance_1, "x"));
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, sql_apply(s, grant)), "1:1");
    run(s, s->a, "ROLLBACK"); /* as a crash would */
    assert_string_equal(run(s, s->a, "SELECT count(*) FROM public.seen"), "0");
    assert_string_equal(run(s, s->a, sql_apply(s, grant)), "1:1");
    assert_string_equal(run(s, s->a, sql_apply(s, grant)), "3:1"); /* repeated: told so, applied once */
    assert_string_equal(run(s, s->a, "SELECT count(*) FROM public.seen"), "1");
}

static void a_producers_open_transaction_stops_no_worker(void **state) {
    struct scene *s = *state;
    watch(s);
    enter(s, instance_1);
    run(s, s->observer, sql_append(s, "x", 0, "Created"));
    run(s, s->a, "BEGIN");
    run(s, s->a, sql_append(s, "x", 1, "Paid"));
    const char *grant = run(s, s->b, sql_grant(s, instance_1, "x"));
    assert_string_equal(run(s, s->b, sql_apply(s, grant)), "1:1"); /* not blocked */
    run(s, s->a, "COMMIT");
    assert_string_equal(run(s, s->b, sql_apply(s, run(s, s->b, sql_grant(s, instance_1, "x")))), "1:2");
}

static const struct CMUnitTest tests[] = {
    SCENE_TEST(two_appends_to_one_stream_wait_for_one_another_and_leave_no_gap),
    SCENE_TEST(an_event_that_commits_late_gets_a_position_behind_those_that_were_read),
    SCENE_TEST(an_open_transaction_stops_no_position_and_costs_none),
    SCENE_TEST(a_second_stamper_returns_at_once_and_a_dead_one_leaves_nothing_behind),
    SCENE_TEST(a_receptor_gets_an_event_that_commits_late_and_none_twice),
    SCENE_TEST(two_registrations_of_one_receptor_agree),
    SCENE_TEST(an_append_and_a_registration_leave_nothing_between_them),
    SCENE_TEST(a_wake_up_during_a_completion_is_not_lost),
    SCENE_TEST(a_wake_up_for_what_somebody_holds_is_seen_by_him),
    SCENE_TEST(a_late_worker_cannot_apply_after_another_has_the_stream),
    SCENE_TEST(model_and_checkpoint_live_and_die_together),
    SCENE_TEST(a_checkpoint_that_was_locked_when_its_holder_left_is_free_when_the_lock_is),
    SCENE_TEST(a_producers_open_transaction_stops_no_worker),
};

RACES(events, tests);
