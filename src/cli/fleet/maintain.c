/* pawl maintain: the housekeeping that workers do by themselves, done now. */
#include "cli/commands.h"
#include "operations/operations.h"

static const struct command commands[] = {
    {COMMAND("maintain", "Remove what is no longer needed, and end expired claims"), .writes = true,
     .details = "Workers do this by themselves; if none is running, or you cannot wait, run it by hand or "
                "from a timer. It works in short transactions and is safe at any time.",
     .operation = op_maintain},
};

const struct command_table maintain_commands = COMMAND_TABLE(commands);
