/* Names: lengths, characters, and sentences that say what is wrong. */
#include "support/check.h"

#include <string.h>

#include "base/limits.h"
#include "base/str.h"
#include "domain/name.h"

TEST(streams) {
    pawl_error err;
    char text[PAWL_STREAM_BYTES_MAX + 1];
    memset(text, 'x', sizeof text);
    assert_int_equal(name_check_stream(STR("order-1"), &err), PAWL_OK);
    assert_int_equal(name_check_stream(STR("stra\xc3\x9f-e 7/b"), &err), PAWL_OK);
    assert_int_equal(name_check_stream((pawl_str){text, PAWL_STREAM_BYTES_MAX}, &err), PAWL_OK);
    assert_int_equal(name_check_stream((pawl_str){text, sizeof text}, &err), PAWL_INVALID);
    assert_string_equal(err.text, "the stream is 201 bytes long: at most 200 are allowed");
    assert_int_equal(name_check_stream(STR(""), &err), PAWL_INVALID);
    assert_string_equal(err.text, "the stream is empty: give it 1 to 200 bytes");
    assert_int_equal(name_check_stream(str_from(NULL), &err), PAWL_INVALID);
}

TEST(characters) {
    pawl_error err;
    assert_int_equal(name_check_type(STR("ab\xff"), &err), PAWL_INVALID);
    assert_string_equal(err.text, "the type is not valid UTF-8 at byte 2");
    assert_int_equal(name_check_topic(STR("a\nb"), &err), PAWL_INVALID);
    assert_string_equal(err.text, "the topic has a control character (U+000A) at byte 1: remove it");
    assert_int_equal(name_check_topic(STR("a\0b"), &err), PAWL_INVALID);
    assert_int_equal(name_check_topic(STR("a\xc2\x85"), &err), PAWL_INVALID);
    assert_int_equal(name_check(STR("bill ing"), "service", &err), PAWL_OK);
    assert_int_equal(name_check(STR(""), "service", &err), PAWL_INVALID);
    assert_string_equal(err.text, "the service is empty: give it 1 to 128 bytes");
}

TEST(schemas) {
    static const char *const good[] = {"pawl", "_x", "a1_b2", "abcdefghijklmnopqrstuvwxyz_1234"};
    static const char *const bad[] = {"",
                                      "1a",
                                      "Pawl",
                                      "a-b",
                                      "a b",
                                      "a\"b",
                                      "a;drop",
                                      "pg_pawl",
                                      "stra\xc3\x9f-e",
                                      "a.b",
                                      "abcdefghijklmnopqrstuvwxyz_12345"};
    pawl_error err;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_int_equal(name_check_schema(str_from(good[i]), &err), PAWL_OK);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(name_check_schema(str_from(bad[i]), &err), PAWL_INVALID);
    assert_int_equal(name_check_schema(STR("A"), &err), PAWL_INVALID);
    assert_string_equal(err.text,
                        "the schema name 'A' may have only a-z, 0-9 and _, and starts with a letter or _");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams),
        cmocka_unit_test(characters),
        cmocka_unit_test(schemas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
