/* Rollups: buckets, what is taken and put back, and the quantiles of what was counted. */
#include "support/check.h"

#include <string.h>

#include "domain/rollup.h"

static const struct rollup_series handled = {ROLLUP_HANDLE, ROLLUP_INBOX, ROLLUP_DONE};

TEST(times_fall_into_their_buckets) {
    static struct rollups rollups;
    static struct rollup_cell cells[ROLLUP_CELLS_MAX];
    const int64_t took_us[] = {-5, 0, 100, 101, 1000, INT64_C(3600000000), INT64_C(86400000001)};
    const int64_t expected[ROLLUP_BUCKETS] = {[0] = 3, [1] = 1, [3] = 1, [24] = 1, [30] = 1};
    for (size_t i = 0; i < sizeof took_us / sizeof *took_us; i++)
        rollups_add_time(&rollups, handled, took_us[i]);
    rollups_add_count(&rollups, (struct rollup_series){ROLLUP_SPANS, ROLLUP_MESSAGES, ROLLUP_OTHER}, 7);
    size_t count = rollups_take(&rollups, cells);
    assert_int_equal(count, 6);
    struct rollup_histogram sums = rollup_histogram(cells, count, ROLLUP_HANDLE, ROLLUP_INBOX, -1);
    assert_memory_equal(sums.counts, expected, sizeof expected);
    assert_int_equal(sums.count, 7);
    assert_int_equal(sums.sum, INT64_C(90000001202));
    assert_int_equal(rollup_histogram(cells, count, ROLLUP_SPANS, -1, ROLLUP_OTHER).count, 7);
    assert_int_equal(rollup_histogram(cells, count, ROLLUP_HANDLE, ROLLUP_OUTBOX, -1).count, 0);

    static struct rollup_cell again[ROLLUP_CELLS_MAX];
    assert_int_equal(rollups_take(&rollups, again), 0);
    rollups_put_back(&rollups, cells, count);
    rollups_add_time(&rollups, handled, 50);
    count = rollups_take(&rollups, again);
    sums = rollup_histogram(again, count, ROLLUP_HANDLE, ROLLUP_INBOX, ROLLUP_DONE);
    assert_int_equal(sums.counts[0], 4);
    assert_int_equal(sums.sum, INT64_C(90000001252));
}

TEST(quantiles_lie_between_the_bounds) {
    struct rollup_histogram sums = {.count = 0};
    assert_true(rollup_quantile_ms(&sums, 500) < 0);
    sums.counts[6] = 100; /* 5 to 10 ms */
    sums.count = 100;
    assert_float_equal(rollup_quantile_ms(&sums, 500), 7.5, 0.001);
    assert_float_equal(rollup_quantile_ms(&sums, 990), 9.95, 0.001);
    sums.counts[12] = 100; /* half a second to one */
    sums.count = 200;
    assert_float_equal(rollup_quantile_ms(&sums, 500), 10, 0.001);
    assert_float_equal(rollup_quantile_ms(&sums, 750), 750, 0.001);
    sums.counts[ROLLUP_BUCKETS - 1] = 1000; /* longer than a day */
    sums.count = 1200;
    assert_float_equal(rollup_quantile_ms(&sums, 990), 86400000, 0.001);
}

TEST(a_quantile_is_near_what_it_stands_for) {
    for (int64_t took_us = 100; took_us <= INT64_C(86400000000); took_us *= 3) {
        static struct rollups rollups;
        static struct rollup_cell cells[ROLLUP_CELLS_MAX];
        for (int i = 0; i < 100; i++)
            rollups_add_time(&rollups, handled, took_us);
        size_t count = rollups_take(&rollups, cells);
        struct rollup_histogram sums = rollup_histogram(cells, count, ROLLUP_HANDLE, ROLLUP_INBOX, -1);
        for (int per_mille = 500; per_mille <= 990; per_mille += 490) {
            double found = rollup_quantile_ms(&sums, per_mille) * 1000.0 / (double)took_us;
            if (took_us > 100 && (found < 0.4 || found > 2.5))
                fail_msg("the quantile %d of %lld us is %f times that", per_mille, (long long)took_us, found);
        }
    }
}

TEST(a_difference_forgets_what_came_before) {
    struct rollup_histogram before = {.counts = {1, 2}, .count = 3, .sum = 10};
    struct rollup_histogram now = {.counts = {1, 5}, .count = 6, .sum = 40};
    struct rollup_histogram since = rollup_since(&now, &before);
    assert_int_equal(since.counts[1], 3);
    assert_int_equal(since.count, 3);
    assert_int_equal(since.sum, 30);
    since = rollup_since(&before, &now); /* another database: everything is new */
    assert_int_equal(since.count, 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_fall_into_their_buckets),
        cmocka_unit_test(quantiles_lie_between_the_bounds),
        cmocka_unit_test(a_quantile_is_near_what_it_stands_for),
        cmocka_unit_test(a_difference_forgets_what_came_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
