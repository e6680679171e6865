/* Schedules: ticks, bounds, jitter, and missed ticks. */
#include "support/check.h"

#include <string.h>

#include "base/str.h"
#include "domain/time/schedule.h"

static struct schedule *compiled(struct schedule_rule rule) {
    struct schedule *schedule = NULL;
    pawl_error err;
    if (schedule_compile(&rule, NULL, &schedule, &err) != PAWL_OK)
        fail_msg("%s", err.text);
    return schedule;
}

static void assert_refused(struct schedule_rule rule, const char *reason) {
    struct schedule *schedule = NULL;
    pawl_error err;
    assert_int_equal(schedule_compile(&rule, NULL, &schedule, &err), PAWL_INVALID);
    assert_null(schedule);
    if (strstr(err.text, reason) == NULL)
        fail_msg("%s", err.text);
}

enum { MINUTE_MS = 60000, HOUR_MS = 3600000 };

TEST(once_fires_once) {
    struct schedule *once = compiled((struct schedule_rule){.kind = SCHEDULE_ONCE, .at_ms = 5000});
    int64_t tick_ms = 0;
    assert_true(schedule_next(once, 0, &tick_ms) && tick_ms == 5000);
    assert_false(schedule_next(once, 5000, &tick_ms));
    assert_true(schedule_previous(once, 5001, &tick_ms) && tick_ms == 5000);
    assert_false(schedule_previous(once, 5000, &tick_ms));
    struct schedule_fires fires;
    schedule_fires(once, 0, 4999, &fires);
    assert_true(fires.count == 0 && !fires.ended && fires.next_ms == 5000 && fires.handled_ms == 0);
    schedule_fires(once, 0, 9000000, &fires);
    assert_true(fires.count == 1 && fires.ticks_ms[0] == 5000 && fires.ended && fires.handled_ms == 5000);
    schedule_fires(once, 5000, 9000000, &fires);
    assert_true(fires.count == 0 && fires.ended && fires.handled_ms == 5000);
    schedule_free(once);
}

TEST(intervals_count_from_their_tick) {
    struct schedule *every = compiled((struct schedule_rule){.kind = SCHEDULE_INTERVAL,
                                                             .interval_ms = 7000,
                                                             .at_ms = 100500,
                                                             .start_ms = 90000,
                                                             .end_ms = 107501});
    int64_t ticks_ms[10];
    assert_int_equal(schedule_preview(every, 0, ticks_ms, 10), 3);
    assert_int_equal(ticks_ms[0], 93500);
    assert_int_equal(ticks_ms[2], 107500);
    assert_true(schedule_previous(every, INT64_MAX, ticks_ms) && ticks_ms[0] == 107500);
    assert_false(schedule_previous(every, 93500, ticks_ms));
    schedule_free(every);
}

TEST(start_and_end_bound_cron) {
    struct schedule *daily = compiled((struct schedule_rule){.kind = SCHEDULE_CRON,
                                                             .cron = STR("@daily"),
                                                             .zone = STR("Europe/Berlin"),
                                                             .start_ms = INT64_C(1774652400001),
                                                             .end_ms = INT64_C(1774908000000)});
    int64_t ticks_ms[10];
    /* 2026-03-28T00:00+01:00 is a millisecond too early, 2026-03-31T00:00+02:00 is the end itself. */
    assert_int_equal(schedule_preview(daily, 0, ticks_ms, 10), 2);
    assert_int_equal(ticks_ms[0], INT64_C(1774738800000)); /* 2026-03-29T00:00+01:00 */
    assert_int_equal(ticks_ms[1], INT64_C(1774821600000)); /* 2026-03-30T00:00+02:00 */
    assert_string_equal(schedule_rule(daily)->zone.ptr, "Europe/Berlin");
    assert_string_equal(schedule_rule(daily)->cron.ptr, "@daily");
    schedule_free(daily);
}

static struct schedule_fires fires_of(enum schedule_missed missed, int missed_max, int64_t after_ms,
                                      int64_t now_ms) {
    struct schedule *hourly = compiled((struct schedule_rule){.kind = SCHEDULE_CRON,
                                                              .cron = STR("0 * * * *"),
                                                              .missed = missed,
                                                              .missed_max = missed_max,
                                                              .late_ms = MINUTE_MS});
    struct schedule_fires fires;
    schedule_fires(hourly, after_ms, now_ms, &fires);
    schedule_free(hourly);
    return fires;
}

TEST(missed_ticks_follow_the_policy) {
    int64_t now_ms = 10 * HOUR_MS + 5 * MINUTE_MS;
    struct schedule_fires fires = fires_of(SCHEDULE_MISSED_ONE, 0, 3 * HOUR_MS, now_ms);
    assert_true(fires.count == 1 && fires.ticks_ms[0] == 10 * HOUR_MS && fires.dropped == 6);
    assert_true(fires.handled_ms == 10 * HOUR_MS && fires.next_ms == 11 * HOUR_MS);
    fires = fires_of(SCHEDULE_MISSED_SKIP, 0, 3 * HOUR_MS, now_ms);
    assert_true(fires.count == 0 && fires.dropped == 7 && fires.handled_ms == 10 * HOUR_MS);
    fires = fires_of(SCHEDULE_MISSED_SKIP, 0, 3 * HOUR_MS, 10 * HOUR_MS + MINUTE_MS);
    assert_true(fires.count == 1 && fires.ticks_ms[0] == 10 * HOUR_MS && fires.dropped == 6);
    fires = fires_of(SCHEDULE_MISSED_ALL, 3, 3 * HOUR_MS, now_ms);
    assert_true(fires.count == 3 && fires.ticks_ms[0] == 8 * HOUR_MS && fires.ticks_ms[2] == 10 * HOUR_MS);
    assert_int_equal(fires.dropped, 4);
    fires = fires_of(SCHEDULE_MISSED_ALL, 1000, 3 * HOUR_MS, now_ms);
    assert_true(fires.count == 7 && fires.dropped == 0);
    fires = fires_of(SCHEDULE_MISSED_ALL, 0, 10 * HOUR_MS, now_ms);
    assert_true(fires.count == 0 && fires.dropped == 0 && fires.handled_ms == 10 * HOUR_MS);
}

TEST(a_year_of_seconds_is_no_storm) {
    struct schedule *every = compiled((struct schedule_rule){.kind = SCHEDULE_CRON,
                                                             .cron = STR("* * * * * *"),
                                                             .missed = SCHEDULE_MISSED_ALL,
                                                             .missed_max = PAWL_SCHEDULE_MISSED_MAX});
    struct schedule_fires fires;
    schedule_fires(every, 0, INT64_C(31536000000), &fires);
    assert_int_equal(fires.count, PAWL_SCHEDULE_MISSED_MAX);
    assert_int_equal(fires.dropped, PAWL_SCHEDULE_COUNT_MAX);
    assert_int_equal(fires.handled_ms, INT64_C(31536000000));
    schedule_free(every);
}

/* The delay of a tick is always the same; different ticks and schedules spread over the whole range. */
TEST(jitter_is_the_same_for_everybody_and_spreads) {
    struct schedule *every = compiled(
        (struct schedule_rule){.kind = SCHEDULE_INTERVAL, .interval_ms = MINUTE_MS, .jitter_ms = 9999});
    pawl_uuid id = {{1, 2, 3}};
    int buckets[10] = {0};
    for (int64_t tick_ms = 0; tick_ms < 10000 * (int64_t)MINUTE_MS; tick_ms += MINUTE_MS) {
        int64_t delay_ms = schedule_due_ms(every, &id, tick_ms) - tick_ms;
        assert_true(delay_ms >= 0 && delay_ms <= 9999);
        assert_int_equal(schedule_due_ms(every, &id, tick_ms), tick_ms + delay_ms);
        buckets[delay_ms / 1000]++;
    }
    for (int i = 0; i < 10; i++)
        assert_in_range(buckets[i], 850, 1150);
    pawl_uuid other = {{1, 2, 4}};
    assert_int_not_equal(schedule_due_ms(every, &id, 0), schedule_due_ms(every, &other, 0));
    schedule_free(every);
    struct schedule *exact =
        compiled((struct schedule_rule){.kind = SCHEDULE_INTERVAL, .interval_ms = MINUTE_MS});
    assert_int_equal(schedule_due_ms(exact, &id, MINUTE_MS), MINUTE_MS);
    schedule_free(exact);
}

TEST(rules_that_make_no_sense_are_refused) {
    assert_refused((struct schedule_rule){0}, "is neither once, nor an interval, nor cron");
    assert_refused((struct schedule_rule){.kind = SCHEDULE_ONCE}, "its time is missing");
    assert_refused((struct schedule_rule){.kind = SCHEDULE_INTERVAL, .interval_ms = 999},
                   "between 1 second and");
    assert_refused((struct schedule_rule){.kind = SCHEDULE_CRON, .cron = STR("* * * *")}, "has 4 fields");
    assert_refused(
        (struct schedule_rule){.kind = SCHEDULE_CRON, .cron = STR("@daily"), .zone = STR("Nowhere")},
        "there is no time zone 'Nowhere'");
    assert_refused(
        (struct schedule_rule){.kind = SCHEDULE_CRON, .cron = STR("@daily"), .start_ms = 5, .end_ms = 4},
        "ends before it starts");
    assert_refused(
        (struct schedule_rule){.kind = SCHEDULE_CRON, .cron = STR("@daily"), .start_ms = 1, .end_ms = 4},
        "has no tick between its start and its end");
    assert_refused((struct schedule_rule){.kind = SCHEDULE_CRON, .cron = STR("@daily"), .jitter_ms = -1},
                   "jitter");
    assert_refused((struct schedule_rule){.kind = SCHEDULE_CRON, .cron = STR("@daily"), .missed_max = 1001},
                   "1000 missed");
    assert_refused((struct schedule_rule){.kind = SCHEDULE_CRON, .cron = STR("@daily"), .late_ms = -1},
                   "lateness");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(once_fires_once),
        cmocka_unit_test(intervals_count_from_their_tick),
        cmocka_unit_test(start_and_end_bound_cron),
        cmocka_unit_test(missed_ticks_follow_the_policy),
        cmocka_unit_test(a_year_of_seconds_is_no_storm),
        cmocka_unit_test(jitter_is_the_same_for_everybody_and_spreads),
        cmocka_unit_test(rules_that_make_no_sense_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
