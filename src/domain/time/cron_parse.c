/* Parsing cron expressions. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "domain/time/cron.h"

enum field_id { SECOND, MINUTE, HOUR, DAY, MONTH, WEEKDAY, FIELDS };

struct cron_field {
    const char *name;
    int min, max;      /* the allowed values; 7 is another name for Sunday */
    const char *names; /* three letters each, from min on; NULL = none */
};

static const struct cron_field fields[FIELDS] = {
    {"second", 0, 59, NULL},
    {"minute", 0, 59, NULL},
    {"hour", 0, 23, NULL},
    {"day of the month", 1, 31, NULL},
    {"month", 1, 12, "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC"},
    {"day of the week", 0, 7, "SUNMONTUEWEDTHUFRISAT"},
};

struct cron_parser {
    pawl_str text;
    size_t at;
    int field;  /* enum field_id */
    int number; /* of the field as it was written, from 1 */
    struct cron *cron;
    uint64_t bits; /* of the field so far */
    pawl_error *err;
};

static pawl_status wrong(const struct cron_parser *parser, size_t at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static pawl_status wrong(const struct cron_parser *parser, size_t at, const char *fmt, ...) {
    char reason[200];
    va_list args;
    va_start(args, fmt);
    vsnprintf(reason, sizeof(reason), fmt, args);
    va_end(args);
    return error_set(parser->err, PAWL_INVALID, "cron_parse", "cron '%.*s': field %d (%s), position %zu: %s",
                     STR_ARG(parser->text), parser->number, fields[parser->field].name, at + 1, reason);
}

static bool is_blank(char c) { return c == ' ' || c == '\t'; }
static char upper(char c) { return (char)(c >= 'a' && c <= 'z' ? c - ('a' - 'A') : c); }

static char peek(const struct cron_parser *parser) {
    return parser->at < parser->text.len ? upper(parser->text.ptr[parser->at]) : '\0';
}

static char peek_next(const struct cron_parser *parser) {
    return parser->at + 1 < parser->text.len ? upper(parser->text.ptr[parser->at + 1]) : '\0';
}

static bool take(struct cron_parser *parser, char c) {
    bool there = peek(parser) == c;
    parser->at += there ? 1 : 0;
    return there;
}

static bool at_item_end(const struct cron_parser *parser) {
    return parser->at == parser->text.len || is_blank(parser->text.ptr[parser->at]) || peek(parser) == ',';
}

static pawl_status take_number(struct cron_parser *parser, int min, int max, const char *what, int *value) {
    size_t start = parser->at;
    int number = 0;
    for (; char_is_digit(peek(parser)); parser->at++)
        if (number < 100000)
            number = number * 10 + (peek(parser) - '0');
    if (parser->at == start)
        return wrong(parser, start, "a %s is expected", what);
    if (number < min || number > max)
        return wrong(parser, start, "%d is not between %d and %d", number, min, max);
    *value = number;
    return PAWL_OK;
}

static pawl_status take_name(struct cron_parser *parser, int *value) {
    const struct cron_field *field = &fields[parser->field];
    size_t length = 0;
    while (parser->at + length < parser->text.len && char_is_letter(parser->text.ptr[parser->at + length]))
        length++;
    pawl_str word = {parser->text.ptr + parser->at, length};
    if (field->names == NULL)
        return wrong(parser, parser->at, "'%.*s' is not a number", STR_ARG(word));
    for (int i = 0; field->names[i * 3] != '\0' && length >= 3; i++) {
        bool same = true;
        for (int j = 0; j < 3; j++)
            same = same && upper(word.ptr[j]) == field->names[i * 3 + j];
        /* FRIL is the last Friday: a letter may follow. */
        if (same && (length == 3 || (length == 4 && upper(word.ptr[3]) == 'L' && parser->field == WEEKDAY))) {
            parser->at += 3;
            *value = field->min + i;
            return PAWL_OK;
        }
    }
    return wrong(parser, parser->at, "'%.*s' is no %s: use the first three letters of its English name",
                 STR_ARG(word), field->name);
}

static pawl_status take_value(struct cron_parser *parser, int *value) {
    if (char_is_letter(peek(parser)))
        return take_name(parser, value);
    return take_number(parser, fields[parser->field].min, fields[parser->field].max, "number", value);
}

/* How many different values a field has; Sunday is one day. */
static int field_size(int field) { return field == WEEKDAY ? 7 : fields[field].max - fields[field].min + 1; }

static pawl_status take_step(struct cron_parser *parser, int *step) {
    *step = 1;
    if (!take(parser, '/'))
        return PAWL_OK;
    return take_number(parser, 1, field_size(parser->field), "step", step);
}

/* low … high may wrap around the field's end: 22-3, FRI-MON. */
static void add_range(struct cron_parser *parser, int low, int high, int step) {
    int size = field_size(parser->field);
    int min = fields[parser->field].min;
    for (int value = low; value <= high; value += step)
        parser->bits |= UINT64_C(1) << ((value - min) % size + min);
}

static pawl_status add_plain(struct cron_parser *parser, size_t start, int low) {
    int size = field_size(parser->field);
    int high = low;
    bool is_range = take(parser, '-');
    if (is_range) {
        pawl_status status = take_value(parser, &high);
        if (status != PAWL_OK)
            return status;
    }
    bool has_step = peek(parser) == '/';
    int step = 1;
    pawl_status status = take_step(parser, &step);
    if (status != PAWL_OK)
        return status;
    if (parser->field == WEEKDAY && low == 7 && high < 7)
        low = 0;
    if (!is_range && has_step) {
        low %= parser->field == WEEKDAY ? 7 : 100;
        high = fields[parser->field].min + size - 1;
    }
    if (low > high && parser->field == DAY)
        return wrong(parser, start,
                     "the range %d-%d runs backwards: months differ in length, so write two ranges", low,
                     high);
    if (low > high)
        high += size;
    add_range(parser, low, high, step);
    return PAWL_OK;
}

/* L, L-3, LW */
static pawl_status add_last_day(struct cron_parser *parser) {
    if (take(parser, 'W')) {
        parser->cron->last_workday = true;
        return PAWL_OK;
    }
    int before = 0;
    if (take(parser, '-')) {
        pawl_status status = take_number(parser, 1, 30, "number of days", &before);
        if (status != PAWL_OK)
            return status;
    }
    parser->cron->days_before_last |= UINT32_C(1) << before;
    return PAWL_OK;
}

/* After a weekday: #2, #L, L. */
static pawl_status add_nth_weekday(struct cron_parser *parser, int weekday) {
    int nth = 0;
    if (take(parser, '#') && !take(parser, 'L')) {
        pawl_status status = take_number(parser, 1, 5, "number from 1 to 5, or L,", &nth);
        if (status != PAWL_OK)
            return status;
    } else {
        (void)take(parser, 'L');
    }
    parser->cron->nth_weekdays[nth] |= (uint8_t)(1 << weekday % 7);
    return PAWL_OK;
}

static pawl_status add_value(struct cron_parser *parser) {
    size_t start = parser->at;
    int value = 0;
    pawl_status status = take_value(parser, &value);
    if (status != PAWL_OK)
        return status;
    if (parser->field == DAY && take(parser, 'W')) {
        parser->cron->workdays |= UINT32_C(1) << value;
        return PAWL_OK;
    }
    if (parser->field == WEEKDAY && (peek(parser) == '#' || peek(parser) == 'L'))
        return add_nth_weekday(parser, value);
    return add_plain(parser, start, value);
}

static pawl_status add_item(struct cron_parser *parser) {
    const struct cron_field *field = &fields[parser->field];
    size_t start = parser->at;
    pawl_status status = PAWL_OK;
    if (at_item_end(parser))
        return wrong(parser, start, "a value is missing");
    if (take(parser, '*')) {
        int step = 1;
        status = take_step(parser, &step);
        if (status == PAWL_OK)
            add_range(parser, field->min, field->min + field_size(parser->field) - 1, step);
    } else if ((parser->field == DAY || parser->field == WEEKDAY) && take(parser, '?')) {
        add_range(parser, field->min, field->min + field_size(parser->field) - 1, 1);
    } else if (parser->field == DAY && peek(parser) == 'L') {
        parser->at++;
        status = add_last_day(parser);
    } else if (parser->field == WEEKDAY && peek(parser) == 'L' && !char_is_letter(peek_next(parser))) {
        status = wrong(parser, start, "L alone says nothing here: write FRIL for the month's last Friday");
    } else {
        status = add_value(parser);
    }
    if (status == PAWL_OK && !at_item_end(parser)) {
        pawl_str rest = {parser->text.ptr + parser->at, 1};
        status = wrong(parser, parser->at, "'%.*s' is not expected here", STR_ARG(rest));
    }
    return status;
}

static void store_field(const struct cron_parser *parser) {
    struct cron *cron = parser->cron;
    uint64_t all = 0;
    for (int i = 0; i < field_size(parser->field); i++)
        all |= UINT64_C(1) << (i + fields[parser->field].min);
    bool everything = parser->bits == all;
    switch (parser->field) {
    case SECOND:
        cron->seconds = parser->bits;
        break;
    case MINUTE:
        cron->minutes = parser->bits;
        break;
    case HOUR:
        cron->hours = (uint32_t)parser->bits;
        cron->fixed_hours = !everything;
        break;
    case DAY:
        cron->days = (uint32_t)parser->bits;
        cron->every_day = everything;
        break;
    case MONTH:
        cron->months = (uint32_t)parser->bits;
        break;
    default:
        cron->weekdays = (uint8_t)parser->bits;
        cron->every_weekday = everything;
        break;
    }
}

static pawl_status take_field(struct cron_parser *parser) {
    parser->bits = 0;
    do {
        pawl_status status = add_item(parser);
        if (status != PAWL_OK)
            return status;
    } while (take(parser, ','));
    store_field(parser);
    return PAWL_OK;
}

static void skip_blanks(struct cron_parser *parser) {
    while (parser->at < parser->text.len && is_blank(parser->text.ptr[parser->at]))
        parser->at++;
}

static int count_fields(struct cron_parser *parser) {
    int count = 0;
    for (parser->at = 0, skip_blanks(parser); parser->at < parser->text.len; skip_blanks(parser), count++)
        while (parser->at < parser->text.len && !is_blank(parser->text.ptr[parser->at]))
            parser->at++;
    parser->at = 0;
    return count;
}

static pawl_status expand_nickname(pawl_str text, pawl_str *expression, pawl_error *err) {
    static const struct {
        const char *name, *expression;
    } nicknames[] = {{"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"},
                     {"@weekly", "0 0 * * 0"}, {"@daily", "0 0 * * *"},    {"@midnight", "0 0 * * *"},
                     {"@hourly", "0 * * * *"}};
    for (size_t i = 0; i < sizeof(nicknames) / sizeof(nicknames[0]); i++) {
        if (strlen(nicknames[i].name) == text.len &&
            strncasecmp(nicknames[i].name, text.ptr, text.len) == 0) {
            *expression = str_from(nicknames[i].expression);
            return PAWL_OK;
        }
    }
    return error_set(err, PAWL_INVALID, "cron_parse",
                     "cron '%.*s' is not known: there are @yearly, @annually, @monthly, @weekly, @daily, "
                     "@midnight and @hourly (for \"every 5 minutes\" take an interval)",
                     STR_ARG(text));
}

static pawl_status parse_fields(struct cron_parser *parser, int count) {
    parser->field = count == FIELDS ? SECOND : MINUTE;
    parser->cron->seconds = 1; /* five fields: at second 0 */
    for (parser->number = 1; parser->number <= count; parser->number++, parser->field++) {
        skip_blanks(parser);
        pawl_status status = take_field(parser);
        if (status != PAWL_OK)
            return status;
    }
    return PAWL_OK;
}

pawl_status cron_parse(pawl_str text, struct cron *cron, pawl_error *err) {
    struct cron found = {0};
    struct cron_parser parser = {.text = str_trim(text), .cron = &found, .err = err};
    if (parser.text.len > PAWL_CRON_BYTES_MAX)
        return error_set(err, PAWL_INVALID, "cron_parse",
                         "the cron expression has %zu bytes: at most %d are allowed", parser.text.len,
                         PAWL_CRON_BYTES_MAX);
    if (parser.text.len > 0 && parser.text.ptr[0] == '@') {
        pawl_status status = expand_nickname(parser.text, &parser.text, err);
        if (status != PAWL_OK)
            return status;
    }
    int count = count_fields(&parser);
    if (count != FIELDS && count != FIELDS - 1)
        return error_set(
            err, PAWL_INVALID, "cron_parse",
            "cron '%.*s' has %d fields: five are needed (minute, hour, day of the month, month, day "
            "of the week), or six with seconds in front",
            STR_ARG(parser.text), count);
    pawl_status status = parse_fields(&parser, count);
    if (status != PAWL_OK)
        return status;
    if (!cron_matches_ever(&found))
        return error_set(err, PAWL_INVALID, "cron_parse",
                         "cron '%.*s' can never match: no month it names has such a day",
                         STR_ARG(parser.text));
    *cron = found;
    return PAWL_OK;
}
