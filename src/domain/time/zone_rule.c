/* The rule at the end of a zone's file (POSIX TZ with the extensions of RFC 8536). */
#include "domain/time/zone_rule.h"

#include "base/str.h"
#include "base/time/civil.h"

struct rule_reader {
    pawl_str text;
    size_t at;
};

static char peek(const struct rule_reader *reader) {
    return reader->at < reader->text.len ? reader->text.ptr[reader->at] : '\0';
}

static bool take(struct rule_reader *reader, char c) {
    if (peek(reader) != c)
        return false;
    reader->at++;
    return true;
}

/* "CET" or "<+0330>": three characters at least. */
static bool take_name(struct rule_reader *reader) {
    bool quoted = take(reader, '<');
    size_t length = 0;
    for (char c = peek(reader); char_is_letter(c) || (quoted && (char_is_digit(c) || c == '+' || c == '-'));
         c = peek(reader)) {
        reader->at++;
        length++;
    }
    return length >= 3 && (!quoted || take(reader, '>'));
}

static bool take_number(struct rule_reader *reader, int min, int max, int *value) {
    int number = 0;
    int digits = 0;
    for (; char_is_digit(peek(reader)) && digits < 4; digits++, reader->at++)
        number = number * 10 + (peek(reader) - '0');
    *value = number;
    return digits > 0 && number >= min && number <= max;
}

/* [+-]hh[:mm[:ss]] */
static bool take_time(struct rule_reader *reader, int hours_max, int32_t *seconds) {
    bool negative = take(reader, '-');
    if (!negative)
        (void)take(reader, '+');
    int hours = 0;
    int minutes = 0;
    int rest = 0;
    if (!take_number(reader, 0, hours_max, &hours))
        return false;
    if (take(reader, ':')) {
        if (!take_number(reader, 0, 59, &minutes))
            return false;
        if (take(reader, ':') && !take_number(reader, 0, 59, &rest))
            return false;
    }
    *seconds = (hours * 60 + minutes) * 60 + rest;
    if (negative)
        *seconds = -*seconds;
    return true;
}

static bool take_date(struct rule_reader *reader, struct zone_rule_date *date) {
    date->time_s = 2 * 3600;
    if (take(reader, 'M')) {
        date->kind = ZONE_RULE_MONTH;
        if (!take_number(reader, 1, 12, &date->month) || !take(reader, '.') ||
            !take_number(reader, 1, 5, &date->week) || !take(reader, '.') ||
            !take_number(reader, 0, 6, &date->weekday))
            return false;
    } else if (take(reader, 'J')) {
        date->kind = ZONE_RULE_JULIAN;
        if (!take_number(reader, 1, 365, &date->day))
            return false;
    } else {
        date->kind = ZONE_RULE_DAY;
        if (!take_number(reader, 0, 365, &date->day))
            return false;
    }
    return !take(reader, '/') || take_time(reader, 167, &date->time_s);
}

static bool read_rule(struct rule_reader *reader, struct zone_rule *rule) {
    int32_t west_s = 0;
    if (!take_name(reader) || !take_time(reader, 25, &west_s))
        return false;
    rule->standard_s = -west_s;
    rule->daylight_s = rule->standard_s;
    rule->has_daylight = reader->at < reader->text.len;
    if (!rule->has_daylight)
        return true;
    if (!take_name(reader))
        return false;
    west_s -= 3600;
    if (peek(reader) != ',' && !take_time(reader, 25, &west_s))
        return false;
    rule->daylight_s = -west_s;
    return take(reader, ',') && take_date(reader, &rule->start) && take(reader, ',') &&
           take_date(reader, &rule->end) && reader->at == reader->text.len &&
           rule->daylight_s <= ZONE_OFFSET_S_MAX && rule->daylight_s >= -ZONE_OFFSET_S_MAX;
}

bool zone_rule_parse(pawl_str text, struct zone_rule *rule, size_t *offset) {
    struct rule_reader reader = {.text = text};
    struct zone_rule found = {0};
    if (!read_rule(&reader, &found)) {
        *offset = reader.at;
        return false;
    }
    *rule = found;
    return true;
}

static int64_t date_days(const struct zone_rule_date *date, int64_t year) {
    if (date->kind == ZONE_RULE_DAY)
        return civil_to_days(year, 1, 1) + date->day;
    if (date->kind == ZONE_RULE_JULIAN)
        return civil_to_days(year, 1, 1) + date->day - 1 + (civil_is_leap(year) && date->day >= 60 ? 1 : 0);
    int64_t first = civil_to_days(year, date->month, 1);
    int day = (date->weekday - civil_weekday(first) + 7) % 7 + (date->week - 1) * 7;
    if (day >= civil_month_days(year, date->month))
        day -= 7;
    return first + day;
}

int64_t zone_rule_start(const struct zone_rule *rule, int64_t year) {
    return date_days(&rule->start, year) * CIVIL_DAY_S + rule->start.time_s - rule->standard_s;
}

int64_t zone_rule_end(const struct zone_rule *rule, int64_t year) {
    return date_days(&rule->end, year) * CIVIL_DAY_S + rule->end.time_s - rule->daylight_s;
}
