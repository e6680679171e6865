/* Error classes: what is tried again, what is given up, what stops the worker. */
#include "support/check.h"

#include <signal.h>

#include "base/str.h"
#include "domain/failure/errclass.h"

/* covers: J11 */
TEST(by_name) {
    assert_int_equal(errclass_from_name(STR("timeout")), ERRCLASS_RETRYABLE);
    assert_int_equal(errclass_from_name(STR("Unavailable")), ERRCLASS_RETRYABLE);
    assert_int_equal(errclass_from_name(STR("schema")), ERRCLASS_PERMANENT);
    assert_int_equal(errclass_from_name(STR("AUTH")), ERRCLASS_PERMANENT);
    assert_int_equal(errclass_from_name(STR("crash")), ERRCLASS_FATAL);
    assert_int_equal(errclass_from_name(STR("database_lost")), ERRCLASS_FATAL);
    assert_int_equal(errclass_from_name(STR("something new")), ERRCLASS_RETRYABLE);
    assert_int_equal(errclass_from_name(str_from(NULL)), ERRCLASS_RETRYABLE);
}

/* covers: J11 */
TEST(by_exit_code_and_signal) {
    assert_int_equal(errclass_from_exit(1), ERRCLASS_RETRYABLE);
    assert_int_equal(errclass_from_exit(65), ERRCLASS_PERMANENT);
    assert_int_equal(errclass_from_exit(77), ERRCLASS_PERMANENT);
    assert_int_equal(errclass_from_exit(75), ERRCLASS_RETRYABLE);
    assert_int_equal(errclass_from_exit(127), ERRCLASS_RETRYABLE);
    assert_int_equal(errclass_from_signal(SIGSEGV), ERRCLASS_RETRYABLE);
}

/* covers: J11 */
TEST(by_http_status) {
    assert_int_equal(errclass_from_http(503), ERRCLASS_RETRYABLE);
    assert_int_equal(errclass_from_http(429), ERRCLASS_RETRYABLE);
    assert_int_equal(errclass_from_http(408), ERRCLASS_RETRYABLE);
    assert_int_equal(errclass_from_http(401), ERRCLASS_PERMANENT);
    assert_int_equal(errclass_from_http(422), ERRCLASS_PERMANENT);
    assert_int_equal(errclass_from_http(302), ERRCLASS_PERMANENT);
}

/* covers: J11 */
TEST(by_status) {
    assert_int_equal(errclass_from_status(PAWL_UNAVAILABLE), ERRCLASS_RETRYABLE);
    assert_int_equal(errclass_from_status(PAWL_UNKNOWN), ERRCLASS_RETRYABLE);
    assert_int_equal(errclass_from_status(PAWL_INVALID), ERRCLASS_PERMANENT);
    assert_int_equal(errclass_from_status(PAWL_INTERNAL), ERRCLASS_FATAL);
    assert_int_equal(errclass_from_status(PAWL_NO_MEMORY), ERRCLASS_FATAL);
}

TEST(names_read_back) {
    for (int c = ERRCLASS_RETRYABLE; c <= ERRCLASS_FATAL; c++) {
        enum errclass parsed = ERRCLASS_RETRYABLE;
        assert_true(errclass_parse(str_from(errclass_name((enum errclass)c)), &parsed));
        assert_int_equal(parsed, c);
    }
    enum errclass parsed = ERRCLASS_FATAL;
    assert_false(errclass_parse(STR("other"), &parsed));
    assert_int_equal(parsed, ERRCLASS_FATAL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_name),         cmocka_unit_test(by_exit_code_and_signal),
        cmocka_unit_test(by_http_status),  cmocka_unit_test(by_status),
        cmocka_unit_test(names_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
