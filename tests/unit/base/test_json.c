/* JSON: what is valid, where the fault is, and what the writer writes. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/json.h"
#include "base/limits.h"
#include "base/str.h"

static void accept(pawl_str text) {
    struct json_fault fault = {0, "untouched"};
    if (!json_valid(text, PAWL_JSON_DEPTH_MAX, &fault))
        fail_msg("refused at %zu (%s): %.*s", fault.offset, fault.reason, STR_ARG(text));
    assert_string_equal(fault.reason, "untouched");
}

TEST(accepts_json) {
    static const char *const good[] = {"null",
                                       "true",
                                       "false",
                                       "0",
                                       "-0",
                                       "12",
                                       "-1.5e+10",
                                       "1E-3",
                                       "0.0",
                                       "\"\"",
                                       "[]",
                                       "{}",
                                       "[ ]",
                                       "{ }",
                                       " \t\r\n{ \"a\" : [ 1 , 2 , { } ] , \"a\" : null } \n",
                                       "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\"",
                                       "\"\\ud83c\\udf89\"",
                                       "\"stra\xc3\x9f-e \xf0\x9f\x8e\x89 \x7f\"",
                                       "[[[[[]]]]]",
                                       "1e9999",
                                       "1e-9999",
                                       "{\"\":{\"\":{}}}",
                                       "[true,false,null,\"x\",1]"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        accept(str_from(good[i]));
}

struct refusal {
    pawl_str text;
    size_t offset;
};

TEST(refuses_what_is_not_json) {
    static const struct refusal bad[] = {
        {STR_INIT(""), 0},           {STR_INIT("  "), 2},       {STR_INIT("nul"), 0},
        {STR_INIT("nulll"), 4},      {STR_INIT("True"), 0},     {STR_INIT("01"), 1},
        {STR_INIT("+1"), 0},         {STR_INIT(".5"), 0},       {STR_INIT("1."), 2},
        {STR_INIT("1e"), 2},         {STR_INIT("-"), 1},        {STR_INIT("0x10"), 1},
        {STR_INIT("NaN"), 0},        {STR_INIT("Infinity"), 0}, {STR_INIT("'a'"), 0},
        {STR_INIT("\"a"), 2},        {STR_INIT("\"\\x\""), 1},  {STR_INIT("\"\\u12g4\""), 1},
        {STR_INIT("\"a\nb\""), 2},   {STR_INIT("[1,]"), 3},     {STR_INIT("[1 2]"), 3},
        {STR_INIT("[,1]"), 1},       {STR_INIT("["), 1},        {STR_INIT("]"), 0},
        {STR_INIT("{\"a\"}"), 4},    {STR_INIT("{\"a\":}"), 5}, {STR_INIT("{a:1}"), 1},
        {STR_INIT("{\"a\":1,}"), 7}, {STR_INIT("{,}"), 1},      {STR_INIT("[1}"), 2},
        {STR_INIT("{\"a\":1]"), 6},  {STR_INIT("{} {}"), 3},    {STR_INIT("[1]x"), 3},
        {STR_INIT("// c\n1"), 0},    {STR_INIT("{\"a\":1"), 6}, {STR_INIT("1e10000"), 7},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct json_fault fault = {99, NULL};
        if (json_valid(bad[i].text, PAWL_JSON_DEPTH_MAX, &fault))
            fail_msg("accepted: %s", bad[i].text.ptr);
        if (fault.offset != bad[i].offset)
            fail_msg("offset %zu, not %zu: %s", fault.offset, bad[i].offset, bad[i].text.ptr);
        assert_non_null(fault.reason);
    }
}

TEST(refuses_what_databases_cannot_store) {
    static const pawl_str bad[] = {
        STR_INIT("\"a\\u0000b\""),
        STR_INIT("\"a\0b\""),
        STR_INIT("\0"),
        STR_INIT("\"\\ud800\""),
        STR_INIT("\"\\udc00\""),
        STR_INIT("\"\\ud800\\ud800\""),
        STR_INIT("\"\\ud800x\""),
        STR_INIT("\"\xff\""),
        STR_INIT("\"\xc0\x80\""),
        STR_INIT("\"\xed\xa0\x80\""),
        STR_INIT("1\0"),
        STR_INIT("\xef\xbb\xbf"
                 "1"),
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(json_valid(bad[i], PAWL_JSON_DEPTH_MAX, NULL));
}

TEST(depth_has_a_limit) {
    char text[300] = "";
    memset(text, '[', 64);
    memset(text + 64, ']', 64);
    accept((pawl_str){text, 128});
    memset(text, '[', 65);
    memset(text + 65, ']', 65);
    struct json_fault fault;
    assert_false(json_valid((pawl_str){text, 130}, PAWL_JSON_DEPTH_MAX, &fault));
    assert_int_equal(fault.offset, 64);
    assert_string_equal(fault.reason, "nested too deeply");
    assert_true(json_valid(STR("[{\"a\":1}]"), 2, NULL));
    assert_false(json_valid(STR("[{\"a\":[]}]"), 2, NULL));
    assert_true(json_valid(STR("1"), 0, NULL));
    assert_false(json_valid(STR("[]"), 0, NULL));
}

TEST(numbers_have_a_limit) {
    char text[PAWL_JSON_NUMBER_BYTES_MAX + 1];
    memset(text, '9', sizeof text);
    accept((pawl_str){text, PAWL_JSON_NUMBER_BYTES_MAX});
    assert_false(json_valid((pawl_str){text, sizeof text}, PAWL_JSON_DEPTH_MAX, NULL));
}

TEST(check_says_where_and_why) {
    pawl_error err;
    assert_int_equal(json_check(STR("{}"), "put", &err), PAWL_OK);
    assert_int_equal(json_check(STR("{\"a\":1,}"), "put", &err), PAWL_INVALID);
    assert_string_equal(err.text, "not valid JSON at byte 7: a key in quotes is expected");
    assert_string_equal(err.op, "put");
}

static void assert_quoted(pawl_str text, const char *expected) {
    struct buf buf;
    buf_init(&buf, 0);
    json_quote(&buf, text);
    assert_string_equal(buf.ptr, expected);
    assert_true(json_valid(buf_str(&buf), 1, NULL) || memchr(text.ptr, 0, text.len) != NULL);
    buf_free(&buf);
}

TEST(quotes_strings) {
    assert_quoted(STR(""), "\"\"");
    assert_quoted(STR("a\"b\\c/d"), "\"a\\\"b\\\\c/d\"");
    assert_quoted(STR("\n\r\t\x01\x1b\x7f"), "\"\\n\\r\\t\\u0001\\u001b\\u007f\"");
    assert_quoted(STR("\xc2\x9b"
                      "31m"),
                  "\"\\u009b31m\"");
    assert_quoted(STR("\xe2\x82\xac\xf0\x9f\x8e\x89"), "\"\xe2\x82\xac\xf0\x9f\x8e\x89\"");
    assert_quoted(STR("a\xff"
                      "b\xe2\x82"),
                  "\"a\\ufffdb\\ufffd\\ufffd\"");
    assert_quoted(STR("a\0b"), "\"a\\u0000b\"");
}

TEST(writes_structures) {
    struct buf buf;
    struct json_writer w;
    buf_init(&buf, 0);
    json_writer_init(&w, &buf);
    json_begin_object(&w);
    json_key(&w, "id");
    json_int(&w, INT64_MIN);
    json_key(&w, "list");
    json_begin_array(&w);
    json_bool(&w, true);
    json_bool(&w, false);
    json_null(&w);
    json_begin_object(&w);
    json_end_object(&w);
    json_begin_array(&w);
    json_end_array(&w);
    json_end_array(&w);
    json_key(&w, "text");
    json_cstr(&w, "a\"b");
    json_key(&w, "absent");
    json_str(&w, str_from(NULL));
    json_key(&w, "raw");
    json_raw(&w, STR("{\"x\":1}"));
    json_key(&w, "rate");
    json_double(&w, 0.1);
    json_key(&w, "nan");
    json_double(&w, NAN);
    json_end_object(&w);
    assert_int_equal(buf_status(&buf, "test", NULL), PAWL_OK);
    assert_string_equal(buf.ptr,
                        "{\"id\":-9223372036854775808,\"list\":[true,false,null,{},[]],\"text\":\"a\\\"b\","
                        "\"absent\":null,\"raw\":{\"x\":1},\"rate\":0.1,\"nan\":null}");
    accept(buf_str(&buf));
    buf_free(&buf);
}

TEST(doubles_read_back) {
    static const double numbers[] = {0.0, 1.0, -1.5, 0.1, 1.0 / 3.0, 1e300, 123456789.123456789, 5e-324};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct buf buf;
        struct json_writer w;
        buf_init(&buf, 0);
        json_writer_init(&w, &buf);
        json_double(&w, numbers[i]);
        assert_true(strtod(buf.ptr, NULL) == numbers[i]);
        accept(buf_str(&buf));
        buf_free(&buf);
    }
}

/* Each misuse makes the buffer fail instead of writing something that is not JSON. */
TEST(misuse_fails) {
    for (int misuse = 0; misuse < 6; misuse++) {
        struct buf buf;
        struct json_writer w;
        buf_init(&buf, 0);
        json_writer_init(&w, &buf);
        if (misuse == 0)
            json_end_object(&w);
        if (misuse == 1)
            json_key(&w, "a");
        if (misuse >= 2)
            json_begin_object(&w);
        if (misuse == 2)
            json_int(&w, 1);
        if (misuse == 3)
            json_end_array(&w);
        if (misuse == 4) {
            json_key(&w, "a");
            json_end_object(&w);
        }
        for (int i = 0; misuse == 5 && i < PAWL_JSON_DEPTH_MAX; i++) {
            json_key(&w, "a");
            json_begin_object(&w);
        }
        assert_int_equal(buf_status(&buf, "test", NULL), PAWL_NO_MEMORY);
        buf_free(&buf);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_json),
        cmocka_unit_test(refuses_what_is_not_json),
        cmocka_unit_test(refuses_what_databases_cannot_store),
        cmocka_unit_test(depth_has_a_limit),
        cmocka_unit_test(numbers_have_a_limit),
        cmocka_unit_test(check_says_where_and_why),
        cmocka_unit_test(quotes_strings),
        cmocka_unit_test(writes_structures),
        cmocka_unit_test(doubles_read_back),
        cmocka_unit_test(misuse_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
