/* The table of commands, and how words find a row of it. */
#include "cli/command.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cli/commands.h"
#include "operations/tables.h"

static const struct operation_table *const tables[] = {&up_commands,
                                                       &server_commands,
                                                       &worker_commands,
                                                       &migrate_commands,
                                                       &send_commands,
                                                       &status_commands,
                                                       &why_operations,
                                                       &message_operations,
                                                       &dead_operations,
                                                       &dead_end_operations,
                                                       &outbox_inbox_operations,
                                                       &receptor_note_operations,
                                                       &refused_operations,
                                                       &events_append_commands,
                                                       &event_operations,
                                                       &events_tail_commands,
                                                       &events_snapshot_commands,
                                                       &receptor_operations,
                                                       &perspective_status_operations,
                                                       &perspectives_commands,
                                                       &perspective_operations,
                                                       &instance_operations,
                                                       &stream_operations,
                                                       &check_operations,
                                                       &doctor_commands,
                                                       &doctor_operations,
                                                       &history_operations,
                                                       &history_commands,
                                                       &run_start_commands,
                                                       &run_list_operations,
                                                       &run_commands,
                                                       &run_operations,
                                                       &task_create_commands,
                                                       &task_operations,
                                                       &task_schedule_commands,
                                                       &schedule_operations,
                                                       &job_commands,
                                                       &job_operations,
                                                       &pipeline_commands,
                                                       &agent_operations,
                                                       &audit_operations,
                                                       &tool_operations,
                                                       &tool_commands,
                                                       &alert_operations,
                                                       &setting_operations,
                                                       &transport_operations,
                                                       &pause_operations,
                                                       &monitor_commands,
                                                       &fleet_commands,
                                                       &upkeep_operations,
                                                       &version_commands,
                                                       &help_commands};

const struct operation *command_at(size_t index) {
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        for (size_t row = 0; row < tables[i]->count; row++)
            if (tables[i]->rows[row].command != NULL && index-- == 0)
                return &tables[i]->rows[row];
    }
    return NULL;
}

bool command_is_help(const struct operation *command) { return command == help_commands.rows; }

/* Whether path is exactly "first" (second NULL) or "first second". */
static bool path_is(const char *path, const char *first, const char *second) {
    if (path == NULL)
        return false;
    size_t len = strlen(first);
    if (strncmp(path, first, len) != 0)
        return false;
    if (second == NULL)
        return path[len] == '\0';
    return path[len] == ' ' && strcmp(path + len + 1, second) == 0;
}

static const struct operation *lookup(const char *first, const char *second) {
    size_t i = 0;
    const struct operation *command;
    while ((command = command_at(i++)) != NULL)
        if (path_is(command->command, first, second) || path_is(command->alias, first, second))
            break;
    return command;
}

bool command_is_group(const char *word) {
    size_t len = strlen(word);
    const struct operation *command;
    for (size_t i = 0; (command = command_at(i)) != NULL; i++)
        if (strncmp(command->command, word, len) == 0 && command->command[len] == ' ')
            return true;
    return false;
}

/* Second words of group (or first words when group is NULL) into names; the count of them. */
static size_t names_of(const char *group, const char **names, char (*scratch)[24]) {
    size_t count = 0;
    const struct operation *command;
    for (size_t i = 0; (command = command_at(i)) != NULL; i++) {
        const char *path = command->command;
        if (group != NULL) {
            size_t len = strlen(group);
            if (strncmp(path, group, len) == 0 && path[len] == ' ')
                names[count++] = path + len + 1;
            continue;
        }
        size_t len = strcspn(path, " ");
        if (count > 0 && strlen(names[count - 1]) == len && strncmp(names[count - 1], path, len) == 0)
            continue;
        snprintf(scratch[count], sizeof scratch[count], "%.*s", (int)len, path);
        names[count] = scratch[count];
        count++;
    }
    return count;
}

static pawl_status unknown(const char *group, const char *word, pawl_error *err) {
    const char *names[64];
    char scratch[64][24];
    size_t count = names_of(group, names, scratch);
    const char *close = options_suggest(word, names, count);
    const char *blank = group != NULL ? " " : "";
    const char *prefix = group != NULL ? group : "";
    if (close != NULL)
        return error_set(err, PAWL_INVALID, "command",
                         "there is no command \"%s%s%s\". Did you mean pawl %s%s%s?", prefix, blank, word,
                         prefix, blank, close);
    return error_set(err, PAWL_INVALID, "command", "there is no command \"%s%s%s\". pawl help lists them all",
                     prefix, blank, word);
}

static pawl_status incomplete(const char *group, pawl_error *err) {
    const char *names[64];
    char scratch[64][24], list[256] = "";
    size_t count = names_of(group, names, scratch);
    for (size_t i = 0, len = 0; i < count && len < sizeof list; i++)
        len += (size_t)snprintf(list + len, sizeof list - len, "%s%s", i > 0 ? ", " : "", names[i]);
    return error_set(err, PAWL_INVALID, "command",
                     "pawl %s needs a second word: one of %s. pawl help %s tells more", group, list, group);
}

struct word_range command_words(const struct operation *command) {
    struct word_range range = {0};
    int brackets = 0; /* open ones: what is in them may be left out */
    for (const char *at = command->arguments; at != NULL && *at != '\0'; at++) {
        range.min += brackets == 0 && *at != '[' && !command->arguments_optional ? 1 : 0;
        range.max++;
        for (; *at != ' ' && at[1] != '\0'; at++)
            brackets += *at == '[' ? 1 : *at == ']' ? -1 : 0;
    }
    if (command->arguments != NULL && strstr(command->arguments, "...") != NULL)
        range.max = command->arguments_max > 0 ? command->arguments_max : PAWL_ARGUMENTS_MAX;
    return range;
}

pawl_status command_find(const char *const *words, int count, const struct operation **command, int *used,
                         pawl_error *err) {
    if (count == 0) {
        *command = help_commands.rows;
        *used = 0;
        return PAWL_OK;
    }
    const struct operation *found = count > 1 ? lookup(words[0], words[1]) : NULL;
    if (found != NULL) {
        *command = found;
        *used = 2;
        return PAWL_OK;
    }
    found = lookup(words[0], NULL);
    bool group = command_is_group(words[0]);
    /* A group's own command takes no arguments, so a second word can only be a wrong subcommand. */
    if (group && count > 1 && (found == NULL || found->arguments == NULL))
        return unknown(words[0], words[1], err);
    if (found != NULL) {
        *command = found;
        *used = 1;
        return PAWL_OK;
    }
    if (group)
        return incomplete(words[0], err);
    return unknown(NULL, words[0], err);
}
