/* pawl partitions: who owns which lane, and which lane a stream is in. */
#include "cli/commands.h"
#include "operations/operations.h"

static const struct command commands[] = {
    {COMMAND("streams show", "Show where a stream belongs and who owns it"), .arguments = "STREAM",
     .details = "The same as pawl partitions of. What waits in it, in its order: pawl messages list "
                "--stream; what a message waits for: pawl why.",
     .example = "pawl streams show order-1", .operation = op_stream_place},
    {COMMAND("partitions", "List the lanes with their owners and what is in flight"), .flags = FLAG(KIND),
     .details = "A lane is a fixed group of partitions that is owned, read and handed over as one. holds "
                "counts the streams of the lane that have a message set aside.",
     .example = "pawl partitions --kind outbox", .empty = "no lanes", .operation = op_lane_list},
    {COMMAND("partitions of", "Show the partition, the lane and the owners of a stream"),
     .arguments = "STREAM", .example = "pawl partitions of order-1", .operation = op_stream_place},
};

const struct command_table partitions_commands = COMMAND_TABLE(commands);
