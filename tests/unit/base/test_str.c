/* Text with a length: comparing, trimming, copying, numbers. */
#include "support/check.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

TEST(absent_and_empty) {
    assert_true(str_absent(str_from(NULL)));
    assert_false(str_absent(str_from("")));
    assert_true(str_equal(str_from(NULL), str_from("")));
    char text[16];
    snprintf(text, sizeof text, "[%.*s]", STR_ARG(((pawl_str){NULL, 0})));
    assert_string_equal(text, "[]");
}

TEST(compares_bytes) {
    assert_true(str_equal(STR("a\0b"), STR("a\0b")));
    assert_false(str_equal(STR("a\0b"), STR("a\0c")));
    assert_true(str_equal_cstr(STR("abc"), "abc"));
    assert_true(str_compare(STR("a"), STR("b")) < 0);
    assert_true(str_compare(STR("ab"), STR("a")) > 0);
    assert_true(str_compare(STR("a"), STR("ab")) < 0);
    assert_true(str_compare(STR("\xff"), STR("a")) > 0);
    assert_int_equal(str_compare(STR(""), str_from(NULL)), 0);
    assert_true(str_starts_with(STR("postgres://x"), STR("postgres://")));
    assert_false(str_starts_with(STR("pos"), STR("postgres")));
    assert_true(str_starts_with(STR("x"), STR("")));
}

TEST(trims_blanks_only) {
    assert_true(str_equal_cstr(str_trim(STR(" \t\r\n a b \n")), "a b"));
    assert_int_equal(str_trim(STR(" \n ")).len, 0);
    assert_int_equal(str_trim(str_from(NULL)).len, 0);
}

TEST(copies_into_an_arena) {
    struct arena *arena = arena_create(64);
    pawl_error err;
    pawl_str copy = STR("untouched");
    assert_int_equal(str_dup(arena, STR("a\0b"), &copy, &err), PAWL_OK);
    assert_memory_equal(copy.ptr, "a\0b", 4);
    assert_int_equal(str_dup(arena, str_from(NULL), &copy, &err), PAWL_OK);
    assert_true(str_absent(copy));
    char large[200] = "";
    copy = STR("untouched");
    assert_int_equal(str_dup(arena, (pawl_str){large, sizeof large}, &copy, &err), PAWL_NO_MEMORY);
    assert_true(str_equal_cstr(copy, "untouched"));
    arena_free(arena);
}

TEST(parses_numbers_whole) {
    int64_t n = 42;
    assert_true(str_to_i64(STR("0"), INT64_MIN, INT64_MAX, &n));
    assert_int_equal(n, 0);
    assert_true(str_to_i64(STR("-9223372036854775808"), INT64_MIN, INT64_MAX, &n));
    assert_true(n == INT64_MIN);
    assert_true(str_to_i64(STR("+9223372036854775807"), INT64_MIN, INT64_MAX, &n));
    assert_true(n == INT64_MAX);
    assert_true(str_to_i64(STR("007"), 0, 10, &n));
    assert_int_equal(n, 7);
    uint64_t u = 0;
    assert_true(str_to_u64(STR("18446744073709551615"), UINT64_MAX, &u));
    assert_true(u == UINT64_MAX);
}

TEST(refuses_what_is_not_a_number_in_range) {
    static const char *const wrong[] = {"",
                                        " 1",
                                        "1 ",
                                        "1x",
                                        "x",
                                        "-",
                                        "+",
                                        "--1",
                                        "+-1",
                                        "1.0",
                                        "1e3",
                                        "0x1",
                                        "9223372036854775808",
                                        "-9223372036854775809",
                                        "99999999999999999999999"};
    int64_t n = 42;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(str_to_i64(str_from(wrong[i]), INT64_MIN, INT64_MAX, &n));
    assert_false(str_to_i64(STR("11"), 0, 10, &n));
    assert_false(str_to_i64(STR("-1"), 0, 10, &n));
    assert_int_equal(n, 42);
    uint64_t u = 42;
    assert_false(str_to_u64(STR("18446744073709551616"), UINT64_MAX, &u));
    assert_false(str_to_u64(STR("-1"), UINT64_MAX, &u));
    assert_int_equal(u, 42);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(absent_and_empty),     cmocka_unit_test(compares_bytes),
        cmocka_unit_test(trims_blanks_only),    cmocka_unit_test(copies_into_an_arena),
        cmocka_unit_test(parses_numbers_whole), cmocka_unit_test(refuses_what_is_not_a_number_in_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
