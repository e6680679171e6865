/* Cron expressions: when the wall clock of a zone matches five or six fields. */
#ifndef DOMAIN_TIME_CRON_H
#define DOMAIN_TIME_CRON_H

#include "domain/time/zone.h"
#include "pawl.h"

/*
 * A parsed expression; plain data, may be copied. docs/schedules.md has the language: five fields (minute,
 * hour, day of the month, month, day of the week), six with seconds in front, names, lists, ranges, steps, L,
 * W, #, and @daily and its like.
 */
struct cron {
    uint64_t seconds, minutes;     /* bit n: n matches */
    uint32_t hours, days, months;  /* days: bit 1..31 */
    uint32_t days_before_last;     /* bit n: the day n days before the month's last (L = bit 0) */
    uint32_t workdays;             /* bit n: the weekday (Mon-Fri) nearest to day n, inside the month */
    bool last_workday;             /* LW */
    uint8_t weekdays;              /* bit 0 = Sunday … 6 */
    uint8_t nth_weekdays[6];       /* [k]: k-th such weekday of the month; [0]: the last one */
    bool every_day, every_weekday; /* the field allows everything */
    bool fixed_hours;              /* not every hour matches: decides what happens when clocks change */
};

/* PAWL_INVALID names the field and the position (from 1) of what is wrong. An expression that can never match
 * (30 February) is refused as well. */
PAWL_MUSTCHECK pawl_status cron_parse(pawl_str text, struct cron *cron, pawl_error *err);

/* The first tick after after_s / the last tick before before_s, by the rules for clock changes in
 * docs/schedules.md. False when there is none in the years 1 to 9999. */
PAWL_MUSTCHECK bool cron_next(const struct cron *cron, const struct zone *zone, int64_t after_s,
                              int64_t *at_s);
PAWL_MUSTCHECK bool cron_previous(const struct cron *cron, const struct zone *zone, int64_t before_s,
                                  int64_t *at_s);

/* Whether any day of the calendar's 400 years matches. */
bool cron_matches_ever(const struct cron *cron);

#endif
