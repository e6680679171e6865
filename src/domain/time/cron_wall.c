/* Which wall times a cron expression matches: the calendar only, no zone. */
#include "base/time/civil.h"
#include "domain/time/cron.h"
#include "domain/time/cron_int.h"

enum { YEAR_MIN = 1, YEAR_MAX = 9999 };

static uint32_t first_days(int count) { return (uint32_t)((UINT64_C(1) << (count + 1)) - 2); }

/* Monday to Friday nearest to day, without leaving the month; 0 when the month has no such day. */
static int nearest_workday(int day, int first_weekday, int length) {
    if (day > length || length < 28)
        return 0;
    int weekday = (first_weekday + day - 1) % 7;
    if (weekday == 6)
        return day > 1 ? day - 1 : day + 2;
    if (weekday == 0)
        return day < length ? day + 1 : day - 2;
    return day;
}

static uint32_t month_days(const struct cron *cron, int first_weekday, int length) {
    uint32_t found = cron->days;
    for (int before = 0; before < length && cron->days_before_last >> before != 0; before++)
        if ((cron->days_before_last >> before & 1) != 0)
            found |= UINT32_C(1) << (length - before);
    for (int day = 1; day <= 31 && cron->workdays >> day != 0; day++)
        if ((cron->workdays >> day & 1) != 0)
            found |= UINT32_C(1) << nearest_workday(day, first_weekday, length);
    if (cron->last_workday)
        found |= UINT32_C(1) << nearest_workday(length, first_weekday, length);
    return found & first_days(length);
}

static uint32_t month_weekdays(const struct cron *cron, int first_weekday, int length) {
    uint32_t found = 0;
    for (int weekday = 0; weekday < 7; weekday++) {
        int first = 1 + (weekday - first_weekday + 7) % 7;
        uint32_t all = (uint32_t)(UINT64_C(0x10204081) << first) & first_days(length); /* every seventh bit */
        if ((cron->weekdays >> weekday & 1) != 0)
            found |= all;
        for (int nth = 1; nth <= 5; nth++)
            if ((cron->nth_weekdays[nth] >> weekday & 1) != 0 && first + 7 * (nth - 1) <= length)
                found |= UINT32_C(1) << (first + 7 * (nth - 1));
        if ((cron->nth_weekdays[0] >> weekday & 1) != 0)
            found |= UINT32_C(1) << (31 - __builtin_clz(all));
    }
    return found;
}

/* The days of a month that match: bit 1..31. */
static uint32_t cron_days(const struct cron *cron, int64_t year, int month) {
    if ((cron->months >> month & 1) == 0)
        return 0;
    int length = civil_month_days(year, month);
    if (cron->every_day && cron->every_weekday)
        return first_days(length);
    int first_weekday = civil_weekday(civil_to_days(year, month, 1));
    uint32_t days = cron->every_day ? 0 : month_days(cron, first_weekday, length);
    uint32_t weekdays = cron->every_weekday ? 0 : month_weekdays(cron, first_weekday, length);
    return days | weekdays; /* one restricted: that one; both: either will do */
}

bool cron_matches_ever(const struct cron *cron) {
    for (int64_t year = 2000; year < 2400; year++)
        for (int month = 1; month <= 12; month++)
            if (cron_days(cron, year, month) != 0)
                return true;
    return false;
}

/* The lowest set bit at or above n / the highest at or below n; -1 when there is none. */
static int bit_from(uint64_t bits, int n) {
    uint64_t rest = n > 63 ? 0 : bits >> n;
    return rest == 0 ? -1 : n + __builtin_ctzll(rest);
}

static int bit_until(uint64_t bits, int n) {
    uint64_t rest = n < 0 ? 0 : bits << (63 - n);
    return rest == 0 ? -1 : n - __builtin_clzll(rest);
}

/* The first matching second of a day at or after second; -1 when there is none. */
static int time_from(const struct cron *cron, int second) {
    int hour = bit_from(cron->hours, second / 3600);
    if (hour == second / 3600) {
        int minute = bit_from(cron->minutes, second / 60 % 60);
        if (minute == second / 60 % 60) {
            int exact = bit_from(cron->seconds, second % 60);
            if (exact >= 0)
                return (hour * 60 + minute) * 60 + exact;
            minute = bit_from(cron->minutes, minute + 1);
        }
        if (minute >= 0)
            return (hour * 60 + minute) * 60 + bit_from(cron->seconds, 0);
        hour = bit_from(cron->hours, hour + 1);
    }
    return hour < 0 ? -1 : (hour * 60 + bit_from(cron->minutes, 0)) * 60 + bit_from(cron->seconds, 0);
}

static int time_until(const struct cron *cron, int second) {
    int hour = bit_until(cron->hours, second / 3600);
    if (hour == second / 3600) {
        int minute = bit_until(cron->minutes, second / 60 % 60);
        if (minute == second / 60 % 60) {
            int exact = bit_until(cron->seconds, second % 60);
            if (exact >= 0)
                return (hour * 60 + minute) * 60 + exact;
            minute = bit_until(cron->minutes, minute - 1);
        }
        if (minute >= 0)
            return (hour * 60 + minute) * 60 + bit_until(cron->seconds, 59);
        hour = bit_until(cron->hours, hour - 1);
    }
    return hour < 0 ? -1 : (hour * 60 + bit_until(cron->minutes, 59)) * 60 + bit_until(cron->seconds, 59);
}

bool cron_wall_next(const struct cron *cron, int64_t wall_s, int64_t *match_s) {
    int64_t days = civil_floor_div(wall_s, CIVIL_DAY_S);
    struct civil date = civil_from_days(days);
    int time = time_from(cron, (int)(wall_s - days * CIVIL_DAY_S));
    int from = time < 0 ? date.day + 1 : date.day;
    int first_day = date.day;
    bool first_month = true;
    if (date.year < YEAR_MIN)
        date = (struct civil){YEAR_MIN, 1, 1}, from = 1, first_month = false;
    for (; date.year <= YEAR_MAX; from = 1, first_month = false) {
        int day = bit_from(cron_days(cron, date.year, date.month), from);
        if (day > 0) {
            if (!first_month || day != first_day)
                time = time_from(cron, 0);
            *match_s = civil_to_days(date.year, date.month, day) * CIVIL_DAY_S + time;
            return true;
        }
        if (++date.month > 12) {
            date.month = 1;
            date.year++;
        }
    }
    return false;
}

bool cron_wall_previous(const struct cron *cron, int64_t wall_s, int64_t *match_s) {
    int64_t days = civil_floor_div(wall_s, CIVIL_DAY_S);
    struct civil date = civil_from_days(days);
    int time = time_until(cron, (int)(wall_s - days * CIVIL_DAY_S));
    int until = time < 0 ? date.day - 1 : date.day;
    int first_day = date.day;
    bool first_month = true;
    if (date.year > YEAR_MAX)
        date = (struct civil){YEAR_MAX, 12, 31}, until = 31, first_month = false;
    for (; date.year >= YEAR_MIN; until = 31, first_month = false) {
        int day = bit_until(cron_days(cron, date.year, date.month), until);
        if (day > 0) {
            if (!first_month || day != first_day)
                time = time_until(cron, CIVIL_DAY_S - 1);
            *match_s = civil_to_days(date.year, date.month, day) * CIVIL_DAY_S + time;
            return true;
        }
        if (--date.month < 1) {
            date.month = 12;
            date.year--;
        }
    }
    return false;
}
