/* The Gregorian calendar as arithmetic. */
#include "base/time/civil.h"

#include "base/str.h"

int64_t civil_floor_div(int64_t value, int64_t divisor) {
    int64_t quotient = value / divisor;
    return value % divisor < 0 ? quotient - 1 : quotient;
}

bool civil_is_leap(int64_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

int civil_month_days(int64_t year, int month) {
    static const int8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && civil_is_leap(year) ? 1 : 0);
}

/* Days of the year before a month, counting from March, so that the leap day is the last. */
static int64_t days_before_month(int month_from_march) { return (153 * month_from_march + 2) / 5; }

enum { DAYS_TO_1970_FROM_MARCH_0 = 719468 };

int64_t civil_to_days(int64_t year, int month, int day) {
    int64_t shifted = month > 2 ? year : year - 1; /* the year that began in March */
    int64_t leaps = civil_floor_div(shifted, 4) - civil_floor_div(shifted, 100) +
                    civil_floor_div(shifted, 400);
    return shifted * 365 + leaps + days_before_month((month + 9) % 12) + day - 1 - DAYS_TO_1970_FROM_MARCH_0;
}

struct civil civil_from_days(int64_t days) {
    int64_t shifted = days + DAYS_TO_1970_FROM_MARCH_0;
    int64_t cycle = civil_floor_div(shifted, CIVIL_CYCLE_DAYS);
    int64_t in_cycle = shifted - cycle * CIVIL_CYCLE_DAYS;
    /* Subtracts a day for every leap day passed, so that each year has 365. */
    int64_t year = (in_cycle - in_cycle / 1460 + in_cycle / 36524 - in_cycle / 146096) / 365;
    int64_t in_year = in_cycle - (365 * year + year / 4 - year / 100);
    int month = (int)((5 * in_year + 2) / 153);
    struct civil civil = {
        .year = cycle * 400 + year + (month >= 10 ? 1 : 0),
        .month = month < 10 ? month + 3 : month - 9,
        .day = (int)(in_year - days_before_month(month)) + 1,
    };
    return civil;
}

int civil_weekday(int64_t days) { return (int)(days + 4 - civil_floor_div(days + 4, 7) * 7); }

bool civil_parse(pawl_str text, struct civil *civil) {
    int64_t year = 0, month = 0, day = 0;
    if (text.len != 10 || text.ptr[4] != '-' || text.ptr[7] != '-' || !char_is_digit(text.ptr[0]) ||
        !char_is_digit(text.ptr[5]) || !char_is_digit(text.ptr[8]) ||
        !str_to_i64((pawl_str){text.ptr, 4}, 0, 9999, &year) ||
        !str_to_i64((pawl_str){text.ptr + 5, 2}, 1, 12, &month) ||
        !str_to_i64((pawl_str){text.ptr + 8, 2}, 1, civil_month_days(year, (int)month), &day))
        return false;
    *civil = (struct civil){year, (int)month, (int)day};
    return true;
}
