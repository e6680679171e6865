/* pawl run: reset, re-enqueue, retry, pause, resume and cancel. */
#include "base/json/json.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "operations/operations.h"

static pawl_status check_words(struct cli *cli, pawl_error *err) {
    const struct flag_value *cursor = cli_flag(cli, FLAG_CURSOR);
    if (cursor->set && json_check(cursor->text, "reset", err) != PAWL_OK)
        return PAWL_INVALID;
    return PAWL_OK;
}

static const struct command commands[] = {
    {COMMAND("run reset", "Restart a partition, from an offset or a cursor"), .arguments = "RUN PARTITION",
     .flags = FLAG(OFFSET) | FLAG(CURSOR), .check = check_words, .writes = true,
     .details = "Without --offset and --cursor it begins from the first page. Pages that are on the way are "
                "of an older generation then, and are skipped. A partition that was done or failed is open "
                "again, and so is a run that failed.",
     .example = "pawl run reset 7 0..125 --offset 60", .operation = op_run_reset},
    {COMMAND("run reenqueue", "Enqueue the next page of a partition again, in a new generation"),
     .arguments = "RUN PARTITION", .writes = true,
     .details = "For a stuck partition. It continues where it is; nothing is fetched twice.",
     .example = "pawl run reenqueue 7 0..125", .operation = op_run_retry},
    {COMMAND("run retry", "Retry failed partitions, or a failed consolidation"),
     .arguments = "RUN [PARTITION]", .writes = true,
     .details = "Partitions continue where they stopped. Without PARTITION, every failed one does; if there "
                "is none, the failed consolidation is retried.",
     .example = "pawl run retry 7", .operation = op_run_retry},
    {COMMAND("run pause", "Pause a run: no new pages start, those in flight finish"), .arguments = "RUN",
     .flags = FLAG(REASON), .writes = true, .operation = op_run_pause},
    {COMMAND("run resume", "Resume a paused run"), .arguments = "RUN", .writes = true,
     .operation = op_run_resume},
    {COMMAND("run cancel", "Cancel a run for good; what it stored stays"), .arguments = "RUN",
     .flags = FLAG(YES) | FLAG(REASON), .writes = true, .operation = op_run_cancel},
};

const struct command_table run_change_commands = COMMAND_TABLE(commands);
