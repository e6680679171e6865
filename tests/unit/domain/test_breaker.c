/* The circuit breaker: when it opens, how long it stays so, and the one call that tries. */
#include "support/check.h"

#include "domain/failure/retry.h"

static void fail_often(struct breaker *breaker, int times, int64_t now_ms) {
    for (int i = 0; i < times; i++) {
        int64_t wait_ms = 0;
        assert_true(breaker_allows(breaker, now_ms, &wait_ms));
        breaker_report(breaker, &breaker_rule_default, false, now_ms, 7);
    }
}

TEST(it_opens_after_five_failures_in_a_row) {
    struct breaker breaker = {0};
    int64_t wait_ms = 0;
    fail_often(&breaker, BREAKER_FAILURES - 1, 1000);
    breaker_report(&breaker, &breaker_rule_default, true, 1000,
                   7); /* a success in between counts from the start */
    fail_often(&breaker, BREAKER_FAILURES, 1000);
    assert_false(breaker_allows(&breaker, 1000, &wait_ms));
    assert_in_range(wait_ms, BREAKER_WAIT_MS / 2, BREAKER_WAIT_MS);
}

TEST(one_call_tries_and_the_others_wait_for_it) {
    struct breaker breaker = {0};
    int64_t wait_ms = 0;
    fail_often(&breaker, BREAKER_FAILURES, 0);
    assert_true(breaker_allows(&breaker, BREAKER_WAIT_MS, &wait_ms));
    assert_false(breaker_allows(&breaker, BREAKER_WAIT_MS, &wait_ms));
    assert_true(wait_ms > 0);
    breaker_report(&breaker, &breaker_rule_default, true, BREAKER_WAIT_MS, 7);
    assert_true(breaker_allows(&breaker, BREAKER_WAIT_MS, &wait_ms));
    assert_int_equal(breaker.failures, 0);
}

TEST(it_stays_open_longer_each_time_up_to_a_bound) {
    struct breaker breaker = {0};
    int64_t now_ms = 0, wait_ms = 0, longest_ms = 0;
    fail_often(&breaker, BREAKER_FAILURES, now_ms);
    for (int i = 0; i < 100; i++) {
        assert_false(breaker_allows(&breaker, now_ms, &wait_ms));
        if (wait_ms > longest_ms)
            longest_ms = wait_ms;
        now_ms += wait_ms;
        assert_true(breaker_allows(&breaker, now_ms, &wait_ms));
        breaker_report(&breaker, &breaker_rule_default, false, now_ms, (uint64_t)i * 2654435761u);
    }
    assert_in_range(longest_ms, BREAKER_WAIT_MS_MAX / 2, BREAKER_WAIT_MS_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_opens_after_five_failures_in_a_row),
        cmocka_unit_test(one_call_tries_and_the_others_wait_for_it),
        cmocka_unit_test(it_stays_open_longer_each_time_up_to_a_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
