/* What every shell's completion is made of: the flags, options and words of the tables; and which shells
 * there are. */
#include "cli/help/completion.h"

#include <stdio.h>
#include <string.h>

static const struct completion completions[] = {
    {"bash", completion_bash},
    {"zsh", completion_zsh},
    {"fish", completion_fish},
};

const struct completion *completion_find(const char *shell) {
    for (size_t i = 0; i < sizeof completions / sizeof completions[0]; i++)
        if (strcmp(completions[i].shell, shell) == 0)
            return &completions[i];
    return NULL;
}

static struct completion_flag of_flag(const struct flag_row *row) {
    struct completion_flag flag = {.value = row->value != NULL, .choices = row->choices, .help = row->help};
    flag.file = row->value != NULL && strstr(row->value, "FILE") != NULL;
    snprintf(flag.name, sizeof flag.name, "--%s", row->name);
    return flag;
}

static struct completion_flag of_option(int id) {
    const struct option_row *row = &option_rows[id];
    struct completion_flag flag = {.letter = row->letter, .choices = row->choices, .help = row->help};
    flag.value = row->type != OPTION_BOOL;
    flag.file = id == OPTION_CONFIG || id == OPTION_DATABASE_URL || id == OPTION_TOOLS ||
                id == OPTION_TOKEN_FILE || id == OPTION_TLS_CERT || id == OPTION_TLS_KEY;
    options_flag(row, flag.name);
    return flag;
}

static void walk(struct buf *buf, const struct operation *command, flag_bits flags, uint64_t options,
                 void (*each)(struct buf *, const struct operation *, const struct completion_flag *)) {
    for (int id = 0; id < FLAG_TOTAL; id++) {
        struct completion_flag flag = of_flag(&flag_rows[id]);
        if ((flags & FLAG_BIT(id)) != 0)
            each(buf, command, &flag);
    }
    for (int id = 0; id < OPTION_COUNT; id++) {
        struct completion_flag flag = of_option(id);
        if ((options & OPTION_BIT(id)) != 0)
            each(buf, command, &flag);
    }
}

void completion_flags(struct buf *buf, const struct operation *command,
                      void (*each)(struct buf *, const struct operation *, const struct completion_flag *)) {
    if (command == NULL)
        walk(buf, NULL, 0, OPTION_BITS_COMMON, each);
    else
        walk(buf, command, command->flags, command->options & ~OPTION_BITS_COMMON, each);
}

void completion_all(struct buf *buf,
                    void (*each)(struct buf *, const struct operation *, const struct completion_flag *)) {
    walk(buf, NULL, ~(flag_bits)0, ~UINT64_C(0), each);
}

bool completion_first(size_t i) {
    const char *path = command_at(i)->command;
    size_t len = strcspn(path, " "), k = 0;
    while (strcspn(command_at(k)->command, " ") != len || strncmp(command_at(k)->command, path, len) != 0)
        k++;
    return k == i;
}

void completion_choices(struct buf *buf, const char *choices) {
    for (; *choices != '\0'; choices++)
        buf_append_char(buf, *choices == '|' ? ' ' : *choices);
}
