/* The table of commands, and how words find a row of it. */
#include "cli/command.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "cli/commands.h"
#include "operations/tables.h"

/* What only a terminal has: before the operations in the help, and after them. */
static const struct operation_table *const first[] = {&up_commands, &server_commands, &mcp_commands,
                                                      &worker_commands, &migrate_commands};
static const struct operation_table *const last[] = {&monitor_commands, &archive_commands, &tool_commands,
                                                     &doctor_commands,  &version_commands, &help_commands};

const struct operation *command_at(size_t index) {
    const struct operation *command = operation_in(first, sizeof first / sizeof *first, &index);
    if (command == NULL)
        command = operation_in(operation_tables, operation_tables_count, &index);
    return command != NULL ? command : operation_in(last, sizeof last / sizeof *last, &index);
}

terminal_run *command_terminal(const struct operation *command) {
    static const struct {
        const char *name;
        terminal_run *run;
    } rows[] = {{"event.append", append_terminal},
                {"run.show", run_show_terminal},
                {"run.start", run_start_terminal},
                {"send", send_terminal}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, command->name) == 0)
            return rows[i].run;
    return command->terminal;
}

bool command_is_help(const struct operation *command) { return command == help_commands.rows; }

/* ---- Finding one */

static size_t noun_len(const struct operation *command) { return strcspn(command->name, "."); }

/* The verb, with hyphens; "" of a command that is its own noun. */
static const char *verb_of(const struct operation *command, char verb[static COMMAND_PATH_BYTES]) {
    const char *from = command->name + noun_len(command);
    size_t len = 0;
    for (from += *from == '.'; *from != '\0' && len < COMMAND_PATH_BYTES - 1; from++)
        verb[len++] = *from == '_' ? '-' : *from;
    verb[len] = '\0';
    return verb;
}

char *command_path(const struct operation *command, char path[static COMMAND_PATH_BYTES]) {
    char verb[COMMAND_PATH_BYTES];
    int len = (int)noun_len(command);
    bool alone = *verb_of(command, verb) == '\0';
    snprintf(path, COMMAND_PATH_BYTES, "%.*s%s%.20s", len, command->name, alone ? "" : " ", verb);
    return path;
}

/* The plural of a noun is accepted for it: jobs, duties. */
bool command_in_group(const struct operation *command, const char *word) {
    size_t len = noun_len(command), stem = len - 1;
    if (strncmp(command->name, word, len) == 0)
        return word[len] == '\0' || strcmp(word + len, "s") == 0;
    return command->name[stem] == 'y' && strncmp(command->name, word, stem) == 0 &&
           strcmp(word + stem, "ies") == 0;
}

/* The command of a noun with that verb; verb "": the one that is its own noun. */
static const struct operation *lookup(const char *noun, const char *verb) {
    char own[COMMAND_PATH_BYTES];
    const struct operation *command;
    size_t i = 0;
    while ((command = command_at(i++)) != NULL)
        if (strcmp(verb_of(command, own), verb) == 0 &&
            (*verb == '\0' ? strcmp(command->name, noun) == 0 : command_in_group(command, noun)))
            break;
    return command;
}

bool command_exists(const char *noun) {
    const struct operation *command;
    size_t i = 0, len = strlen(noun);
    while ((command = command_at(i++)) != NULL &&
           !(noun_len(command) == len && strncmp(command->name, noun, len) == 0))
        ;
    return command != NULL;
}

bool command_is_group(const char *word) {
    const struct operation *command;
    for (size_t i = 0; (command = command_at(i)) != NULL; i++)
        if (command->name[noun_len(command)] == '.' && command_in_group(command, word))
            return true;
    return false;
}

enum { NAMES_MAX = 80 };

/* The verbs of a noun (or the nouns when it is NULL) into names; the count of them. */
static size_t names_of(const char *group, const char **names, char (*scratch)[COMMAND_PATH_BYTES]) {
    size_t count = 0;
    const struct operation *command;
    for (size_t i = 0; (command = command_at(i)) != NULL && count < NAMES_MAX; i++) {
        size_t len = noun_len(command);
        if (group != NULL && (!command_in_group(command, group) || command->name[len] == '\0'))
            continue;
        if (group != NULL)
            verb_of(command, scratch[count]);
        else
            snprintf(scratch[count], sizeof *scratch, "%.*s", (int)len, command->name);
        names[count] = scratch[count];
        if (count == 0 || strcmp(names[count - 1], names[count]) != 0)
            count++;
    }
    return count;
}

static pawl_status unknown(const char *group, const char *word, pawl_error *err) {
    const char *names[NAMES_MAX];
    char scratch[NAMES_MAX][COMMAND_PATH_BYTES];
    size_t count = names_of(group, names, scratch);
    const char *close = options_suggest(word, names, count);
    const char *blank = group != NULL ? " " : "";
    const char *prefix = group != NULL ? group : "";
    if (close != NULL)
        return error_set(err, PAWL_INVALID, "command",
                         "there is no command \"%s%s%s\". Did you mean pawl %s%s%s?", prefix, blank, word,
                         prefix, blank, close);
    return error_set(err, PAWL_INVALID, "command", "there is no command \"%s%s%s\". pawl help%s%s lists them",
                     prefix, blank, word, blank, prefix);
}

static pawl_status incomplete(const char *group, pawl_error *err) {
    const char *names[NAMES_MAX];
    char scratch[NAMES_MAX][COMMAND_PATH_BYTES], list[256] = "";
    size_t count = names_of(group, names, scratch);
    for (size_t i = 0, len = 0; i < count && len < sizeof list; i++)
        len += (size_t)snprintf(list + len, sizeof list - len, "%s%s", i > 0 ? ", " : "", names[i]);
    return error_set(err, PAWL_INVALID, "command",
                     "pawl %s needs a second word: one of %s. pawl help %s tells more", group, list, group);
}

static bool takes_words(const struct operation *command) {
    for (size_t i = 0; i < command->field_count; i++)
        if (input_is_word(&command->fields[i]))
            return true;
    return false;
}

pawl_status command_find(const char *const *words, int count, const struct operation **command, int *used,
                         pawl_error *err) {
    const struct operation *found = count == 0 ? help_commands.rows : NULL;
    *used = count == 0 ? 0 : 2;
    if (count > 1 && words[1][0] != '\0')
        found = lookup(words[0], words[1]);
    if (found == NULL) {
        *used = 1;
        found = lookup(words[0], "");
        bool group = command_is_group(words[0]);
        /* A command without words of its own can only be followed by a wrong verb. */
        if (group && count > 1 && (found == NULL || !takes_words(found)))
            return unknown(words[0], words[1], err);
        if (found == NULL && group && (found = lookup(words[0], "list")) == NULL)
            return incomplete(words[0], err);
        if (found == NULL)
            return unknown(NULL, words[0], err);
    }
    *command = found;
    return PAWL_OK;
}

/* ---- Inputs */

const struct field *command_input(const struct operation *command, size_t index) {
    static const struct field limit = {
        INT_FIELD(IN_QUERY, "limit", 1, 1000000000, "At most this many rows; all of them without it.")};
    static const struct field after = {
        TEXT_FIELD(IN_QUERY, "after", PAWL_METADATA_BYTES_MAX,
                   "Only rows after this one: what the end of a list that --limit cut shows."),
        .value = "KEY"};
    const struct field *input = operation_input(command, index);
    if (input == NULL || index < command->field_count || input->in != IN_QUERY)
        return input;
    return input->type == FIELD_CURSOR ? &after : &limit;
}

bool input_is_word(const struct field *input) { return input->in == IN_PATH || input->word; }

static bool is_array(const struct field *input) {
    return input->type == FIELD_TEXTS || input->type == FIELD_INTS || input->type == FIELD_UUIDS;
}

bool input_is_many(const struct field *input) { return input->many || is_array(input); }

char *input_flag(const struct field *input, char name[static INPUT_NAME_BYTES]) {
    size_t len = strlen(input->name);
    if ((input->type == FIELD_DURATION || input->type == FIELD_TIME) && len > 3)
        len -= 3; /* _ms */
    for (size_t i = 0; i < len; i++)
        name[i] = input->name[i] == '_' ? '-' : input->name[i];
    name[len] = '\0';
    return name;
}

char *input_label(const struct field *input, char label[static INPUT_NAME_BYTES]) {
    if (input_is_word(input))
        return input_value(input, label);
    label[0] = label[1] = '-';
    char name[INPUT_NAME_BYTES];
    snprintf(label + 2, INPUT_NAME_BYTES - 2, "%.36s", input_flag(input, name));
    return label;
}

/* In capitals; of many, one of them. */
static void name_value(const struct field *input, char value[static INPUT_NAME_BYTES]) {
    size_t len = strlen(input_flag(input, value));
    if (is_array(input) && len > 1 && value[len - 1] == 's')
        value[len - 1] = '\0';
    for (; *value != '\0'; value++)
        *value = (char)toupper((unsigned char)*value);
}

char *input_value(const struct field *input, char value[static INPUT_NAME_BYTES]) {
    static const char *const types[] = {[FIELD_INT] = "N",
                                        [FIELD_UUID] = "UUID",
                                        [FIELD_DURATION] = "DURATION",
                                        [FIELD_TIME] = "TIME",
                                        [FIELD_JSON] = "JSON|@FILE",
                                        [FIELD_OBJECT] = "JSON|@FILE",
                                        [FIELD_OBJECTS] = "JSON|@FILE",
                                        [FIELD_BOOL] = ""};
    const char *type = (size_t)input->type < sizeof types / sizeof *types ? types[input->type] : NULL;
    if (input->value != NULL)
        snprintf(value, INPUT_NAME_BYTES, "%s", input->value);
    else if (input->file)
        snprintf(value, INPUT_NAME_BYTES, "FILE");
    else if (type != NULL && !input_is_word(input))
        snprintf(value, INPUT_NAME_BYTES, "%s", type);
    else
        name_value(input, value);
    return value;
}

void command_words(struct buf *buf, const struct operation *command) {
    for (size_t i = 0; i < command->field_count; i++) {
        const struct field *input = &command->fields[i];
        char value[INPUT_NAME_BYTES];
        if (!input_is_word(input))
            continue;
        buf_printf(buf, input->required ? " %s" : " [%s]", input_value(input, value));
        buf_append_cstr(buf, input_is_many(input) ? "..." : "");
    }
}
