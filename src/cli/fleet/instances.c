/* pawl instances: list workers, and evict one. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "operations/operations.h"

static const struct command commands[] = {
    {COMMAND("instances list", "List the instances: one row per running worker process"),
     .alias = "instances",
     .details = "A silent instance has not sent a heartbeat within its lease; its peers evict it when they "
                "next look.",
     .empty = "no instances", .operation = op_instance_list},
    {COMMAND("instances evict", "Evict an instance: take all its work away"), .arguments = "ID",
     .check = cli_check_ids, .writes = true,
     .details = "Its lanes become free and its claims end: what it may have started counts as lost and is "
                "claimed by other workers. Anything it reports afterwards is stale. Use it for an instance "
                "that hangs; a live one registers again.",
     .operation = op_instance_evict},
};

const struct command_table instances_commands = COMMAND_TABLE(commands);
