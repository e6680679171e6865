/* Rate control toward a source: limits, complaints, recovery. */
#include "support/check.h"

#include "domain/run/rate.h"

TEST(so_many_at_once_and_no_more) {
    struct run_rate rate;
    run_rate_init(&rate, &(struct run_rate_policy){.concurrency = 2});
    assert_int_equal(run_rate_ask(&rate, 1000), 0);
    assert_int_equal(run_rate_ask(&rate, 1000), 0);
    assert_true(run_rate_ask(&rate, 1000) > 0);
    run_rate_end(&rate, 1001, RUN_RATE_FINE, -1);
    assert_int_equal(run_rate_ask(&rate, 1001), 0);
}

TEST(requests_are_spread_over_the_time) {
    struct run_rate rate;
    int started = 0;
    run_rate_init(&rate, &(struct run_rate_policy){.rate = 10, .rate_ms = 1000});
    for (int64_t now_ms = 1000; now_ms < 6000; now_ms++) {
        while (run_rate_ask(&rate, now_ms) == 0) {
            started++;
            run_rate_end(&rate, now_ms, RUN_RATE_FINE, -1);
        }
    }
    assert_in_range(started, 49, 51);
}

TEST(retry_after_is_honoured_by_all) {
    struct run_rate rate;
    run_rate_init(&rate, &(struct run_rate_policy){.concurrency = 4, .adaptive = true});
    assert_int_equal(run_rate_ask(&rate, 1000), 0);
    assert_int_equal(run_rate_ask(&rate, 1000), 0);
    run_rate_end(&rate, 1100, RUN_RATE_THROTTLED, 7000);
    assert_int_equal(run_rate_ask(&rate, 1200), 6900);
    run_rate_end(&rate, 1300, RUN_RATE_THROTTLED, 1000); /* an earlier end does not shorten it */
    assert_int_equal(run_rate_ask(&rate, 2000), 6100);
    assert_int_equal(run_rate_ask(&rate, 8100), 0);
}

TEST(complaints_slow_down_once_per_volley_and_recovery_is_slow) {
    struct run_rate rate;
    int64_t now_ms = 10000;
    run_rate_init(
        &rate, &(struct run_rate_policy){.concurrency = 16, .rate = 100, .rate_ms = 1000, .adaptive = true});
    for (int i = 0; i < 8; i++)
        rate.running++;
    for (int i = 0; i < 8; i++)
        run_rate_end(&rate, now_ms + i, RUN_RATE_TIMEOUT, -1);
    assert_int_equal(rate.share, 500);
    assert_int_equal(run_rate_concurrency(&rate), 8);
    now_ms += 2000;
    rate.running++;
    run_rate_end(&rate, now_ms, RUN_RATE_THROTTLED, 10);
    assert_int_equal(rate.share, 250);
    int steps = 0;
    for (int before = rate.share; rate.share < RUN_RATE_FULL; now_ms += 100) {
        rate.running++;
        run_rate_end(&rate, now_ms, RUN_RATE_FINE, -1);
        assert_true(rate.share - before <= RUN_RATE_STEP);
        steps += rate.share > before;
        before = rate.share;
    }
    assert_int_equal(steps, 15);
    assert_true(now_ms - 12000 >= 15 * RUN_RATE_CALM_MS);
}

TEST(it_never_stops_altogether) {
    struct run_rate rate;
    int64_t now_ms = 1000;
    run_rate_init(&rate,
                  &(struct run_rate_policy){.concurrency = 2, .rate = 1, .rate_ms = 1000, .adaptive = true});
    for (int i = 0; i < 100; i++, now_ms += 5000) {
        rate.running++;
        run_rate_end(&rate, now_ms, RUN_RATE_TIMEOUT, -1);
    }
    assert_int_equal(rate.share, RUN_RATE_LOW);
    assert_int_equal(run_rate_concurrency(&rate), 1);
    int64_t wait_ms = run_rate_ask(&rate, now_ms);
    assert_int_equal(wait_ms, 0);
    run_rate_end(&rate, now_ms, RUN_RATE_FINE, -1);
    assert_int_equal(run_rate_ask(&rate, now_ms), 50000); /* one per second at 2 % */
}

TEST(a_429_without_a_time_pauses_longer_each_time) {
    struct run_rate rate;
    run_rate_init(&rate, &(struct run_rate_policy){.adaptive = true});
    int64_t now_ms = 1000, expected_ms = 1000;
    for (int i = 0; i < 8; i++) {
        assert_int_equal(run_rate_ask(&rate, now_ms), 0);
        run_rate_end(&rate, now_ms, RUN_RATE_THROTTLED, -1);
        assert_int_equal(run_rate_ask(&rate, now_ms), expected_ms);
        now_ms += expected_ms;
        expected_ms = expected_ms * 2 < 60000 ? expected_ms * 2 : 60000;
    }
    assert_int_equal(run_rate_ask(&rate, now_ms), 0);
    run_rate_end(&rate, now_ms, RUN_RATE_FINE, -1);
    assert_int_equal(run_rate_ask(&rate, now_ms), 0);
    run_rate_end(&rate, now_ms, RUN_RATE_THROTTLED, -1);
    assert_int_equal(run_rate_ask(&rate, now_ms), 1000);
}

TEST(who_does_not_adapt_keeps_its_share) {
    struct run_rate rate;
    run_rate_init(&rate, &(struct run_rate_policy){.concurrency = 4});
    assert_int_equal(run_rate_ask(&rate, 1000), 0);
    run_rate_end(&rate, 1000, RUN_RATE_TIMEOUT, -1);
    assert_int_equal(rate.share, RUN_RATE_FULL);
    assert_int_equal(run_rate_ask(&rate, 1000), 0);
    run_rate_end(&rate, 1000, RUN_RATE_OTHER, -1);
    assert_int_equal(rate.running, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(so_many_at_once_and_no_more),
        cmocka_unit_test(requests_are_spread_over_the_time),
        cmocka_unit_test(retry_after_is_honoured_by_all),
        cmocka_unit_test(complaints_slow_down_once_per_volley_and_recovery_is_slow),
        cmocka_unit_test(it_never_stops_altogether),
        cmocka_unit_test(a_429_without_a_time_pauses_longer_each_time),
        cmocka_unit_test(who_does_not_adapt_keeps_its_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
