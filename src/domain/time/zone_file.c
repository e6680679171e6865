/* Reads a zone from the bytes of its file (TZif, RFC 8536). */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/civil.h"
#include "base/time/tzdata.h"
#include "domain/time/zone_int.h"

enum {
    HEADER_BYTES = 44,
    TYPES_MAX = 256,
    RULE_YEARS = 404, /* a cycle, and a few years on both sides so that its ends come from the rule too */
};

/* Far beyond any calendar, but small enough to add offsets to. */
#define INSTANT_S_MAX ((int64_t)1 << 60)

/* The counts of a header and where its data starts. */
struct block {
    size_t at; /* of the data */
    size_t time_bytes;
    size_t isut, isstd, leaps, times, types, chars;
};

static uint32_t big_endian_32(const char *ptr) {
    const uint8_t *b = (const uint8_t *)ptr;
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static int64_t big_endian_64(const char *ptr) {
    return (int64_t)((uint64_t)big_endian_32(ptr) << 32 | big_endian_32(ptr + 4));
}

static pawl_status broken(pawl_str name, size_t at, const char *why, pawl_error *err) {
    return error_set(err, PAWL_INVALID, "zone_parse",
                     "the file of time zone '%.*s' is malformed at byte %zu: %s", STR_ARG(name), at, why);
}

static size_t block_bytes(const struct block *block) {
    return block->times * (block->time_bytes + 1) + block->types * 6 + block->chars +
           block->leaps * (block->time_bytes + 4) + block->isstd + block->isut;
}

static pawl_status read_header(pawl_str name, pawl_str bytes, size_t at, struct block *block,
                               pawl_error *err) {
    if (bytes.len < at + HEADER_BYTES || memcmp(bytes.ptr + at, "TZif", 4) != 0)
        return broken(name, at, "a header is expected", err);
    if (bytes.ptr[at + 4] < '2')
        return broken(name, at + 4, "version 2 or later is needed", err);
    const char *counts = bytes.ptr + at + 20;
    /* Counts have 32 bits and the widest entry 12 bytes: sums of them fit a size_t. */
    block->isut = big_endian_32(counts);
    block->isstd = big_endian_32(counts + 4);
    block->leaps = big_endian_32(counts + 8);
    block->times = big_endian_32(counts + 12);
    block->types = big_endian_32(counts + 16);
    block->chars = big_endian_32(counts + 20);
    block->at = at + HEADER_BYTES;
    if (block_bytes(block) > bytes.len - block->at)
        return broken(name, at + 20, "the counts promise more than the file holds", err);
    return PAWL_OK;
}

/* Adds a change unless it changes nothing. */
static void add_change(struct zone *zone, int64_t at_s, int32_t offset_s) {
    if (zone->count > 0 && zone->changes[zone->count - 1].at_s == at_s)
        zone->count--; /* two at one instant: the later one counts */
    int32_t before_s = zone->count > 0 ? zone->changes[zone->count - 1].offset_s : zone->first_offset_s;
    if (offset_s != before_s)
        zone->changes[zone->count++] = (struct zone_change){at_s, offset_s};
}

static pawl_status read_types(pawl_str name, pawl_str bytes, const struct block *block, int32_t *offsets,
                              pawl_error *err) {
    size_t at = block->at + block->times * 9;
    if (block->types == 0 || block->types > TYPES_MAX)
        return broken(name, block->at - HEADER_BYTES + 36, "it must have 1 to 256 kinds of time", err);
    for (size_t i = 0; i < block->types; i++, at += 6) {
        offsets[i] = (int32_t)big_endian_32(bytes.ptr + at);
        if (offsets[i] > ZONE_OFFSET_S_MAX || offsets[i] < -ZONE_OFFSET_S_MAX)
            return broken(name, at, "an offset from UTC is more than 26 hours", err);
    }
    return PAWL_OK;
}

static pawl_status read_changes(pawl_str name, pawl_str bytes, const struct block *block, struct zone *zone,
                                pawl_error *err) {
    int32_t offsets[TYPES_MAX];
    pawl_status status = read_types(name, bytes, block, offsets, err);
    if (status != PAWL_OK)
        return status;
    zone->first_offset_s = offsets[0];
    int64_t before_s = INT64_MIN;
    for (size_t i = 0; i < block->times; i++) {
        size_t at = block->at + i * 8;
        int64_t at_s = big_endian_64(bytes.ptr + at);
        uint8_t type = (uint8_t)bytes.ptr[block->at + block->times * 8 + i];
        if (at_s <= before_s || at_s > INSTANT_S_MAX || at_s < -INSTANT_S_MAX)
            return broken(name, at, "the instants do not ascend", err);
        if (type >= block->types)
            return broken(name, block->at + block->times * 8 + i,
                          "it refers to a kind of time that is missing", err);
        add_change(zone, at_s, offsets[type]);
        before_s = at_s;
    }
    return PAWL_OK;
}

/* A rule whose dates overlap from one year to the next makes no sense, but it must not break the order. */
static void add_rule_change(struct zone *zone, int64_t behind_s, int64_t at_s, int32_t offset_s) {
    bool ascends = zone->count == 0 || at_s >= zone->changes[zone->count - 1].at_s;
    if (at_s > behind_s && ascends)
        add_change(zone, at_s, offset_s);
}

/* After the last change, the rule makes two a year. */
static void expand_rule(struct zone *zone, const struct zone_rule *rule, int64_t last_s) {
    if (!rule->has_daylight) {
        add_change(zone, last_s + 1, rule->standard_s);
        return;
    }
    /* Whether the file's data ends early or late, the years around now come from the rule. */
    int64_t first_year = civil_from_days(civil_floor_div(last_s, CIVIL_DAY_S)).year;
    for (int64_t year = first_year - 1; year < first_year + RULE_YEARS; year++) {
        int64_t start_s = zone_rule_start(rule, year);
        int64_t end_s = zone_rule_end(rule, year);
        if (start_s < end_s)
            add_rule_change(zone, last_s, start_s, rule->daylight_s);
        add_rule_change(zone, last_s, end_s, rule->standard_s);
        if (start_s >= end_s)
            add_rule_change(zone, last_s, start_s, rule->daylight_s);
    }
    zone->repeat_from_s = civil_to_days(first_year + 2, 1, 1) * CIVIL_DAY_S;
    zone->repeats = zone->count > 0 &&
                    zone->changes[zone->count - 1].at_s > zone->repeat_from_s + ZONE_CYCLE_S;
}

static pawl_status read_footer(pawl_str name, pawl_str bytes, size_t at, struct zone_rule *rule,
                               bool *has_rule, pawl_error *err) {
    if (at >= bytes.len || bytes.ptr[at] != '\n')
        return broken(name, at, "the rule for later years is missing", err);
    const char *end = memchr(bytes.ptr + at + 1, '\n', bytes.len - at - 1);
    if (end == NULL)
        return broken(name, bytes.len, "the rule for later years does not end", err);
    pawl_str text = {bytes.ptr + at + 1, (size_t)(end - bytes.ptr) - at - 1};
    size_t offset = 0;
    *has_rule = text.len > 0;
    if (*has_rule && !zone_rule_parse(text, rule, &offset))
        return broken(name, at + 1 + offset, "the rule for later years cannot be read", err);
    return PAWL_OK;
}

static pawl_status read_zone(pawl_str name, pawl_str bytes, const struct block *block, struct zone *zone,
                             pawl_error *err) {
    pawl_status status = read_changes(name, bytes, block, zone, err);
    if (status != PAWL_OK)
        return status;
    struct zone_rule rule;
    bool has_rule = false;
    status = read_footer(name, bytes, block->at + block_bytes(block), &rule, &has_rule, err);
    if (status != PAWL_OK || !has_rule)
        return status;
    int64_t last_s = block->times > 0 ? big_endian_64(bytes.ptr + block->at + (block->times - 1) * 8) : 0;
    /* Instants beyond the calendar's years would make the rule's arithmetic meaningless. */
    if (last_s > ZONE_CYCLE_S * 20)
        return broken(name, block->at, "a change lies thousands of years ahead", err);
    if (last_s < -ZONE_CYCLE_S * 5)
        last_s = 0;
    if (block->times == 0 && !rule.has_daylight)
        zone->first_offset_s = rule.standard_s;
    else
        expand_rule(zone, &rule, last_s);
    return PAWL_OK;
}

pawl_status zone_parse(pawl_str name, pawl_str bytes, struct zone **zone, pawl_error *err) {
    if (!tzdata_name_ok(name))
        return error_set(err, PAWL_INVALID, "zone_parse", "'%.*s' cannot be the name of a time zone",
                         STR_ARG(name));
    struct block block = {.time_bytes = 4};
    pawl_status status = read_header(name, bytes, 0, &block, err);
    if (status != PAWL_OK)
        return status;
    size_t second = block.at + block_bytes(&block);
    block.time_bytes = 8;
    status = read_header(name, bytes, second, &block, err);
    if (status != PAWL_OK)
        return status;
    if (block.leaps > 0)
        return error_set(
            err, PAWL_INVALID, "zone_parse",
            "the time zone '%.*s' counts leap seconds, which our clock does not: take the zone of "
            "the same name outside right/",
            STR_ARG(name));
    struct zone *made =
        calloc(1, sizeof(*made) + (block.times + (size_t)RULE_YEARS * 2 + 4) * sizeof(struct zone_change));
    if (made == NULL)
        return error_no_memory(err, "zone_parse");
    memcpy(made->name, name.ptr, name.len);
    status = read_zone(name, bytes, &block, made, err);
    if (status == PAWL_OK)
        *zone = made;
    else
        zone_free(made);
    return status;
}

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
