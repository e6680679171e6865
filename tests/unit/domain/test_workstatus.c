/* Status bits: their values are part of the contract with callers. */
#include "support/check.h"

#include "domain/workstatus.h"

/* covers: W24 */
TEST(values) {
    assert_int_equal(WORK_STORED, 1);
    assert_int_equal(WORK_PUBLISHED, 2);
    assert_int_equal(WORK_COMPLETED, 4);
    assert_int_equal(WORK_FAILED, 8);
}

/* covers: W24 */
TEST(only_published_or_completed_end_a_message) {
    for (int status = -1; status < 64; status++) {
        bool known = status >= 0 && status < 16;
        bool expected = known && (status & 8) == 0 && (status & 6) != 0;
        assert_int_equal(work_status_ends(status), expected);
    }
    assert_false(work_status_ends(0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(only_published_or_completed_end_a_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
