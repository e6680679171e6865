/* pawl pause, resume, pauses and actions. */
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "cli/audit.h"
#include "cli/commands.h"
#include "operations/operations.h"
#include "view/note.h"

static pawl_status scope_of(struct cli *cli, enum pause_scope *scope, pawl_error *err) {
    int found = str_choice(PAUSE_SCOPES, str_from(cli->arguments.words[0]));
    /* A message is cancelled, not paused; only that can be taken back here. */
    bool pausing = strcmp(cli->arguments.command->path, "resume") != 0;
    if (found >= 0 && !(pausing && found == PAUSE_MESSAGE - PAUSE_TOPIC)) {
        *scope = (enum pause_scope)(PAUSE_TOPIC + found);
        return PAWL_OK;
    }
    return error_set(err, PAWL_INVALID, "pause",
                     "\"%s\" cannot be paused: name a topic, a stream or a handler", cli->arguments.words[0]);
}

static pawl_status check(struct cli *cli, pawl_error *err) {
    enum pause_scope scope;
    return scope_of(cli, &scope, err);
}

static pawl_status note(struct cli *cli, const char *action, pawl_error *err) {
    const char *detail = arena_printf(cli->arena, "%s %s", cli->arguments.words[0], cli->arguments.words[1]);
    return audit_note_reason(cli, action, detail, err);
}

static pawl_status set_pause(struct cli *cli, pawl_error *err) {
    const struct flag_value *reason = cli_flag(cli, FLAG_REASON);
    struct pause_row row = {.name = str_from(cli->arguments.words[1]), .actor = audit_actor(cli)};
    if (reason->set)
        row.reason = reason->text;
    pawl_status status = scope_of(cli, &row.scope, err);
    if (status == PAWL_OK)
        status = cli->store->ops->relay->pause_set(cli->store, &row, err);
    if (status == PAWL_OK)
        status = note(cli, "pause", err);
    if (status == PAWL_OK)
        output_say(&cli->output, "paused; workers are woken to see it");
    return status;
}

static pawl_status clear_pause(struct cli *cli, pawl_error *err) {
    enum pause_scope scope;
    pawl_status status = scope_of(cli, &scope, err);
    if (status == PAWL_OK)
        status =
            cli->store->ops->relay->pause_clear(cli->store, scope, str_from(cli->arguments.words[1]), err);
    if (status == PAWL_OK)
        status = note(cli, "resume", err);
    if (status == PAWL_OK)
        output_say(&cli->output, "goes on");
    return status;
}

static const struct command commands[] = {
    {COMMAND("pause", "Pause the messages of a topic, of a stream or for a handler"),
     .arguments = "topic|stream|handler NAME", .flags = FLAG(REASON), .check = check, .writes = true,
     .details = "Workers are woken and notice immediately (behind a pooler: with their next heartbeat). A "
                "subscription to the topic stops reading. A message without a topic is matched by its type; "
                "a handler is named by its pattern. What is already running may finish. A resume takes "
                "effect immediately.",
     .example = "pawl pause stream order-1 --reason 'being repaired'\npawl pause handler 'order.*'",
     .run = set_pause},
    {COMMAND("resume", "Resume what was paused"), .arguments = "topic|stream|handler|message NAME",
     .check = check, .writes = true,
     .details = "A message is one that was cancelled (pawl messages cancel) and has not ended yet.",
     .example = "pawl resume stream order-1", .run = clear_pause},
    {COMMAND("pauses", "List what is paused"), .empty = "nothing is paused", .operation = op_pause_list},
    {COMMAND("actions", "List what people did: redrives, discards, replays, pauses; newest first"),
     .flags = FLAG(LIMIT), .details = "The actor is PAWL_ACTOR, else the login name.",
     .empty = "nothing was done yet", .operation = op_action_list},
};

const struct command_table pause_commands = COMMAND_TABLE(commands);
