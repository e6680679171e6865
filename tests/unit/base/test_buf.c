/* Buffer: grows, stays terminated, remembers its first failure. */
#include "support/check.h"

#include <string.h>

#include "base/buf.h"
#include "base/str.h"

TEST(an_empty_buffer_is_an_empty_string) {
    struct buf buf;
    buf_init(&buf, 0);
    assert_string_equal(buf.ptr, "");
    buf_reset(&buf);
    assert_string_equal(buf.ptr, "");
    buf_free(&buf);
    buf_free(NULL);
}

TEST(appends_of_every_kind) {
    struct buf buf;
    buf_init(&buf, 0);
    buf_append_cstr(&buf, "a");
    buf_append_char(&buf, '-');
    buf_append_str(&buf, STR("bc"));
    buf_append_str(&buf, (pawl_str){NULL, 0});
    buf_printf(&buf, "%03d", 7);
    buf_append(&buf, "\0z", 2);
    assert_int_equal(buf.len, 9);
    assert_memory_equal(buf.ptr, "a-bc007\0z", 10);
    assert_true(str_equal(buf_str(&buf), (pawl_str){"a-bc007\0z", 9}));
    buf_free(&buf);
    assert_string_equal(buf.ptr, "");
}

TEST(grows_byte_by_byte) {
    struct buf buf;
    buf_init(&buf, 0);
    for (int i = 0; i < 100000; i++)
        buf_append_char(&buf, (char)('a' + i % 26));
    assert_int_equal(buf.len, 100000);
    assert_int_equal(strlen(buf.ptr), 100000);
    assert_int_equal(buf_status(&buf, "test", NULL), PAWL_OK);
    buf_free(&buf);
}

TEST(failure_is_sticky_until_reset) {
    struct buf buf;
    pawl_error err;
    buf_init(&buf, 10);
    buf_append_cstr(&buf, "12345678");
    buf_append_cstr(&buf, "too long");
    buf_append_cstr(&buf, "x"); /* would fit, but the text is not what the caller meant any more */
    assert_string_equal(buf.ptr, "12345678");
    assert_int_equal(buf_status(&buf, "render", &err), PAWL_NO_MEMORY);
    assert_non_null(strstr(err.text, "10 bytes"));
    buf_reset(&buf);
    buf_append_cstr(&buf, "1234567890");
    assert_int_equal(buf_status(&buf, "render", &err), PAWL_OK);
    buf_printf(&buf, "%s", "1");
    assert_true(buf.failed);
    buf_free(&buf);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_buffer_is_an_empty_string),
        cmocka_unit_test(appends_of_every_kind),
        cmocka_unit_test(grows_byte_by_byte),
        cmocka_unit_test(failure_is_sticky_until_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
