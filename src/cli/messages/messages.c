/* pawl messages: what is waiting, running, set aside, dead or done. */
#include "cli/commands.h"
#include "cli/messages/list.h"

static pawl_status list(struct cli *cli, pawl_error *err) {
    return messages_list(cli, 0, "no messages", err);
}

static pawl_status show(struct cli *cli, pawl_error *err) { return messages_show(cli, 0, "message", err); }

static const struct command commands[] = {
    {COMMAND("messages list", "List messages in order of their sequence number"), .alias = "messages",
     .flags = FLAG(KIND) | FLAG(STATE) | FLAG(STREAM) | FLAG(TYPE) | FLAG(TOPIC) | FLAG(LIMIT) | FLAG(AFTER),
     .details = "Filters are combined. Without --limit at most 100 are shown; give the last seq to --after "
                "for the next ones.",
     .example = "pawl messages list --stream order-1\npawl messages list --state blocked -o ndjson | jq .id",
     .run = list},
    {COMMAND("messages show", "Show one message with its payload, whatever state it is in"),
     .arguments = "ID", .check = cli_check_ids,
     .details = "An outbox may hold an id more than once: then each of them is shown, in JSON as an array.",
     .run = show},
};

const struct command_table messages_commands = COMMAND_TABLE(commands);
