/* Alerts: two who ask for the turn, a late end against a new turn, a changed rule against an end, two who
 * deliver. */
#include "interleave/calls.h"
#include "interleave/races.h"

enum { INTERVAL_MS = 15000 };

static const char sql_take[] = "SELECT taken || '/' || token FROM pawl_internal.alert_turn_take(15000)";
static const char sql_change[] =
    "SELECT pawl_internal.alert_rule_put('error-rate', 'error_rate_percent', NULL, "
    "'log', 1::smallint, 1::smallint, 30, 30, 0, 0, true, 0, 200)";
static const char sql_news[] = "SELECT pawl_internal.alert_tell('{01900000-0000-7000-8000-000000000001}', "
                               "'{error-rate}', '{1}', '{7}', '{\"{}\"}', "
                               "'{01900000-0000-7000-8000-000000000001}', '{pager}')";
static const char sql_deliver[] =
    "SELECT notice || '@' || token FROM pawl_internal.alert_notices_take('pager', 60000, 10)";

static const char *sql_end(struct scene *s, const char *taken) {
    return text(s,
                "SELECT pawl_internal.alert_turn_end(%s, '', '{error-rate}', '{1}', '{2}', '{1}', '{0}', "
                "'{1}', '{50}', 1000)",
                strchr(taken, '/') + 1);
}

/* covers: J40 */
static void two_who_ask_at_the_same_time_evaluate_once(void **state) {
    struct scene *s = *state;
    run(s, s->a, "BEGIN");
    const char *first = run(s, s->a, sql_take);
    assert_true(strncmp(first, "true/", 5) == 0);
    start(s, s->b, sql_take);
    blocked(s, s->b); /* it has seen that a turn is due, and must not believe it */
    run(s, s->a, "COMMIT");
    assert_string_equal(finish(s, s->b), "false/0");
    move_clock(s, INTERVAL_MS);
    run(s, s->a, "BEGIN");
    assert_true(strncmp(run(s, s->a, sql_take), "true/", 5) == 0);
    start(s, s->b, sql_take);
    blocked(s, s->b);
    run(s, s->a, "ROLLBACK"); /* the first one died: the turn is the other's */
    assert_true(strncmp(finish(s, s->b), "true/", 5) == 0);
}

static void an_end_that_comes_late_writes_nothing(void **state) {
    struct scene *s = *state;
    const char *old = run(s, s->a, sql_take);
    move_clock(s, INTERVAL_MS);
    run(s, s->b, "BEGIN");
    const char *new = run(s, s->b, sql_take);
    start(s, s->a, sql_end(s, old));
    blocked(s, s->a);
    run(s, s->b, "COMMIT");
    assert_string_equal(finish_error(s, s->a), "PW004");
    assert_string_equal(
        run(s, s->observer, "SELECT phase FROM pawl_internal.alert_rule WHERE name = 'error-rate'"), "1");
    run(s, s->b, sql_end(s, new));
    assert_string_equal(
        run(s, s->observer, "SELECT phase FROM pawl_internal.alert_rule WHERE name = 'error-rate'"), "2");
}

static void a_rule_that_is_being_changed_undoes_the_end(void **state) {
    struct scene *s = *state;
    const char *turn = run(s, s->a, sql_take);
    run(s, s->b, "BEGIN");
    assert_string_equal(run(s, s->b, sql_change), "2");
    start(s, s->a, sql_end(s, turn));
    blocked(s, s->a);
    run(s, s->b, "COMMIT");
    assert_string_equal(finish_error(s, s->a), "PW003");
    assert_string_equal(
        run(s, s->observer, "SELECT phase FROM pawl_internal.alert_rule WHERE name = 'error-rate'"), "1");
}

static void a_delivery_goes_to_one_of_two(void **state) {
    struct scene *s = *state;
    run(s, s->observer, sql_news);
    run(s, s->a, "BEGIN");
    const char *mine = run(s, s->a, sql_deliver);
    assert_true(strncmp(mine, "1@", 2) == 0);
    assert_string_equal(run(s, s->b, sql_deliver), ""); /* not blocked, and nothing is given twice */
    run(s, s->a, "COMMIT");
    assert_string_equal(run(s, s->b, sql_deliver), "");
    run(s, s->a, text(s, "SELECT pawl_internal.alert_notice_end(1, %s, 2::smallint, 0, NULL)", mine + 2));
    assert_string_equal(run(s, s->observer, "SELECT state FROM pawl_internal.alert_notice"), "2");
}

static const struct CMUnitTest tests[] = {
    SCENE_TEST(two_who_ask_at_the_same_time_evaluate_once),
    SCENE_TEST(an_end_that_comes_late_writes_nothing),
    SCENE_TEST(a_rule_that_is_being_changed_undoes_the_end),
    SCENE_TEST(a_delivery_goes_to_one_of_two),
};
RACES(alerts, tests);
