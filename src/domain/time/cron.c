/* Cron ticks: the wall times that match, and their instants in a time zone, also when clocks change. */
#include "domain/time/cron.h"

#include "base/time/civil.h"

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
    return days | weekdays; /* one restricted: that one; both: either counts */
}

bool cron_matches_ever(const struct cron *cron) {
    for (int64_t year = 2000; year < 2400; year++)
        for (int month = 1; month <= 12; month++)
            if (cron_days(cron, year, month) != 0)
                return true;
    return false;
}

/* The set bit nearest to n: the lowest at or above it, or backwards the highest at or below it; -1 when there
 * is none. */
static int bit_near(uint64_t bits, int n, bool forward) {
    uint64_t rest = n < 0 || n > 63 ? 0 : forward ? bits >> n : bits << (63 - n);
    if (rest == 0)
        return -1;
    return forward ? n + __builtin_ctzll(rest) : n - __builtin_clzll(rest);
}

/* The matching second of a day nearest to second, itself included; -1 when there is none. */
static int time_near(const struct cron *cron, int second, bool forward) {
    int step = forward ? 1 : -1, edge = forward ? 0 : 59;
    int hour = bit_near(cron->hours, second / 3600, forward);
    if (hour == second / 3600) {
        int minute = bit_near(cron->minutes, second / 60 % 60, forward);
        if (minute == second / 60 % 60) {
            int exact = bit_near(cron->seconds, second % 60, forward);
            if (exact >= 0)
                return (hour * 60 + minute) * 60 + exact;
            minute = bit_near(cron->minutes, minute + step, forward);
        }
        if (minute >= 0)
            return (hour * 60 + minute) * 60 + bit_near(cron->seconds, edge, forward);
        hour = bit_near(cron->hours, hour + step, forward);
    }
    if (hour < 0)
        return -1;
    return (hour * 60 + bit_near(cron->minutes, edge, forward)) * 60 + bit_near(cron->seconds, edge, forward);
}

static struct civil month_after(struct civil date, int step) {
    date.month += step;
    if (date.month < 1 || date.month > 12) {
        date.year += step;
        date.month = step > 0 ? 1 : 12;
    }
    return date;
}

/* On wall time alone: the first matching second at or after wall_s, or backwards the last at or before it. */
static bool wall_near(const struct cron *cron, int64_t wall_s, bool forward, int64_t *match_s) {
    int64_t days = civil_floor_div(wall_s, CIVIL_DAY_S);
    struct civil date = civil_from_days(days);
    int step = forward ? 1 : -1, edge = forward ? 1 : 31;
    int time = time_near(cron, (int)(wall_s - days * CIVIL_DAY_S), forward);
    int from = time < 0 ? date.day + step : date.day;
    int first_day = date.day;
    bool first_month = true;
    if (forward ? date.year < YEAR_MIN : date.year > YEAR_MAX) {
        date = (struct civil){forward ? YEAR_MIN : YEAR_MAX, forward ? 1 : 12, edge};
        from = edge;
        first_month = false;
    }
    for (; date.year >= YEAR_MIN && date.year <= YEAR_MAX; date = month_after(date, step)) {
        int day = bit_near(cron_days(cron, date.year, date.month), from, forward);
        if (day > 0) {
            if (!first_month || day != first_day)
                time = time_near(cron, forward ? 0 : CIVIL_DAY_S - 1, forward);
            *match_s = civil_to_days(date.year, date.month, day) * CIVIL_DAY_S + time;
            return true;
        }
        from = edge;
        first_month = false;
    }
    return false;
}

/*
 * The zone's time is a sequence of spans with one offset each; within a span, wall time and elapsed time run
 * in parallel.
 *
 * An expression for every hour follows elapsed time: every instant whose wall time matches is a tick. One
 * with fixed hours follows the latest wall time shown so far: a tick occurs when that reaches or passes a
 * match. So a wall time that occurs twice ticks once (the first time), and those that a jump skips tick
 * together, once, where the jump ends.
 */

#define INSTANT_S_MIN INT64_C(-62135596800) /* year 1 */
#define INSTANT_S_MAX INT64_C(253402300799) /* year 9999 */

/* Wall times of the span at which ticks are possible. */
static int64_t first_wall(const struct cron *cron, const struct zone_span *span, int64_t shown_s) {
    int64_t from_s = span->from_s + span->offset_s;
    return cron->fixed_hours && shown_s > from_s ? shown_s : from_s;
}

/* Whether the jump at the span's beginning skipped a match. */
static bool jump_ticks(const struct cron *cron, const struct zone_span *span, int64_t shown_s) {
    int64_t match_s = 0;
    return cron->fixed_hours && shown_s < span->from_s + span->offset_s &&
           shown_s >= INSTANT_S_MIN - CIVIL_DAY_S * 2 && wall_near(cron, shown_s, true, &match_s) &&
           match_s < span->from_s + span->offset_s;
}

bool cron_next(const struct cron *cron, const struct zone *zone, int64_t after_s, int64_t *at_s) {
    if (after_s >= INSTANT_S_MAX)
        return false;
    int64_t from_s = after_s < INSTANT_S_MIN ? INSTANT_S_MIN : after_s + 1;
    /* A match found beyond a span's end is valid for the next span too, unless the clock went back. */
    int64_t searched_s = INT64_MAX;
    int64_t match_s = 0;
    for (struct zone_span span = zone_span_at(zone, from_s); span.from_s <= INSTANT_S_MAX;
         span = zone_span_at(zone, span.until_s)) {
        int64_t shown_s = cron->fixed_hours ? zone_wall_before(zone, &span) : span.from_s;
        if (span.from_s >= from_s && jump_ticks(cron, &span, shown_s)) {
            *at_s = span.from_s;
            return true;
        }
        int64_t wall_s = first_wall(cron, &span, shown_s);
        if (wall_s < from_s + span.offset_s)
            wall_s = from_s + span.offset_s;
        if (wall_s < searched_s || wall_s > match_s) {
            if (!wall_near(cron, wall_s, true, &match_s))
                return false;
            searched_s = wall_s;
        }
        if (match_s < span.until_s + span.offset_s) {
            *at_s = match_s - span.offset_s;
            return *at_s <= INSTANT_S_MAX;
        }
    }
    return false;
}

bool cron_previous(const struct cron *cron, const struct zone *zone, int64_t before_s, int64_t *at_s) {
    if (before_s <= INSTANT_S_MIN)
        return false;
    int64_t until_s = before_s > INSTANT_S_MAX ? INSTANT_S_MAX + 1 : before_s;
    for (struct zone_span span = zone_span_at(zone, until_s - 1);;
         span = zone_span_at(zone, span.from_s - 1)) {
        int64_t shown_s = cron->fixed_hours ? zone_wall_before(zone, &span) : span.from_s;
        int64_t end_s = (span.until_s < until_s ? span.until_s : until_s) + span.offset_s;
        int64_t match_s = 0;
        if (wall_near(cron, end_s - 1, false, &match_s) && match_s >= first_wall(cron, &span, shown_s)) {
            *at_s = match_s - span.offset_s;
            return *at_s >= INSTANT_S_MIN;
        }
        if (jump_ticks(cron, &span, shown_s)) {
            *at_s = span.from_s;
            return true;
        }
        if (span.from_s <= INSTANT_S_MIN)
            return false;
    }
}
