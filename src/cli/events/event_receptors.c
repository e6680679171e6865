/* pawl receptors: register handlers of events, and see how far they are. */
#include "base/limits.h"
#include "cli/commands.h"
#include "operations/operations.h"

static const struct command commands[] = {
    {COMMAND("receptors status", "Show the receptors on events: what they get and how far they are"),
     .alias = "receptors", .arguments = "[NAME]", .writes = true,
     .details = "behind: events not examined yet. messages: how many were created for it; they are inbox "
                "messages with its topic, so pawl inbox list, pawl dead list, redrive and pause take --topic "
                "event:NAME. To see what became of one event: pawl inbox receptors EVENT.",
     .example = "pawl receptors status", .empty = "no receptors on events", .operation = op_receptor_list},
    {COMMAND("receptors register", "Register a receptor: one message for each event of some types"),
     .arguments = "NAME PATTERN...", .arguments_max = PAWL_PATTERNS_MAX + 1,
     .flags = FLAG(FROM_START) | FLAG(REPLACE), .database = DATABASE_MAKE, .writes = true,
     .details = "A pattern is a glob, or has exact:, suffix:, glob: or regex: in front. A worker with a "
                "handler NAME@event:PATTERN registers it by itself; one with NAME@event: takes it as it is "
                "(docs/receptors.md).",
     .example = "pawl receptors register invoices 'Order*' --from-start", .operation = op_receptor_register},
    {COMMAND("receptors remove", "Remove a receptor; its messages stay"), .arguments = "NAME",
     .flags = FLAG(YES), .writes = true, .operation = op_receptor_remove},
};

const struct command_table event_receptors_commands = COMMAND_TABLE(commands);
