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

static struct completion_flag of_input(const struct field *input) {
    char label[INPUT_NAME_BYTES], value[INPUT_NAME_BYTES];
    struct completion_flag flag = {.choices = input->choices, .help = input->help};
    flag.value = *input_value(input, value) != '\0';
    flag.file = strstr(value, "FILE") != NULL;
    snprintf(flag.name, sizeof flag.name, "%s", input_label(input, label));
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

typedef void each_flag(struct buf *, const struct operation *, const struct completion_flag *);

static void each_option(struct buf *buf, const struct operation *command, uint64_t options, each_flag *each) {
    for (int id = 0; id < OPTION_COUNT; id++) {
        struct completion_flag flag = of_option(id);
        if ((options & OPTION_BIT(id)) != 0)
            each(buf, command, &flag);
    }
}

void completion_flags(struct buf *buf, const struct operation *command, each_flag *each) {
    const struct field *input;
    for (size_t i = 0; command != NULL && (input = command_input(command, i)) != NULL; i++) {
        struct completion_flag flag = of_input(input);
        if (!input_is_word(input))
            each(buf, command, &flag);
    }
    each_option(buf, command, command != NULL ? command->options & ~OPTION_BITS_COMMON : OPTION_BITS_COMMON,
                each);
}

/* Whether a command before this one has the flag. */
static bool had_before(const struct operation *until, const char *name) {
    const struct operation *command;
    const struct field *input;
    char label[INPUT_NAME_BYTES];
    for (size_t i = 0; (command = command_at(i)) != until; i++)
        for (size_t k = 0; (input = command_input(command, k)) != NULL; k++)
            if (!input_is_word(input) && strcmp(input_label(input, label), name) == 0)
                return true;
    return false;
}

void completion_all(struct buf *buf, each_flag *each) {
    const struct operation *command;
    const struct field *input;
    for (size_t i = 0; (command = command_at(i)) != NULL; i++) {
        for (size_t k = 0; (input = command_input(command, k)) != NULL; k++) {
            struct completion_flag flag = of_input(input);
            if (!input_is_word(input) && !had_before(command, flag.name))
                each(buf, NULL, &flag);
        }
    }
    each_option(buf, NULL, ~UINT64_C(0), each);
}

bool completion_first(size_t i) {
    const char *name = command_at(i)->name;
    size_t len = strcspn(name, "."), k = 0;
    while (strcspn(command_at(k)->name, ".") != len || strncmp(command_at(k)->name, name, len) != 0)
        k++;
    return k == i;
}

void completion_choices(struct buf *buf, const char *choices) {
    for (; *choices != '\0'; choices++)
        buf_append_char(buf, *choices == '|' ? ' ' : *choices);
}
