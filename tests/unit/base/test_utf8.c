/* UTF-8: every code point is accepted in its one form, and nothing else is. */
#include "support/check.h"

#include "base/str.h"
#include "base/utf8.h"

/* The encoding of a code point, surrogates included. */
static size_t encode(uint32_t code, char *out) {
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t len = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = len - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    out[0] = (char)(lead[len] | code);
    return len;
}

TEST(every_code_point) {
    for (uint32_t code = 0; code <= 0x10ffff; code++) {
        char bytes[4];
        uint32_t decoded = 0xffffffff;
        size_t len = encode(code, bytes);
        bool surrogate = code >= 0xd800 && code <= 0xdfff;
        size_t got = utf8_decode(bytes, len, &decoded);
        if (surrogate ? got != 0 : got != len || decoded != code)
            fail_msg("code point U+%04X", (unsigned)code);
        if (len > 1 && utf8_decode(bytes, len - 1, &decoded) != 0)
            fail_msg("cut code point U+%04X", (unsigned)code);
    }
}

TEST(refuses_wrong_sequences) {
    static const struct {
        pawl_str text;
        size_t offset;
    } wrong[] = {
        {STR_INIT("\x80"), 0},
        {STR_INIT("a\xc0\xaf"), 1},
        {STR_INIT("\xc1\xbf"), 0},
        {STR_INIT("ab\xe0\x80\xaf"), 2},
        {STR_INIT("\xf0\x80\x80\xaf"), 0},
        {STR_INIT("\xed\xa0\x80"), 0},
        {STR_INIT("\xf4\x90\x80\x80"), 0},
        {STR_INIT("\xf5\x80\x80\x80"), 0},
        {STR_INIT("\xff"), 0},
        {STR_INIT("\xe2\x82"), 0},
        {STR_INIT("\xe2\x28\xa1"), 0},
        {STR_INIT("a\0b"), 1},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        size_t offset = 99;
        assert_false(utf8_valid(wrong[i].text, false, &offset));
        assert_int_equal(offset, wrong[i].offset);
    }
    assert_true(utf8_valid(STR("a\0b"), true, NULL));
    assert_true(utf8_valid(str_from(NULL), false, NULL));
    assert_true(utf8_valid(STR("stra\xc3\x9f"
                               "e \xe2\x82\xac \xf0\x9f\x8e\x89"),
                           false, NULL));
}

TEST(cuts_between_characters) {
    pawl_str text = STR("a\xe2\x82\xac"
                        "b");
    assert_int_equal(utf8_cut(text, 0).len, 0);
    assert_int_equal(utf8_cut(text, 1).len, 1);
    assert_int_equal(utf8_cut(text, 2).len, 1);
    assert_int_equal(utf8_cut(text, 3).len, 1);
    assert_int_equal(utf8_cut(text, 4).len, 4);
    assert_int_equal(utf8_cut(text, 9).len, 5);
}

TEST(control_characters) {
    assert_true(utf8_is_control(0));
    assert_true(utf8_is_control('\n'));
    assert_true(utf8_is_control(0x7f));
    assert_true(utf8_is_control(0x9b)); /* a terminal takes it for ESC [ */
    assert_false(utf8_is_control(' '));
    assert_false(utf8_is_control(0xa0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_point),
        cmocka_unit_test(refuses_wrong_sequences),
        cmocka_unit_test(cuts_between_characters),
        cmocka_unit_test(control_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
