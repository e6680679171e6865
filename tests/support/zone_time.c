/* Times as people write them, in a zone. */
#include "support/zone_time.h"

#include <stdio.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/civil.h"

struct reader {
    pawl_str text;
    size_t at;
};

static char peek(const struct reader *reader) {
    return reader->at < reader->text.len ? reader->text.ptr[reader->at] : '\0';
}

static bool take(struct reader *reader, char c) {
    bool there = peek(reader) == c;
    reader->at += there ? 1 : 0;
    return there;
}

static bool take_digits(struct reader *reader, int count, int min, int max, int *value) {
    int number = 0;
    size_t start = reader->at;
    for (int i = 0; i < count; i++, reader->at++) {
        char c = peek(reader);
        if (c < '0' || c > '9')
            return false;
        number = number * 10 + (c - '0');
    }
    *value = number;
    if (number >= min && number <= max)
        return true;
    reader->at = start;
    return false;
}

/* Up to three decimals count, more are dropped. */
static bool take_fraction(struct reader *reader, int *milliseconds) {
    if (!take(reader, '.'))
        return true;
    int weight = 100;
    int digits = 0;
    for (; peek(reader) >= '0' && peek(reader) <= '9' && digits < 9; digits++, reader->at++) {
        *milliseconds += (peek(reader) - '0') * weight;
        weight /= 10;
    }
    return digits > 0;
}

struct parts {
    int year, month, day, hour, minute, second, milliseconds;
    bool has_offset;
    int32_t offset_s;
};

static bool take_offset(struct reader *reader, struct parts *parts) {
    if (take(reader, 'Z') || take(reader, 'z')) {
        parts->has_offset = true;
        return true;
    }
    bool west = peek(reader) == '-';
    if (!west && peek(reader) != '+')
        return true;
    reader->at++;
    int hours = 0;
    int minutes = 0;
    if (!take_digits(reader, 2, 0, 23, &hours))
        return false;
    (void)take(reader, ':');
    if (!take_digits(reader, 2, 0, 59, &minutes))
        return false;
    parts->has_offset = true;
    parts->offset_s = (hours * 3600 + minutes * 60) * (west ? -1 : 1);
    return true;
}

static bool take_parts(struct reader *reader, struct parts *parts) {
    if (!take_digits(reader, 4, 1, 9999, &parts->year) || !take(reader, '-') ||
        !take_digits(reader, 2, 1, 12, &parts->month) || !take(reader, '-') ||
        !take_digits(reader, 2, 1, civil_month_days(parts->year, parts->month), &parts->day))
        return false;
    if (reader->at == reader->text.len)
        return true;
    if (!take(reader, 'T') && !take(reader, 't') && !take(reader, ' '))
        return false;
    if (!take_digits(reader, 2, 0, 23, &parts->hour) || !take(reader, ':') ||
        !take_digits(reader, 2, 0, 59, &parts->minute))
        return false;
    if (take(reader, ':') &&
        (!take_digits(reader, 2, 0, 59, &parts->second) || !take_fraction(reader, &parts->milliseconds)))
        return false;
    return take_offset(reader, parts);
}

/* The instant that a wall time means: the earliest at which the clock shows it, or the end of the gap when it
 * never does. */
static int64_t instant(const struct zone *zone, int64_t wall_s) {
    struct zone_span span = zone_span_at(zone, wall_s - 2 * CIVIL_DAY_S);
    while (span.until_s < INT64_MAX / 2 && span.until_s + span.offset_s <= wall_s)
        span = zone_span_at(zone, span.until_s);
    int64_t instant_s = wall_s - span.offset_s;
    return instant_s > span.from_s ? instant_s : span.from_s;
}

pawl_status zone_parse_time(const struct zone *zone, pawl_str text, int64_t *at_ms, pawl_error *err) {
    struct reader reader = {.text = str_trim(text)};
    struct parts parts = {0};
    if (!take_parts(&reader, &parts) || reader.at != reader.text.len)
        return error_set(
            err, PAWL_INVALID, "zone_parse_time",
            "the time '%.*s' cannot be read at position %zu: write 2026-03-29T14:30, with Z or an "
            "offset such as +02:00 behind it unless the zone's own time is meant",
            STR_ARG(text), reader.at + 1);
    int64_t wall_s = civil_to_days(parts.year, parts.month, parts.day) * CIVIL_DAY_S + parts.hour * 3600 +
                     parts.minute * 60 + parts.second;
    int64_t utc_s = parts.has_offset ? wall_s - parts.offset_s : instant(zone, wall_s);
    *at_ms = utc_s * 1000 + parts.milliseconds;
    return PAWL_OK;
}

char *zone_format_time(const struct zone *zone, int64_t at_ms, char text[static ZONE_TIME_BYTES]) {
    int64_t utc_s = civil_floor_div(at_ms, 1000);
    int offset_s = zone_span_at(zone, utc_s).offset_s;
    int64_t wall_s = utc_s + offset_s;
    int64_t min_s = civil_to_days(0, 1, 1) * CIVIL_DAY_S;
    int64_t max_s = civil_to_days(10000, 1, 1) * CIVIL_DAY_S - 1;
    wall_s = wall_s < min_s ? min_s : wall_s > max_s ? max_s : wall_s;
    int64_t days = civil_floor_div(wall_s, CIVIL_DAY_S);
    struct civil date = civil_from_days(days);
    int rest = (int)(wall_s - days * CIVIL_DAY_S);
    int milliseconds = (int)(at_ms - utc_s * 1000);
    int length = snprintf(text, ZONE_TIME_BYTES, "%04d-%02d-%02dT%02d:%02d:%02d", (int)date.year, date.month,
                          date.day, rest / 3600, rest / 60 % 60, rest % 60);
    if (milliseconds != 0)
        length += snprintf(text + length, ZONE_TIME_BYTES - (size_t)length, ".%03d", milliseconds);
    unsigned size_s = (unsigned)(offset_s < 0 ? -offset_s : offset_s);
    snprintf(text + length, ZONE_TIME_BYTES - (size_t)length, "%c%02u:%02u", offset_s < 0 ? '-' : '+',
             size_s / 3600 % 100, size_s / 60 % 60);
    return text;
}
