/* pawl inbox refused: what brokers delivered and the inbox could not take. */
#include "cli/commands.h"
#include "operations/operations.h"

static const struct command commands[] = {
    {COMMAND("inbox refused", "List what brokers delivered and the inbox rejected"),
     .flags = FLAG(LIMIT) | FLAG(AFTER),
     .details = "A conflict has the id of a message that was received before with a different payload. A "
                "malformed one is not a CloudEvent that an inbox can store; its detail says why. Both were "
                "acknowledged to the broker after they were stored here, once per content; bytes that are "
                "not text are shown as base64.",
     .example = "pawl inbox refused\npawl inbox refused -o json | jq -r '.[].payload'",
     .empty = "nothing was refused", .operation = op_refused_list},
    {COMMAND("inbox forget", "Delete one rejected message"), .arguments = "NUMBER", .writes = true,
     .details = "NUMBER is that of pawl inbox refused. The content is lost.", .operation = op_refused_forget},
};

const struct command_table refused_commands = COMMAND_TABLE(commands);
