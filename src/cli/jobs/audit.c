/* pawl audit: what was executed, and whether the record of it was changed. */
#include "base/error.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "operations/operations.h"

static pawl_status head(struct cli *cli, pawl_error *err) {
    static const struct column columns[] = {
        {COLUMN(INT, "number")}, {COLUMN(TIME, "made_at")}, {COLUMN(TEXT, "hash")}};
    struct audit_head last = {0};
    pawl_status status = cli->store->ops->jobs->audit_anchor(cli->store, 0, &last, err);
    if (status != PAWL_OK)
        return status;
    if (last.number == 0)
        return error_set(err, PAWL_NOT_FOUND, "audit",
                         "nothing was executed that is audited, so there is no head");
    struct cell cells[] = {cell_int(last.number), cell_time(last.made_ms), cell_text(str_from(last.hash))};
    return output_record(&cli->output, columns, sizeof columns / sizeof *columns, cells, err);
}

static const struct command commands[] = {
    {COMMAND("audit list", "List executions of jobs, newest first"), .alias = "audit",
     .flags = FLAG(TASK) | FLAG(LIMIT) | FLAG(AFTER),
     .details = "Pass the last id to --after for older ones.", .empty = "nothing was executed",
     .operation = op_execution_list},
    {COMMAND("audit verify", "Recompute the hashes of the audit and report changed or removed rows"),
     .flags = FLAG(HEAD),
     .details = "The exit code is 73 when something does not match. Rows removed by retention are counted; a "
                "row that is gone before its time is a fault. Someone who can write everything in the "
                "database could also recompute every hash: --head, with a hash that pawl audit head, the log "
                "or /metrics showed earlier, detects that as well.",
     .operation = op_execution_verify},
    {COMMAND("audit head",
             "Anchor the audit: one hash over everything executed so far, to be kept elsewhere"),
     .details = "Workers do the same with their housekeeping and when they stop, and log the hash. Give it "
                "to pawl audit verify --head later.",
     .run = head},
};

const struct command_table audit_commands = COMMAND_TABLE(commands);
