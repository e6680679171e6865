/* pawl transport list: which brokers this installation can talk to. */
#include "cli/commands.h"
#include "operations/operations.h"

static const struct command commands[] = {
    {COMMAND("transport list", "List the brokers that can be used, and why others cannot"),
     .alias = "transport",
     .details = "Every transport is a separate, optional module, pawl-transport-NAME.so. Modules are looked "
                "for in PAWL_TRANSPORT_DIR, next to a program that runs from its build directory, and where "
                "pawl is installed.",
     .example = "pawl transport list\npawl transport list -o json | jq '.[] | select(.available)'",
     .database = DATABASE_NONE, .empty = "no transports", .operation = op_transport_list},
};

const struct command_table transport_commands = COMMAND_TABLE(commands);
