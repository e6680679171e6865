/* pawl inbox receptors: how far the receptors of one message have come. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "operations/operations.h"

static const struct command commands[] = {
    {COMMAND("inbox receptors", "Show the receptors of a message or an event, and what each has done"),
     .arguments = "ID", .check = cli_check_ids,
     .details = "A receptor is recorded when it ends for the first time. The message is done when all of "
                "them are; a completed receptor does not run again.",
     .empty = "no receptor has ended yet", .operation = op_receptor_notes_list},
};

const struct command_table receptors_commands = COMMAND_TABLE(commands);
