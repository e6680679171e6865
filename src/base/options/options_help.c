/* The option table as text for people. */
#include <stdio.h>

#include "base/options/options_parts.h"

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
    char least[OPTION_NUMBER_BYTES];
    char most[OPTION_NUMBER_BYTES];
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
