/* Clocks: they go forward, and their text forms read back. */
#include "support/check.h"

#include <string.h>

#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"

TEST(boot_time_goes_forward) {
    int64_t before_us = clock_boot_us();
    int64_t now_ms = clock_boot_ms();
    assert_true(now_ms >= before_us / 1000);
    assert_true(clock_boot_us() >= before_us);
    assert_true(clock_wall_ms() > INT64_C(1700000000000));
}

TEST(boot_id_is_stable) {
    pawl_uuid a;
    pawl_uuid b;
    pawl_error err;
    assert_int_equal(clock_boot_id(&a, &err), PAWL_OK);
    assert_int_equal(clock_boot_id(&b, &err), PAWL_OK);
    assert_true(uuid_equal(a, b));
    assert_false(uuid_is_nil(a));
}

TEST(iso_8601) {
    char text[CLOCK_ISO_BYTES];
    assert_string_equal(clock_format_iso(0, text), "1970-01-01T00:00:00.000Z");
    assert_string_equal(clock_format_iso(1767323045678, text), "2026-01-02T03:04:05.678Z");
    assert_string_equal(clock_format_iso(951782399999, text), "2000-02-28T23:59:59.999Z");
    assert_string_equal(clock_format_iso(951782400000, text), "2000-02-29T00:00:00.000Z");
    assert_string_equal(clock_format_iso(-1, text), "1969-12-31T23:59:59.999Z");
    assert_string_equal(clock_format_iso(4107542400000, text), "2100-03-01T00:00:00.000Z");
    assert_string_equal(clock_format_iso(INT64_MAX, text), "9999-12-31T23:59:59.999Z");
    assert_string_equal(clock_format_iso(INT64_MIN, text), "0000-01-01T00:00:00.000Z");
}

TEST(durations) {
    static const struct {
        const char *text;
        int64_t ms;
    } good[] = {{"0", 0},         {"500ms", 500},    {"30s", 30000}, {"5m", 300000},
                {"2h", 7200000},  {"7d", 604800000}, {"1.5s", 1500}, {"0.25h", 900000},
                {"1.999s", 1999}, {"0s", 0},         {"007s", 7000}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        int64_t ms = -1;
        assert_true(clock_parse_duration(str_from(good[i].text), &ms));
        assert_int_equal(ms, good[i].ms);
    }
    static const char *const bad[] = {"",
                                      "5",
                                      "s",
                                      "-5s",
                                      "+5s",
                                      "5 s",
                                      "5x",
                                      "5S",
                                      "1.s",
                                      ".5s",
                                      "1.2345s",
                                      "5mss",
                                      "1e3s",
                                      "99999999999999999999s",
                                      "9223372036854775807d",
                                      "0.5"};
    int64_t ms = 42;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(clock_parse_duration(str_from(bad[i]), &ms));
    assert_int_equal(ms, 42);
}

TEST(durations_read_back) {
    static const int64_t values[] = {0,     1,       999,      1000,      1500,    60000,
                                     90000, 3600000, 86400000, 604800000, 86400001};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char text[CLOCK_DURATION_BYTES];
        int64_t ms = -1;
        assert_true(clock_parse_duration(str_from(clock_format_duration(values[i], text)), &ms));
        assert_int_equal(ms, values[i]);
    }
    char text[CLOCK_DURATION_BYTES];
    assert_string_equal(clock_format_duration(300000, text), "5m");
    assert_string_equal(clock_format_duration(604800000, text), "7d");
    assert_string_equal(clock_format_duration(1500, text), "1500ms");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boot_time_goes_forward),
        cmocka_unit_test(boot_id_is_stable),
        cmocka_unit_test(iso_8601),
        cmocka_unit_test(durations),
        cmocka_unit_test(durations_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
