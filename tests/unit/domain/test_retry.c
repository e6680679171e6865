/* Backoff: the sequence, the limit, the jitter. */
#include "support/check.h"

#include <limits.h>

#include "domain/failure/retry.h"

/* covers: J09 */
TEST(doubles_up_to_the_limit) {
    static const int64_t expected_s[] = {1, 2, 4, 8, 16, 32, 60, 60, 60};
    struct retry_policy policy = retry_policy_default();
    for (int attempt = 1; attempt <= 9; attempt++)
        assert_int_equal(retry_delay_ms(&policy, attempt), expected_s[attempt - 1] * 1000);
    assert_int_equal(retry_delay_ms(&policy, INT_MAX), 60000);
    assert_int_equal(retry_delay_ms(&policy, 0), 1000);
    assert_int_equal(retry_delay_ms(&policy, -5), 1000);
}

/* covers: J09 */
TEST(odd_policies_stay_in_range) {
    struct retry_policy huge = {.base_ms = 1, .max_ms = INT64_MAX};
    assert_true(retry_delay_ms(&huge, 1000) == INT64_MAX);
    struct retry_policy inverted = {.base_ms = 5000, .max_ms = 1000};
    assert_int_equal(retry_delay_ms(&inverted, 1), 1000);
    struct retry_policy none = {.base_ms = 0, .max_ms = 1000};
    assert_int_equal(retry_delay_ms(&none, 3), 0);
    assert_int_equal(retry_wait_ms(&none, 3, 77), 0);
}

/* covers: J10 */
TEST(jitter_is_half_to_whole) {
    int64_t least = INT64_MAX;
    int64_t most = 0;
    for (uint64_t random = 0; random < 100000; random++) {
        int64_t wait_ms = retry_jitter_ms(1000, random * UINT64_C(0x9e3779b97f4a7c15));
        assert_in_range((uint64_t)wait_ms, 500, 1000);
        least = wait_ms < least ? wait_ms : least;
        most = wait_ms > most ? wait_ms : most;
    }
    assert_int_equal(least, 500);
    assert_int_equal(most, 1000);
    assert_int_equal(retry_jitter_ms(1, UINT64_MAX), 1);
    assert_int_equal(retry_jitter_ms(0, 5), 0);
    assert_true(retry_jitter_ms(INT64_MAX, UINT64_MAX) > 0);
}

/* covers: J10 */
TEST(jitter_can_be_off) {
    struct retry_policy policy = retry_policy_default();
    assert_in_range((uint64_t)retry_wait_ms(&policy, 3, 12345), 2000, 4000);
    policy.jitter = false;
    assert_int_equal(retry_wait_ms(&policy, 3, 12345), 4000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubles_up_to_the_limit),
        cmocka_unit_test(odd_policies_stay_in_range),
        cmocka_unit_test(jitter_is_half_to_whole),
        cmocka_unit_test(jitter_can_be_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
