/* The parts of a zone; for the files zone*.c only. */
#ifndef DOMAIN_TIME_ZONE_INT_H
#define DOMAIN_TIME_ZONE_INT_H

#include "base/limits.h"
#include "base/time/civil.h"
#include "domain/time/zone.h"
#include "pawl.h"

/* From at_s on, offset_s holds. */
struct zone_change {
    int64_t at_s;
    int32_t offset_s;
};

/*
 * The changes of the file and, after them, those of its rule for 400 years: the calendar repeats then, so
 * that a later instant is looked up that many cycles earlier.
 */
struct zone {
    char name[PAWL_ZONE_NAME_BYTES_MAX + 1];
    int32_t first_offset_s; /* before the first change */
    bool repeats;           /* the changes from repeat_from_s on repeat every 400 years */
    int64_t repeat_from_s;
    size_t count;
    struct zone_change changes[]; /* each differs from the one before */
};

#define ZONE_CYCLE_S ((int64_t)CIVIL_CYCLE_DAYS * CIVIL_DAY_S)

/* When the clock changes each year. */
struct zone_rule_date {
    enum { ZONE_RULE_MONTH, ZONE_RULE_JULIAN, ZONE_RULE_DAY } kind;
    int month, week, weekday; /* ZONE_RULE_MONTH: week 5 = the last */
    int day;                  /* ZONE_RULE_JULIAN: 1..365, no 29 February; ZONE_RULE_DAY: 0..365 */
    int32_t time_s;           /* of the wall clock before the change; may be negative or beyond a day */
};

struct zone_rule {
    int32_t standard_s, daylight_s; /* east of UTC */
    bool has_daylight;
    struct zone_rule_date start, end; /* of daylight time */
};

enum { ZONE_OFFSET_S_MAX = 93599 }; /* 25:59:59, as RFC 8536 has it */

/* Reads "CET-1CEST,M3.5.0,M10.5.0/3". False when it is malformed; *offset is where. */
PAWL_MUSTCHECK bool zone_rule_parse(pawl_str text, struct zone_rule *rule, size_t *offset);

/* The instants at which daylight time starts and ends in a year. */
int64_t zone_rule_start(const struct zone_rule *rule, int64_t year);
int64_t zone_rule_end(const struct zone_rule *rule, int64_t year);

#endif
