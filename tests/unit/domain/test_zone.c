/* Time zones: wall times, names, broken files. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/str.h"
#include "base/time/tzdata.h"
#include "support/zone_time.h"

static struct zone *loaded(const char *name) {
    struct zone *zone = NULL;
    pawl_error err;
    if (zone_load(NULL, str_from(name), &zone, &err) != PAWL_OK)
        fail_msg("%s", err.text);
    return zone;
}

static void assert_time(const struct zone *zone, const char *text, const char *formatted) {
    int64_t at_ms = 0;
    pawl_error err;
    char found[ZONE_TIME_BYTES];
    if (zone_parse_time(zone, str_from(text), &at_ms, &err) != PAWL_OK)
        fail_msg("%s", err.text);
    assert_string_equal(zone_format_time(zone, at_ms, found), formatted);
}

TEST(wall_times_become_instants) {
    struct zone *berlin = loaded("Europe/Berlin");
    assert_time(berlin, "2026-07-01", "2026-07-01T00:00:00+02:00");
    assert_time(berlin, "2026-07-01 14:30", "2026-07-01T14:30:00+02:00");
    assert_time(berlin, "2026-07-01T14:30:15.2509", "2026-07-01T14:30:15.250+02:00");
    assert_time(berlin, "2026-07-01T14:30Z", "2026-07-01T16:30:00+02:00");
    assert_time(berlin, "2026-07-01T14:30-0530", "2026-07-01T22:00:00+02:00");
    assert_time(berlin, "2026-03-29T02:30",
                "2026-03-29T03:00:00+02:00"); /* never shown: where the gap ends */
    assert_time(berlin, "2026-10-25T02:30", "2026-10-25T02:30:00+02:00"); /* shown twice: the first time */
    assert_time(berlin, "9999-12-31T23:59:59", "9999-12-31T23:59:59+01:00");
    zone_free(berlin);
    struct zone *utc = loaded("");
    assert_string_equal(zone_name(utc).ptr, "UTC");
    assert_time(utc, "0001-01-01", "0001-01-01T00:00:00+00:00");
    zone_free(utc);
}

TEST(times_that_are_none) {
    struct zone *utc = loaded("UTC");
    static const char *const texts[] = {"",
                                        "2026",
                                        "2026-02-29",
                                        "2026-13-01",
                                        "2026-01-01T24:00",
                                        "2026-01-01T10",
                                        "2026-01-01T10:00:60",
                                        "2026-01-01T10:00:00.",
                                        "2026-01-01T10:00+2",
                                        "2026-01-01T10:00 Europe/Berlin",
                                        "tomorrow"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        int64_t at_ms = 7;
        pawl_error err;
        assert_int_equal(zone_parse_time(utc, str_from(texts[i]), &at_ms, &err), PAWL_INVALID);
        assert_int_equal(at_ms, 7);
        assert_non_null(strstr(err.text, "cannot be read at position"));
    }
    zone_free(utc);
}

TEST(unknown_zones_are_refused_with_a_proposal) {
    static const struct {
        const char *name, *reason;
    } cases[] = {{"Europe/Berln", "did you mean Europe/Berlin?"},
                 {"europe/berlin", "did you mean Europe/Berlin?"},
                 {"Vienna", "did you mean Europe/Vienna?"},
                 {"Middle-earth/Shire", "there is no time zone 'Middle-earth/Shire': write it as"},
                 {"Europe", "did you mean"},
                 {"../../etc/passwd", "cannot be the name of a time zone"},
                 {"/etc/passwd", "cannot be the name of a time zone"},
                 {"a//b", "cannot be the name of a time zone"},
                 {"tzdata.zi", "cannot be the name of a time zone"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct zone *zone = NULL;
        pawl_error err;
        assert_int_equal(zone_load(NULL, str_from(cases[i].name), &zone, &err), PAWL_INVALID);
        assert_null(zone);
        if (i != 4 && strstr(err.text, cases[i].reason) == NULL)
            fail_msg("%s: %s", cases[i].name, err.text);
    }
}

TEST(zones_that_count_leap_seconds_are_refused) {
    struct zone *zone = NULL;
    pawl_error err;
    pawl_status status = zone_load(NULL, str_from("right/Europe/Berlin"), &zone, &err);
    assert_int_equal(status, PAWL_INVALID);
}

TEST(every_zone_of_the_system_can_be_read) {
    struct arena *arena = arena_create(0);
    pawl_str *names = NULL;
    size_t count = 0;
    pawl_error err;
    assert_int_equal(tzdata_list(NULL, arena, &names, &count, &err), PAWL_OK);
    assert_true(count > 400);
    for (size_t i = 0; i < count; i++) {
        assert_true(i == 0 || str_compare(names[i - 1], names[i]) < 0);
        zone_free(loaded(names[i].ptr));
    }
    assert_int_equal(tzdata_list("/nonexistent", arena, &names, &count, &err), PAWL_UNAVAILABLE);
    arena_free(arena);
}

/* Every byte of a real file changed, every length cut: read or refused, never worse. */
TEST(broken_files_are_refused) {
    struct arena *arena = arena_create(0);
    pawl_str bytes = {NULL, 0};
    pawl_error err;
    assert_int_equal(tzdata_read(NULL, STR("Australia/Lord_Howe"), arena, &bytes, &err), PAWL_OK);
    char *copy = malloc(bytes.len);
    size_t refused = 0;
    for (size_t i = 0; i < bytes.len; i++) {
        memcpy(copy, bytes.ptr, bytes.len);
        copy[i] = (char)(copy[i] ^ (i % 2 == 0 ? 0xff : 0x81));
        struct zone *zone = NULL;
        pawl_status status = zone_parse(STR("X/Y"), (pawl_str){copy, bytes.len}, &zone, &err);
        refused += status == PAWL_INVALID ? 1 : 0;
        if (status == PAWL_OK)
            (void)zone_span_at(zone, 1800000000);
        zone_free(zone);
    }
    assert_true(refused > 40);
    for (size_t length = 0; length < bytes.len; length++) {
        struct zone *zone = NULL;
        memcpy(copy, bytes.ptr, length);
        char *exact = malloc(length + 1);
        memcpy(exact, bytes.ptr, length);
        pawl_status status = zone_parse(STR("X/Y"), (pawl_str){exact, length}, &zone, &err);
        assert_int_equal(status, PAWL_INVALID);
        assert_non_null(strstr(err.text, "is malformed at byte"));
        free(exact);
    }
    free(copy);
    arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wall_times_become_instants),
        cmocka_unit_test(times_that_are_none),
        cmocka_unit_test(unknown_zones_are_refused_with_a_proposal),
        cmocka_unit_test(zones_that_count_leap_seconds_are_refused),
        cmocka_unit_test(every_zone_of_the_system_can_be_read),
        cmocka_unit_test(broken_files_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
