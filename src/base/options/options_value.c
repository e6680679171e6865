/* Converting the text of one option to its value, and describing options to people. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/options/options.h"
#include "base/str.h"
#include "base/time/clock.h"

struct size_unit {
    const char *suffix;
    int64_t bytes;
};

static const struct size_unit size_units[] = {
    {"GiB", 1073741824}, {"MiB", 1048576}, {"KiB", 1024}, {"B", 1}, {"", 1}};

static bool ends_with(pawl_str text, const char *suffix) {
    size_t len = strlen(suffix);
    return text.len >= len && memcmp(text.ptr + text.len - len, suffix, len) == 0;
}

static bool parse_size(pawl_str text, int64_t *bytes) {
    for (size_t i = 0; i < sizeof size_units / sizeof size_units[0]; i++) {
        const struct size_unit *unit = &size_units[i];
        if (!ends_with(text, unit->suffix))
            continue;
        int64_t number = 0;
        int64_t total = 0;
        pawl_str digits = {text.ptr, text.len - strlen(unit->suffix)};
        if (!str_to_i64(digits, 0, INT64_MAX, &number) || __builtin_mul_overflow(number, unit->bytes, &total))
            return false;
        *bytes = total;
        return true;
    }
    return false;
}

static bool parse_bool(pawl_str text, int64_t *value) {
    static const char *const words[2][4] = {{"false", "no", "off", "0"}, {"true", "yes", "on", "1"}};
    for (int truth = 0; truth < 2; truth++)
        for (size_t i = 0; i < 4; i++)
            if (text.len == strlen(words[truth][i]) &&
                strncasecmp(text.ptr, words[truth][i], text.len) == 0) {
                *value = truth;
                return true;
            }
    return false;
}

/* Finds text in "auto|table|json" and gives its index; case does not matter. */
static bool parse_choice(pawl_str text, const char *choices, int64_t *index) {
    int64_t at = 0;
    while (choices != NULL) {
        size_t len = strcspn(choices, "|");
        if (text.len == len && strncasecmp(text.ptr, choices, len) == 0) {
            *index = at;
            return true;
        }
        choices = choices[len] == '|' ? choices + len + 1 : NULL;
        at++;
    }
    return false;
}

/* A number of seconds, possibly with decimals, as used in WORKER_… variables. */
static bool parse_seconds(pawl_str text, int64_t *duration_ms) {
    char with_unit[32];
    int len = snprintf(with_unit, sizeof with_unit, "%.*ss", STR_ARG(text));
    return len > 0 && (size_t)len < sizeof with_unit &&
           clock_parse_duration((pawl_str){with_unit, (size_t)len}, duration_ms);
}

/* Additional level names accepted in WORKER_LOG_LEVEL. */
static pawl_str level_of_the_sources(pawl_str text) {
    if (text.len == 7 && strncasecmp(text.ptr, "warning", 7) == 0)
        return STR("warn");
    return text.len == 8 && strncasecmp(text.ptr, "critical", 8) == 0 ? STR("error") : text;
}

/* What a value of the type looks like, for the error message. */
static const char *type_advice(const struct option_row *row, bool seconds) {
    switch (row->type) {
    case OPTION_INT:
        return "write a whole number";
    case OPTION_DURATION:
        if (seconds)
            return "write a number of seconds, as in 30 or 2.5, or one with a unit, as in 500ms or 5m";
        return "write a number with a unit, as in 500ms, 30s, 5m, 2h or 7d";
    case OPTION_BOOL:
        return "write true or false";
    case OPTION_SIZE:
        return "write a number of bytes, or one with a unit, as in 256KiB or 16MiB";
    case OPTION_CHOICE:
        return row->choices;
    case OPTION_STRING:
        break;
    }
    return "";
}

static bool parse_number(const struct option_row *row, pawl_str text, bool seconds, int64_t *number) {
    switch (row->type) {
    case OPTION_INT:
        return str_to_i64(text, INT64_MIN, INT64_MAX, number);
    case OPTION_DURATION:
        return clock_parse_duration(text, number) || (seconds && parse_seconds(text, number));
    case OPTION_BOOL:
        return parse_bool(text, number);
    case OPTION_SIZE:
        return parse_size(text, number);
    case OPTION_CHOICE:
        return parse_choice(text, row->choices, number) ||
               (seconds && parse_choice(level_of_the_sources(text), row->choices, number));
    case OPTION_STRING:
        break;
    }
    *number = 0;
    return true;
}

enum { NUMBER_BYTES = 32 };

/* A number as the row's type writes it: 5m, 256KiB, 12. Returns text. */
static char *option_number_format(enum option_type type, int64_t number, char text[static NUMBER_BYTES]) {
    if (type == OPTION_DURATION) {
        char duration[CLOCK_DURATION_BYTES];
        snprintf(text, NUMBER_BYTES, "%s", clock_format_duration(number, duration));
        return text;
    }
    const char *suffix = "";
    if (type == OPTION_SIZE && number != 0) {
        const struct size_unit *unit = size_units;
        while (number % unit->bytes != 0)
            unit++;
        number /= unit->bytes;
        suffix = unit->suffix;
    }
    snprintf(text, NUMBER_BYTES, "%" PRId64 "%s", number, suffix);
    return text;
}

static bool option_has_range(const struct option_row *row) {
    return row->type == OPTION_INT || row->type == OPTION_DURATION || row->type == OPTION_SIZE;
}

pawl_status option_value_parse(const struct option_row *row, pawl_str text, const struct option_place *place,
                               struct option_value *value, pawl_error *err) {
    int64_t number = 0;
    if (text.len > PAWL_OPTION_TEXT_BYTES_MAX)
        return error_set(err, PAWL_INVALID, "options",
                         "the value of %s is %zu bytes long: at most %d are allowed", place->label, text.len,
                         PAWL_OPTION_TEXT_BYTES_MAX);
    if (!parse_number(row, text, place->seconds, &number)) {
        const char *link = row->type == OPTION_CHOICE ? "choose one of " : "";
        return error_set(err, PAWL_INVALID, "options", "%s cannot be '%.*s': %s%s", place->label,
                         STR_ARG(text), link, type_advice(row, place->seconds));
    }
    if (option_has_range(row) && (number < row->min || number > row->max)) {
        char least[NUMBER_BYTES];
        char most[NUMBER_BYTES];
        return error_set(err, PAWL_INVALID, "options", "%s is out of range with '%.*s': choose from %s to %s",
                         place->label, STR_ARG(text), option_number_format(row->type, row->min, least),
                         option_number_format(row->type, row->max, most));
    }
    *value = (struct option_value){place->source, true, text, number};
    return PAWL_OK;
}

static const char *value_word(const struct option_row *row) {
    switch (row->type) {
    case OPTION_INT:
        return " NUMBER";
    case OPTION_DURATION:
        return " TIME";
    case OPTION_SIZE:
        return " SIZE";
    case OPTION_STRING:
        return " TEXT";
    case OPTION_CHOICE:
        return " WORD";
    case OPTION_BOOL:
        break;
    }
    return "";
}

/* default 5m · 100ms to 1d · PAWL_LEASE */
static void append_facts(struct buf *buf, const struct option_row *row) {
    char least[NUMBER_BYTES];
    char most[NUMBER_BYTES];
    const char *gap = "      ";
    if (row->fallback != NULL && !row->flag_only) {
        buf_printf(buf, "%sdefault %s", gap, row->fallback);
        gap = ", ";
    }
    if (option_has_range(row)) {
        buf_printf(buf, "%s%s to %s", gap, option_number_format(row->type, row->min, least),
                   option_number_format(row->type, row->max, most));
        gap = ", ";
    }
    if (row->choices != NULL) {
        buf_printf(buf, "%s%s", gap, row->choices);
        gap = ", ";
    }
    if (row->environment != NULL) {
        buf_printf(buf, "%s%s", gap, row->environment);
        gap = ", ";
    }
    if (row->alias != NULL) {
        buf_printf(buf, "%s%s%s", gap, row->alias, row->type == OPTION_DURATION ? " (seconds)" : "");
        gap = ", ";
    }
    if (gap[0] == ',')
        buf_append_char(buf, '\n');
}

void options_help(struct buf *buf, const struct option_row *rows, size_t count) {
    char flag[OPTION_FLAG_BYTES];
    for (size_t i = 0; i < count; i++) {
        const struct option_row *row = &rows[i];
        buf_append_cstr(buf, "  ");
        if (row->letter != '\0')
            buf_printf(buf, "-%c, ", row->letter);
        buf_printf(buf, "%s%s\n      %s\n", options_flag(row, flag), value_word(row), row->help);
        append_facts(buf, row);
    }
}
