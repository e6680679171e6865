/* Series: what is counted by name, what has no room for its name, how fine a step is, how far a quantile is
 * off. */
#include "support/check.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "domain/series.h"

static const struct series_point *found(const struct series_point *points, size_t count, int scope,
                                        const char *name) {
    for (size_t i = 0; i < count; i++)
        if (points[i].scope == scope && str_equal(points[i].name, str_from(name)))
            return &points[i];
    return NULL;
}

static void what_is_counted_is_taken_once(void **state) {
    (void)state;
    static struct series_sums sums;
    struct series_point points[2 + SERIES_SUMS_MAX], again[2 + SERIES_SUMS_MAX];
    const struct series_name mail = {SERIES_QUEUE, ROLLUP_JOB, STR("mail")},
                             order = {SERIES_HANDLER, ROLLUP_OUTBOX, STR("order.created")};
    series_waited(&sums, &mail, 90);
    series_handled(&sums, &mail, ROLLUP_DONE, 300);
    series_handled(&sums, &mail, ROLLUP_PERMANENT, 300);
    series_handled(&sums, &order, ROLLUP_OTHER, 300);
    size_t count = series_take(&sums, points);
    assert_int_equal(count, 2);
    const struct series_point *point = found(points, count, SERIES_QUEUE, "mail");
    assert_non_null(point);
    assert_int_equal(point->done, 1);
    assert_int_equal(point->failed, 1);
    assert_int_equal(point->wait[0], 1);
    assert_int_equal(point->handle[rollup_bucket(300)], 2);
    point = found(points, count, SERIES_HANDLER, "order.created");
    assert_int_equal(point->done + point->failed, 0);
    assert_int_equal(point->handle[rollup_bucket(300)], 1);
    assert_int_equal(series_take(&sums, again), 0);
    series_put_back(&sums, points, count);
    assert_int_equal(series_take(&sums, again), 2);
    assert_int_equal(found(again, 2, SERIES_QUEUE, "mail")->handle[rollup_bucket(300)], 2);
}

static void what_has_no_room_is_counted_together(void **state) {
    (void)state;
    static struct series_sums sums;
    struct series_point points[2 + SERIES_SUMS_MAX];
    char name[SERIES_NAME_BYTES + 2];
    int64_t handled = 0;
    for (int i = 0; i < 2 * SERIES_SUMS_MAX; i++) {
        snprintf(name, sizeof name, "queue-%d", i);
        series_handled(&sums, &(struct series_name){SERIES_QUEUE, ROLLUP_JOB, str_from(name)}, ROLLUP_DONE,
                       1);
    }
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    series_handled(&sums, &(struct series_name){SERIES_HANDLER, ROLLUP_JOB, str_from(name)}, ROLLUP_DONE, 1);
    size_t count = series_take(&sums, points);
    assert_int_equal(count, SERIES_SUMS_MAX + 2);
    for (size_t i = 0; i < count; i++)
        handled += points[i].done;
    assert_int_equal(handled, 2 * SERIES_SUMS_MAX + 1);
    assert_int_equal(found(points, count, SERIES_QUEUE, "")->done, SERIES_SUMS_MAX);
    assert_int_equal(found(points, count, SERIES_HANDLER, "")->done, 1);
}

static void a_step_is_as_fine_as_what_is_kept(void **state) {
    (void)state;
    const int64_t hour_ms = 3600000, day_ms = 24 * hour_ms;
    assert_int_equal(series_step_ms(1, hour_ms), SERIES_STEP_MS);
    assert_int_equal(series_step_ms(25000, hour_ms), 30000);
    assert_int_equal(series_step_ms(SERIES_STEP_MS, 2 * hour_ms), SERIES_MINUTE_MS);
    assert_int_equal(series_step_ms(SERIES_STEP_MS, day_ms), SERIES_MINUTE_MS);
    assert_int_equal(series_step_ms(SERIES_STEP_MS, 2 * day_ms), SERIES_QUARTER_MS);
    assert_int_equal(series_step_ms(hour_ms, 2 * day_ms), hour_ms);
}

/* From a tenth of a millisecond to a day: the quantile is in the bucket of the true one. */
static void a_quantile_is_off_by_a_factor_of_at_most_two_and_a_half(void **state) {
    (void)state;
    for (double true_us = 101; true_us < 86400e6; true_us *= 1.37) {
        struct rollup_histogram histogram = {.count = 10};
        histogram.counts[rollup_bucket((int64_t)true_us)] = 10;
        for (int per_mille = 1; per_mille <= 1000; per_mille += 111) {
            double told_us = rollup_quantile_ms(&histogram, per_mille) * 1000;
            double factor = told_us > true_us ? told_us / true_us : true_us / told_us;
            assert_true(factor <= 2.5001);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_counted_is_taken_once),
        cmocka_unit_test(what_has_no_room_is_counted_together),
        cmocka_unit_test(a_step_is_as_fine_as_what_is_kept),
        cmocka_unit_test(a_quantile_is_off_by_a_factor_of_at_most_two_and_a_half),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
