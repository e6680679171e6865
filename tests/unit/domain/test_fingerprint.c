/* Fingerprints: one cause, one pattern. */
#include "support/check.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "domain/failure/fingerprint.h"

static void assert_pattern(const char *error, const char *expected) {
    char text[FINGERPRINT_TEXT_BYTES];
    assert_string_equal(fingerprint_normalize(str_from(error), text), expected);
}

TEST(ids_and_numbers_do_not_count) {
    assert_pattern("timeout after 30 s", "timeout after <n> s");
    assert_pattern("order 018f3a5b-7c2d-7e4f-8a9b-0c1d2e3f4a5b not found", "order <uuid> not found");
    assert_pattern("commit 9f86d081884c7d659a2feaa0c55ad015 failed", "commit <hex> failed");
    assert_pattern("at 0x7ffd4C in main", "at <hex> in main");
    assert_pattern("connect to 10.0.0.12:5432", "connect to <n>.<n>.<n>.<n>:<n>");
    assert_pattern("row 1234567890123 is bad", "row <n> is bad");
    assert_pattern("feedface is a word, defaced too", "feedface is a word, defaced too");
}

TEST(quoted_text_does_not_count) {
    assert_pattern("key \"customer 7\" is missing", "key <s> is missing");
    assert_pattern("relation 'x' and 'y'", "relation <s> and <s>");
    assert_pattern("can't open the user's file", "can't open the user's file");
    assert_pattern("an open \" quote 5", "an open \" quote <n>");
    assert_pattern("'", "'");
}

TEST(only_the_first_line_and_single_blanks) {
    assert_pattern("  \n boom \t at  7 \nstack line 1\nline 2", "boom at <n>");
    assert_pattern("", "");
    assert_pattern("   ", "");
}

TEST(long_and_broken_texts) {
    char error[1000];
    char text[FINGERPRINT_TEXT_BYTES];
    memset(error, '1', sizeof error);
    for (size_t i = 1; i < sizeof error; i += 2)
        error[i] = 'x';
    fingerprint_normalize((pawl_str){error, sizeof error}, text);
    assert_int_equal(strlen(text), 200); /* <n>x 50 times */
    assert_pattern("bad \xff byte", "bad ? byte");
    memset(error, 'x', 199);
    memcpy(error + 199, "\xe2\x82\xac", 3);
    fingerprint_normalize((pawl_str){error, 202}, text);
    assert_int_equal(strlen(text), 199); /* no half character */
}

TEST(one_cause_one_fingerprint) {
    char a[FINGERPRINT_BYTES];
    char b[FINGERPRINT_BYTES];
    assert_string_equal(fingerprint(STR("timeout after 30 s on lane 7"), a),
                        fingerprint(STR("timeout after 5 s on lane 12\n at main"), b));
    assert_string_not_equal(fingerprint(STR("timeout"), a), fingerprint(STR("refused"), b));
    assert_int_equal(strlen(a), 16);
    assert_int_equal(strspn(a, "0123456789abcdef"), 16);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_and_numbers_do_not_count),
        cmocka_unit_test(quoted_text_does_not_count),
        cmocka_unit_test(only_the_first_line_and_single_blanks),
        cmocka_unit_test(long_and_broken_texts),
        cmocka_unit_test(one_cause_one_fingerprint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
