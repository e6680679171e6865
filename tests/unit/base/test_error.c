/* Errors: the text that a person reads, the names, and the exit codes. */
#include "support/check.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"

TEST(sets_and_returns_the_status) {
    pawl_error err;
    assert_int_equal(error_set(&err, PAWL_BUSY, "lane_claim", "lane %d is taken", 7), PAWL_BUSY);
    assert_int_equal(err.status, PAWL_BUSY);
    assert_string_equal(err.op, "lane_claim");
    assert_string_equal(err.text, "lane 7 is taken");
    error_clear(&err);
    assert_int_equal(err.status, PAWL_OK);
    assert_string_equal(err.text, "");
}

TEST(takes_null) {
    assert_int_equal(error_set(NULL, PAWL_STALE, "op", "x"), PAWL_STALE);
    assert_int_equal(error_errno(NULL, PAWL_STALE, "op", EIO, "x"), PAWL_STALE);
    error_clear(NULL);
}

TEST(escapes_control_characters) {
    pawl_error err;
    error_set(&err, PAWL_INVALID, "a\nb", "%s", "one\ntwo\x1b[31m\tthree\x7f");
    assert_string_equal(err.op, "a\\nb");
    assert_string_equal(err.text, "one\\ntwo\\x1b[31m\\tthree\\x7f");
}

TEST(may_quote_itself) {
    pawl_error err;
    error_set(&err, PAWL_UNAVAILABLE, "connect", "refused");
    error_set(&err, err.status, "open", "cannot open the store: %s", err.text);
    assert_string_equal(err.text, "cannot open the store: refused");
}

TEST(cuts_long_text_at_a_character) {
    pawl_error err;
    char text[600];
    memset(text, 'x', sizeof text);
    memcpy(text + 509, "\xe2\x82\xac", 3); /* a euro sign that does not fit */
    text[599] = '\0';
    error_set(&err, PAWL_INVALID, "op", "%s", text);
    assert_int_equal(strlen(err.text), 509);

    memset(text, 'x', sizeof text);
    memcpy(text + 508, "\xe2\x82\xac", 3); /* one that just fits */
    text[511] = '\0';
    error_set(&err, PAWL_INVALID, "op", "%s", text);
    assert_int_equal(strlen(err.text), 511);
}

TEST(says_what_errno_means) {
    pawl_error err;
    error_errno(&err, PAWL_NOT_FOUND, "open", ENOENT, "cannot open %s", "a.db");
    assert_string_equal(err.text, "cannot open a.db: No such file or directory");
}

TEST(names_and_exit_codes_are_distinct) {
    for (int a = PAWL_OK; a <= PAWL_INTERNAL; a++)
        for (int b = a + 1; b <= PAWL_INTERNAL; b++) {
            assert_string_not_equal(pawl_status_name((pawl_status)a), pawl_status_name((pawl_status)b));
            assert_int_not_equal(error_exit_code((pawl_status)a), error_exit_code((pawl_status)b));
        }
    assert_string_equal(pawl_status_name(PAWL_NOT_FOUND), "not found");
    assert_string_equal(pawl_status_name((pawl_status)99), "internal");
    assert_int_equal(error_exit_code(PAWL_OK), 0);
    assert_int_equal(error_exit_code(PAWL_INVALID), 65);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_and_returns_the_status),       cmocka_unit_test(takes_null),
        cmocka_unit_test(escapes_control_characters),        cmocka_unit_test(may_quote_itself),
        cmocka_unit_test(cuts_long_text_at_a_character),     cmocka_unit_test(says_what_errno_means),
        cmocka_unit_test(names_and_exit_codes_are_distinct),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
