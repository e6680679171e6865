/* pawl dead: list, show and group dead letters. */
#include "cli/commands.h"
#include "cli/messages/list.h"
#include "view/note.h"
#include "view/output/row.h"

static pawl_status list(struct cli *cli, pawl_error *err) {
    return messages_list(cli, STATE_DEAD, "no dead letters", err);
}

static pawl_status show(struct cli *cli, pawl_error *err) {
    return messages_show(cli, STATE_DEAD, "dead letter", err);
}

static pawl_status groups(struct cli *cli, pawl_error *err) {
    const struct flag_value *limit = cli_flag(cli, FLAG_LIMIT);
    int64_t limit_rows = limit->set && limit->number < PAWL_LIST_MAX ? limit->number : PAWL_LIST_MAX;
    int first = (int)cli_kind(cli, KIND_OUTBOX);
    int last = (int)cli_kind(cli, KIND_COUNT);
    bool cut = false;
    output_list_begin(&cli->output, group_columns, GROUP_COLUMNS);
    for (int kind = first; kind <= last; kind++) {
        struct dead_groups found;
        pawl_status status = cli->store->ops->view.dead_groups(cli->store, (enum store_kind)kind,
                                                               (int)limit_rows, cli->arena, &found, err);
        if (status != PAWL_OK)
            return status;
        cut = cut || found.count == (size_t)limit_rows;
        output_rows(&cli->output, found.groups, sizeof *found.groups, found.count);
    }
    pawl_status status = output_list_end(&cli->output, "no dead letters", err);
    cli->list_said = true;
    if (status == PAWL_OK && cut && !limit->set)
        cli_note(cli, "the first %d groups of a kind; there may be more", PAWL_LIST_MAX);
    return status;
}

static const struct command commands[] = {
    {COMMAND("dead list", "List dead letters: messages that failed for good"), .alias = "dead",
     .flags = FLAG(KIND) | FLAG(STREAM) | FLAG(TYPE) | FLAG(TOPIC) | FLAG(FINGERPRINT) | FLAG(LIMIT) |
              FLAG(AFTER),
     .details = "The reason is attempts (the last attempt failed), permanent (the handler said that no "
                "attempt can succeed), killed (its worker died with it too often), cancelled (a person ended "
                "it; the error says who and why) or parked (it waits for a dead letter of its stream, and is "
                "redriven with it).",
     .example = "pawl dead list --type order.created", .run = list},
    {COMMAND("dead show", "Show one dead letter with its payload and its error"), .arguments = "ID",
     .check = cli_check_ids, .run = show},
    {COMMAND("dead groups", "Count dead letters by cause"), .flags = FLAG(KIND) | FLAG(LIMIT),
     .details = "Errors that differ only in numbers and names have the same fingerprint; pawl dead redrive "
                "--fingerprint takes it.",
     .run = groups},
};

const struct command_table dead_commands = COMMAND_TABLE(commands);
