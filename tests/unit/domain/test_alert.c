/* Alert rules: when they fire and resolve, when targets are notified, and sums for rates. */
#include "support/check.h"

#include "base/limits.h"
#include "base/str.h"
#include "domain/alert.h"

static const struct alert_rule rule = {.side = ALERT_ABOVE,
                                       .severity = ALERT_WARNING,
                                       .threshold = 100,
                                       .clear_threshold = 80,
                                       .for_ms = 1000,
                                       .clear_ms = 2000,
                                       .enabled = true};

static struct alert_move step(struct alert_state *state, int64_t value, int64_t now_ms) {
    return alert_step(&rule, false, value, now_ms, state);
}

/* covers: J40 */
static void a_rule_fires_after_its_time_and_is_over_after_its_time(void **state) {
    (void)state;
    struct alert_state s = {.phase = ALERT_OK};
    assert_int_equal(step(&s, 100, 10000).event, ALERT_NOTHING); /* at the threshold is not beyond it */
    assert_int_equal(s.turning_ms, 0);
    assert_int_equal(step(&s, 101, 11000).event, ALERT_NOTHING);
    assert_int_equal(s.turning_ms, 11000);
    assert_int_equal(step(&s, 101, 11999).event, ALERT_NOTHING);
    struct alert_move move = step(&s, 150, 12000);
    assert_true(move.event == ALERT_FIRED && move.tell);
    assert_true(s.phase == ALERT_FIRING && s.since_ms == 12000 && s.value == 150 && s.told);
    assert_int_equal(step(&s, 90, 13000).event, ALERT_NOTHING); /* below the threshold, not yet at 80 */
    assert_int_equal(s.turning_ms, 0);
    assert_int_equal(step(&s, 80, 14000).event, ALERT_NOTHING);
    assert_int_equal(step(&s, 81, 15000).event, ALERT_NOTHING); /* back again: the wait starts over */
    assert_int_equal(step(&s, 80, 16000).event, ALERT_NOTHING);
    assert_int_equal(step(&s, 80, 17999).event, ALERT_NOTHING);
    move = step(&s, 80, 18000);
    assert_true(move.event == ALERT_RESOLVED && move.tell && s.phase == ALERT_OK && !s.told);
}

static void a_value_that_swings_fires_once(void **state) {
    (void)state;
    struct alert_state s = {.phase = ALERT_OK};
    int fired = 0, resolved = 0;
    for (int64_t now_ms = 1000; now_ms < 100000; now_ms += 500) {
        struct alert_move move = step(&s, now_ms < 3000 || now_ms % 1000 == 0 ? 120 : 70, now_ms);
        fired += move.event == ALERT_FIRED;
        resolved += move.event == ALERT_RESOLVED;
    }
    assert_true(fired == 1 && resolved == 0);
}

static void a_silenced_rule_fires_unheard_and_is_told_when_the_silence_is_over(void **state) {
    (void)state;
    struct alert_state s = {.phase = ALERT_OK};
    alert_step(&rule, true, 200, 1000, &s);
    struct alert_move move = alert_step(&rule, true, 200, 2000, &s);
    assert_true(move.event == ALERT_FIRED && !move.tell && !s.told);
    assert_int_equal(alert_step(&rule, true, 200, 3000, &s).event, ALERT_NOTHING);
    move = alert_step(&rule, false, 200, 4000, &s);
    assert_true(move.event == ALERT_FIRED && move.tell && s.told && s.since_ms == 2000);
    s = (struct alert_state){.phase = ALERT_OK};
    alert_step(&rule, true, 200, 1000, &s);
    alert_step(&rule, true, 200, 2000, &s);
    alert_step(&rule, true, 0, 3000, &s);
    move = alert_step(&rule, true, 0, 5000, &s);
    assert_true(move.event == ALERT_RESOLVED && !move.tell); /* it was not announced when it fired */
}

static void a_rule_that_is_switched_off_is_over_at_once(void **state) {
    (void)state;
    struct alert_rule off = rule;
    struct alert_state s = {.phase = ALERT_FIRING, .since_ms = 1, .told = true};
    off.enabled = false;
    struct alert_move move = alert_step(&off, false, 500, 9000, &s);
    assert_true(move.event == ALERT_RESOLVED && move.tell && s.phase == ALERT_OK);
    assert_int_equal(alert_step(&off, false, 500, 99000, &s).event, ALERT_NOTHING);
}

static void below_is_the_other_side(void **state) {
    (void)state;
    struct alert_rule low = {.side = ALERT_BELOW, .threshold = 1, .clear_threshold = 3, .enabled = true};
    struct alert_state s = {.phase = ALERT_OK};
    assert_int_equal(alert_step(&low, false, 1, 1000, &s).event, ALERT_NOTHING);
    assert_int_equal(alert_step(&low, false, 0, 2000, &s).event, ALERT_FIRED);
    assert_int_equal(alert_step(&low, false, 2, 3000, &s).event, ALERT_NOTHING);
    assert_int_equal(alert_step(&low, false, 3, 4000, &s).event, ALERT_RESOLVED);
}

static void every_rule_of_a_new_schema_is_a_right_one(void **state) {
    (void)state;
    pawl_error err;
    for (size_t i = 0; i < alert_defaults_count; i++) {
        assert_int_equal(alert_rule_check(&alert_defaults[i], &err), PAWL_OK);
        assert_true(i == 0 || str_compare(alert_defaults[i - 1].name, alert_defaults[i].name) < 0);
    }
    for (int i = 0; i < METRIC_COUNT; i++)
        assert_int_equal(alert_metric_find(str_from(alert_metrics[i].name)), i);
    assert_int_equal(alert_metric_find(STR("mood")), METRIC_COUNT);
}

static void sums_reach_back_one_window(void **state) {
    (void)state;
    struct alert_window window = {.count = 0}, again;
    struct alert_totals now = {.at_ms = 0};
    for (int i = 0; i <= 100; i++) {
        now =
            (struct alert_totals){.at_ms = i * 15000, .done = i * 10, .failed = i, .lost = i, .stale = 2 * i};
        alert_window_add(&window, &now);
    }
    struct alert_totals sums = alert_window_sums(&window, &now);
    assert_int_equal(sums.done, 200); /* 20 steps of 15 s are 5 minutes */
    assert_true(sums.failed == 20 && sums.lost == 20 && sums.stale == 40);
    struct buf text;
    buf_init(&text, 0);
    alert_window_write(&window, &text);
    alert_window_read(&again, buf_str(&text));
    assert_int_equal(again.count, window.count);
    assert_memory_equal(again.samples, window.samples, window.count * sizeof *window.samples);
    buf_free(&text);
    alert_window_read(&again, STR("not a window"));
    assert_int_equal(again.count, 0);
    assert_int_equal(alert_window_sums(&again, &now).done, 0);
    now.done = 5; /* a restored database counts less */
    assert_int_equal(alert_window_sums(&window, &now).done, 0);
}

static void a_window_of_fast_evaluations_stays_small(void **state) {
    (void)state;
    struct alert_window window = {.count = 0};
    for (int i = 0; i < 5000; i++) {
        struct alert_totals now = {.at_ms = i * 100, .done = i};
        alert_window_add(&window, &now);
        assert_true(window.count <= ALERT_WINDOW_SAMPLES);
    }
    struct alert_totals last = {.at_ms = 499900, .done = 4999};
    int64_t span_ms = last.at_ms - alert_window_sums(&window, &last).at_ms;
    assert_in_range(span_ms, PAWL_ALERT_WINDOW_MS, PAWL_ALERT_WINDOW_MS + 20000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rule_fires_after_its_time_and_is_over_after_its_time),
        cmocka_unit_test(a_value_that_swings_fires_once),
        cmocka_unit_test(a_silenced_rule_fires_unheard_and_is_told_when_the_silence_is_over),
        cmocka_unit_test(a_rule_that_is_switched_off_is_over_at_once),
        cmocka_unit_test(below_is_the_other_side),
        cmocka_unit_test(every_rule_of_a_new_schema_is_a_right_one),
        cmocka_unit_test(sums_reach_back_one_window),
        cmocka_unit_test(a_window_of_fast_evaluations_stays_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
