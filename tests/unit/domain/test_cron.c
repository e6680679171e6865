/* Cron expressions: what they match, what is refused, and the nights on which clocks change. */
#include "support/check.h"

#include <string.h>

#include "base/str.h"
#include "base/time/civil.h"
#include "domain/time/cron.h"
#include "support/zone_time.h"

static struct cron parsed(const char *text) {
    struct cron cron;
    pawl_error err;
    if (cron_parse(str_from(text), &cron, &err) != PAWL_OK)
        fail_msg("%s", err.text);
    return cron;
}

static int64_t instant(const struct zone *zone, const char *text) {
    int64_t at_ms = 0;
    pawl_error err;
    if (zone_parse_time(zone, str_from(text), &at_ms, &err) != PAWL_OK)
        fail_msg("%s", err.text);
    return at_ms / 1000;
}

static struct zone *loaded(const char *name) {
    struct zone *zone = NULL;
    pawl_error err;
    if (zone_load(NULL, str_from(name), &zone, &err) != PAWL_OK)
        fail_msg("%s", err.text);
    return zone;
}

/* Ticks after a time, one blank between them, as the zone writes them. */
static void assert_ticks(const char *zone_name, const char *text, const char *after, const char *ticks) {
    struct zone *zone = loaded(zone_name);
    struct cron cron = parsed(text);
    int64_t at_s = instant(zone, after);
    char found[1000] = "";
    size_t wanted = strlen(ticks);
    while (strlen(found) < wanted) {
        char time[ZONE_TIME_BYTES];
        assert_true(cron_next(&cron, zone, at_s, &at_s));
        zone_format_time(zone, at_s * 1000, time);
        if (found[0] != '\0')
            strncat(found, " ", sizeof(found) - strlen(found) - 1);
        strncat(found, time, sizeof(found) - strlen(found) - 1);
    }
    assert_string_equal(found, ticks);
    zone_free(zone);
}

static void assert_refused(const char *text, const char *reason) {
    struct cron cron;
    pawl_error err;
    assert_int_equal(cron_parse(str_from(text), &cron, &err), PAWL_INVALID);
    if (strstr(err.text, reason) == NULL)
        fail_msg("'%s' gives \"%s\", not \"%s\"", text, err.text, reason);
}

TEST(fields_names_lists_ranges_steps) {
    assert_ticks("UTC", "*/20 9-10 * * MON-FRI", "2026-11-13T10:10",
                 "2026-11-13T10:20:00+00:00 2026-11-13T10:40:00+00:00 2026-11-16T09:00:00+00:00");
    assert_ticks("UTC", "10/25 22-1/3 1,15 jan,Jul *", "2026-11-13T10:10",
                 "2027-01-01T01:10:00+00:00 2027-01-01T01:35:00+00:00 2027-01-01T22:10:00+00:00");
    assert_ticks("UTC", "5,50 30 12 ? * fri-mon", "2026-11-13T12:30:06",
                 "2026-11-13T12:30:50+00:00 2026-11-14T12:30:05+00:00");
    assert_ticks("UTC", "0 0 * * 7", "2026-11-13", "2026-11-15T00:00:00+00:00 2026-11-22T00:00:00+00:00");
    assert_ticks("UTC", "0 0 13 * FRI", "2026-11-12",
                 "2026-11-13T00:00:00+00:00 2026-11-20T00:00:00+00:00 2026-11-27T00:00:00+00:00 "
                 "2026-12-04T00:00:00+00:00 2026-12-11T00:00:00+00:00 2026-12-13T00:00:00+00:00");
    assert_ticks("UTC", "0 0 29 2 *", "2096-02-29T00:00", "2104-02-29T00:00:00+00:00");
}

TEST(last_nearest_and_nth_days) {
    assert_ticks("UTC", "0 0 L * *", "2027-02-01", "2027-02-28T00:00:00+00:00 2027-03-31T00:00:00+00:00");
    assert_ticks("UTC", "0 0 L-2 2 *", "2028-02-01", "2028-02-27T00:00:00+00:00");
    assert_ticks("UTC", "0 0 LW * *", "2026-05-01", "2026-05-29T00:00:00+00:00 2026-06-30T00:00:00+00:00");
    /* 1 August 2026 is a Saturday: Monday the 3rd, because Friday is another month; 15 November a Sunday. */
    assert_ticks("UTC", "0 0 1W 8 *", "2026-07-31", "2026-08-03T00:00:00+00:00");
    assert_ticks("UTC", "0 0 15W 11 *", "2026-11-01", "2026-11-16T00:00:00+00:00");
    assert_ticks("UTC", "0 0 31W 1,4,5 *", "2026-01-01",
                 "2026-01-30T00:00:00+00:00 2026-05-29T00:00:00+00:00");
    assert_ticks("UTC", "0 0 * * MON#2,fril", "2026-11-01",
                 "2026-11-09T00:00:00+00:00 2026-11-27T00:00:00+00:00");
    assert_ticks("UTC", "0 0 * * 5#5", "2026-11-01", "2027-01-29T00:00:00+00:00");
    assert_ticks("UTC", "0 0 * * 0#L", "2026-11-01", "2026-11-29T00:00:00+00:00");
}

TEST(nicknames) {
    assert_ticks("UTC", "@yearly", "2026-11-13", "2027-01-01T00:00:00+00:00");
    assert_ticks("UTC", "@annually", "2026-11-13", "2027-01-01T00:00:00+00:00");
    assert_ticks("UTC", "@Monthly", "2026-11-13", "2026-12-01T00:00:00+00:00");
    assert_ticks("UTC", "@weekly", "2026-11-13", "2026-11-15T00:00:00+00:00");
    assert_ticks("UTC", " @daily ", "2026-11-13", "2026-11-14T00:00:00+00:00");
    assert_ticks("UTC", "@midnight", "2026-11-13", "2026-11-14T00:00:00+00:00");
    assert_ticks("UTC", "@hourly", "2026-11-13", "2026-11-13T01:00:00+00:00");
    assert_refused("@reboot", "'@reboot' is not known");
}

/* The rules of docs/schedules.md, on the nights everybody knows. */
TEST(fixed_hours_tick_once_when_clocks_change) {
    assert_ticks("Europe/Berlin", "30 2 * * *", "2026-03-28T12:00",
                 "2026-03-29T03:00:00+02:00 2026-03-30T02:30:00+02:00");
    assert_ticks("Europe/Berlin", "30 2 * * *", "2026-10-24T12:00",
                 "2026-10-25T02:30:00+02:00 2026-10-26T02:30:00+01:00");
    assert_ticks("Europe/Berlin", "*/20 2,3 * * *", "2026-03-28T12:00",
                 "2026-03-29T03:00:00+02:00 2026-03-29T03:20:00+02:00 2026-03-29T03:40:00+02:00 "
                 "2026-03-30T02:00:00+02:00");
    assert_ticks("Pacific/Apia", "0 9 * * *", "2011-12-29T12:00",
                 "2011-12-31T00:00:00+14:00 2011-12-31T09:00:00+14:00");
}

TEST(every_hour_follows_time) {
    assert_ticks("Europe/Berlin", "30 * * * *", "2026-03-29T00:45",
                 "2026-03-29T01:30:00+01:00 2026-03-29T03:30:00+02:00");
    assert_ticks("Europe/Berlin", "30 * * * *", "2026-10-25T01:45",
                 "2026-10-25T02:30:00+02:00 2026-10-25T02:30:00+01:00 2026-10-25T03:30:00+01:00");
    assert_ticks("Australia/Lord_Howe", "*/20 * * * *", "2026-10-04T01:45",
                 "2026-10-04T02:40:00+11:00 2026-10-04T03:00:00+11:00");
}

TEST(errors_name_field_and_position) {
    assert_refused("", "has 0 fields: five are needed");
    assert_refused("* * * *", "has 4 fields");
    assert_refused("0 0 * * * * 2030", "has 7 fields");
    assert_refused("61 * * * *", "field 1 (minute), position 1: 61 is not between 0 and 59");
    assert_refused("* 5,24 * * *", "field 2 (hour), position 5: 24 is not between 0 and 23");
    assert_refused("* * * * * 8", "field 6 (day of the week), position 11: 8 is not between 0 and 7");
    assert_refused("* * 0 * *", "field 3 (day of the month), position 5: 0 is not between 1 and 31");
    assert_refused("* * * Janu *", "field 4 (month), position 7: 'Janu' is no month");
    assert_refused("* * * * FRX", "field 5 (day of the week), position 9: 'FRX' is no day of the week");
    assert_refused("*/0 * * * *", "field 1 (minute), position 3: 0 is not between 1 and 60");
    assert_refused("*/90 * * * *", "90 is not between 1 and 60");
    assert_refused("5- * * * *", "field 1 (minute), position 3: a number is expected");
    assert_refused("5, * * * *", "field 1 (minute), position 3: a value is missing");
    assert_refused("a * * * *", "field 1 (minute), position 1: 'a' is not a number");
    assert_refused("5x * * * *", "field 1 (minute), position 2: 'x' is not expected here");
    assert_refused("* * 28-3 * *", "the range 28-3 runs backwards");
    assert_refused("* * * * L", "write FRIL");
    assert_refused("* * * * 5#6", "6 is not between 1 and 5");
    assert_refused("* * L-31 * *", "31 is not between 1 and 30");
    assert_refused("* * W * *", "'W' is not a number");
    assert_refused("99999999999999999999 * * * *", "is not between 0 and 59");
    assert_refused("0 0 30 2 *", "can never match");
    assert_refused("0 0 31 4,6,9,11 *", "can never match");
    assert_refused("0 0 \xc3\xa4 * *", "field 3 (day of the month), position 5: a number is expected");
}

TEST(an_expression_that_is_too_long_is_refused) {
    char text[400];
    memset(text, '1', sizeof(text));
    struct cron cron;
    pawl_error err;
    assert_int_equal(cron_parse((pawl_str){text, sizeof(text)}, &cron, &err), PAWL_INVALID);
    assert_non_null(strstr(err.text, "400 bytes"));
}

TEST(the_calendar_ends) {
    struct zone *zone = loaded("Europe/Berlin");
    struct cron cron = parsed("0 0 1 1 *");
    int64_t at_s = 0;
    assert_true(cron_next(&cron, zone, instant(zone, "9998-06-01"), &at_s));
    assert_int_equal(at_s, instant(zone, "9999-01-01"));
    assert_false(cron_next(&cron, zone, at_s, &at_s));
    assert_false(cron_next(&cron, zone, INT64_MAX, &at_s));
    assert_true(cron_next(&cron, zone, INT64_MIN, &at_s));
    assert_false(cron_previous(&cron, zone, INT64_MIN, &at_s));
    assert_true(cron_previous(&cron, zone, INT64_MAX, &at_s));
    assert_int_equal(at_s, instant(zone, "9999-01-01"));
    zone_free(zone);
}

TEST(the_calendar_and_its_arithmetic_agree) {
    int64_t days = civil_to_days(-400, 1, 1);
    for (int64_t year = -400; year < 2400; year++)
        for (int month = 1; month <= 12; month++)
            for (int day = 1; day <= civil_month_days(year, month); day++, days++) {
                struct civil date = civil_from_days(days);
                if (civil_to_days(year, month, day) != days || date.year != year || date.month != month ||
                    date.day != day)
                    fail_msg("%d-%d-%d", (int)year, month, day);
            }
    assert_int_equal(civil_to_days(1970, 1, 1), 0);
    assert_int_equal(civil_weekday(civil_to_days(2026, 11, 16)), 1);
    assert_int_equal(civil_weekday(civil_to_days(1600, 1, 1)), 6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_names_lists_ranges_steps),
        cmocka_unit_test(last_nearest_and_nth_days),
        cmocka_unit_test(nicknames),
        cmocka_unit_test(fixed_hours_tick_once_when_clocks_change),
        cmocka_unit_test(every_hour_follows_time),
        cmocka_unit_test(errors_name_field_and_position),
        cmocka_unit_test(an_expression_that_is_too_long_is_refused),
        cmocka_unit_test(the_calendar_ends),
        cmocka_unit_test(the_calendar_and_its_arithmetic_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
