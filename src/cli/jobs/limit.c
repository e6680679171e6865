/* pawl limit: limits of keys on running jobs and starts, and their weights. */
#include "cli/commands.h"
#include "operations/operations.h"

static const struct command commands[] = {
    {COMMAND("limit list", "List the limits of keys"), .alias = "limit", .empty = "no limits",
     .operation = op_limit_list},
    {COMMAND("limit set", "Set the limits of a key, replacing all of them"), .arguments = "KEY",
     .flags = FLAG(AT_ONCE) | FLAG(STARTS) | FLAG(PER) | FLAG(WEIGHT), .writes = true,
     .details = "A key is what pawl job enqueue --key names. With tenant:* the limits apply to each key that "
                "begins with tenant: and has no limits itself. They apply across all workers. Without any "
                "flag the limits are removed.",
     .example = "pawl limit set 'tenant:*' --at-once 4 --starts 100 --per 1m", .operation = op_limit_set},
};

const struct command_table limit_commands = COMMAND_TABLE(commands);
