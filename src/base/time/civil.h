/* The Gregorian calendar as arithmetic: days since 1970-01-01, year, month, day, weekday. */
#ifndef BASE_TIME_CIVIL_H
#define BASE_TIME_CIVIL_H

#include "pawl.h"

enum { CIVIL_DAY_S = 86400, CIVIL_CYCLE_DAYS = 146097 /* 400 years: the calendar repeats, weekdays too */ };

struct civil {
    int64_t year;
    int month, day; /* from 1 */
};

int64_t civil_to_days(int64_t year, int month, int day);
struct civil civil_from_days(int64_t days);
int civil_weekday(int64_t days); /* 0 = Sunday */
bool civil_is_leap(int64_t year);
int civil_month_days(int64_t year, int month);

/* "2026-01-31". */
PAWL_MUSTCHECK bool civil_parse(pawl_str text, struct civil *civil);

/* Days and the rest, rounded down also before 1970. */
int64_t civil_floor_div(int64_t value, int64_t divisor);

#endif
