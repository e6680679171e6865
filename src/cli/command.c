/* The table of commands, and how words find a row of it. */
#include "cli/command.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cli/commands.h"

const struct command *const commands[] = {
    &command_up,
    &command_server,
    &command_worker,
    &command_migrate,
    &command_send,
    &command_status,
    &command_why,
    &command_messages_cancel,
    &command_messages_list,
    &command_messages_show,
    &command_dead_list,
    &command_dead_show,
    &command_dead_groups,
    &command_dead_redrive,
    &command_dead_discard,
    &command_outbox_list,
    &command_outbox_show,
    &command_outbox_replay,
    &command_outbox_skip,
    &command_inbox_list,
    &command_inbox_show,
    &command_inbox_replay,
    &command_inbox_skip,
    &command_inbox_receptors,
    &command_inbox_refused,
    &command_inbox_forget,
    &command_events_append,
    &command_events_read,
    &command_events_all,
    &command_events_tail,
    &command_events_snapshot,
    &command_receptors_status,
    &command_receptors_register,
    &command_receptors_remove,
    &command_perspectives_list,
    &command_perspectives_register,
    &command_perspectives_failed,
    &command_perspectives_errors,
    &command_perspectives_reset,
    &command_perspectives_skip,
    &command_perspectives_pause,
    &command_perspectives_resume,
    &command_perspectives_rebuild,
    &command_perspectives_switch,
    &command_perspectives_wait,
    &command_perspectives_remove,
    &command_instances_list,
    &command_instances_evict,
    &command_streams_list,
    &command_streams_show,
    &command_partitions,
    &command_partitions_of,
    &command_check,
    &command_doctor,
    &command_doctor_checks,
    &command_history_list,
    &command_history_archive,
    &command_run_start,
    &command_run_list,
    &command_run_show,
    &command_run_partitions,
    &command_run_items,
    &command_run_reset,
    &command_run_reenqueue,
    &command_run_retry,
    &command_run_pause,
    &command_run_resume,
    &command_run_cancel,
    &command_statement_set,
    &command_statement_list,
    &command_statement_remove,
    &command_task_create,
    &command_task_list,
    &command_task_show,
    &command_task_run,
    &command_task_pause,
    &command_task_resume,
    &command_task_delete,
    &command_schedule_list,
    &command_schedule_preview,
    &command_job_enqueue,
    &command_job_list,
    &command_job_show,
    &command_job_steps,
    &command_job_cancel,
    &command_job_retry,
    &command_job_discard,
    &command_job_wake,
    &command_limit_list,
    &command_limit_set,
    &command_pipeline_check,
    &command_pipeline_show,
    &command_agent_set,
    &command_agent_list,
    &command_agent_disable,
    &command_agent_refusals,
    &command_audit_list,
    &command_audit_verify,
    &command_audit_head,
    &command_tool_list,
    &command_tool_call,
    &command_tool_ping,
    &command_alerts_list,
    &command_alerts_show,
    &command_alerts_set,
    &command_alerts_remove,
    &command_alerts_enable,
    &command_alerts_disable,
    &command_alerts_silence,
    &command_alerts_unsilence,
    &command_alerts_test,
    &command_alerts_history,
    &command_alerts_metrics,
    &command_settings_show,
    &command_settings_set,
    &command_transport_list,
    &command_pause,
    &command_resume,
    &command_pauses,
    &command_actions,
    &command_monitor,
    &command_workers,
    &command_queue,
    &command_cleanup,
    &command_rebalance,
    &command_maintain,
    &command_version,
    &command_help,
};

const size_t commands_count = sizeof commands / sizeof commands[0];

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

static const struct command *lookup(const char *first, const char *second) {
    for (size_t i = 0; i < commands_count; i++)
        if (path_is(commands[i]->path, first, second) || path_is(commands[i]->alias, first, second))
            return commands[i];
    return NULL;
}

bool command_is_group(const char *word) {
    size_t len = strlen(word);
    for (size_t i = 0; i < commands_count; i++)
        if (strncmp(commands[i]->path, word, len) == 0 && commands[i]->path[len] == ' ')
            return true;
    return false;
}

/* Second words of group (or first words when group is NULL) into names; the count of them. */
static size_t names_of(const char *group, const char **names, char (*scratch)[24]) {
    size_t count = 0;
    for (size_t i = 0; i < commands_count; i++) {
        const char *path = commands[i]->path;
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

struct word_range command_words(const struct command *command) {
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

pawl_status command_find(const char *const *words, int count, const struct command **command, int *used,
                         pawl_error *err) {
    if (count == 0) {
        *command = &command_help;
        *used = 0;
        return PAWL_OK;
    }
    const struct command *found = count > 1 ? lookup(words[0], words[1]) : NULL;
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
