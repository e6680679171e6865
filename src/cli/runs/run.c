/* pawl run: look at runs, their partitions and their items. */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/commands.h"
#include "cli/front.h"
#include "cli/runs/run_watch.h"
#include "operations/operations.h"
#include "operations/runs.h"
#include "view/output/row.h"
#include "view/run.h"

/* How many of its partitions show no progress, and how much waits in its queue. */
static pawl_status say_health(struct cli *cli, const struct run_row *run, pawl_error *err) {
    struct partitions_filter filter = {.run = run->id,
                                       .quiet_ms = PAWL_QUIET_MS_DEFAULT,
                                       .after_run = -1,
                                       .after_part = -1,
                                       .limit = PAWL_LIST_MAX};
    struct partition_list stuck = {0};
    struct job_counts_list counts = {0};
    pawl_status status = cli->store->ops->runs->partitions(cli->store, &filter, cli->arena, &stuck, err);
    if (status == PAWL_OK)
        status = cli->store->ops->jobs->counts(cli->store, cli->arena, &counts, err);
    for (size_t i = 0; status == PAWL_OK && i < counts.count; i++) {
        if (str_equal(counts.queues[i].queue, run->queue))
            output_say(&cli->output, "queue %.*s: %" PRId64 " ready, %" PRId64 " running",
                       STR_ARG(run->queue), counts.queues[i].ready, counts.queues[i].running);
    }
    if (status == PAWL_OK && stuck.count > 0)
        output_say(&cli->output,
                   "%zu partitions are stuck: no update for 10 minutes; pawl run partitions %" PRId64
                   " --stuck 10m",
                   stuck.count, run->id);
    return status;
}

static pawl_status show(struct cli *cli, pawl_error *err) {
    struct run_row run;
    struct request request = front_request(cli);
    if (cli_flag(cli, FLAG_WATCH)->set)
        return run_watch(cli, cli->arguments.words[0], err);
    pawl_status status = run_show(&request, &run, err);
    return status == PAWL_OK && !run_view_ended(&run) ? say_health(cli, &run, err) : status;
}

static pawl_status items(struct cli *cli, pawl_error *err) {
    const struct flag_value *limit = cli_flag(cli, FLAG_LIMIT);
    int64_t left = limit->set ? limit->number : PAWL_LIST_DEFAULT, now_ms = 0;
    struct run_row run;
    struct stored_items found;
    pawl_status status =
        run_view_find(cli->store, str_from(cli->arguments.words[0]), cli->arena, &run, &now_ms, err);
    struct items_filter filter = {
        .part = -1, .after_key = str_from(cli->arguments.word_count > 1 ? cli->arguments.words[1] : NULL)};
    if (status != PAWL_OK)
        return status;
    filter.run = run.id;
    output_list_begin(&cli->output, run_item_columns, RUN_ITEM_COLUMNS);
    do {
        filter.limit = left < PAWL_LIST_MAX ? (int)left : PAWL_LIST_MAX;
        found = (struct stored_items){0};
        status = cli->store->ops->runs->items(cli->store, &filter, cli->arena, &found, err);
        if (status != PAWL_OK)
            return status;
        output_rows(&cli->output, found.items, sizeof *found.items, found.count);
        if (found.count > 0)
            filter.after_key = found.items[found.count - 1].key;
        left -= (int64_t)found.count;
    } while (left > 0 && found.count == (size_t)filter.limit);
    status = output_list_end(&cli->output, "no items", err);
    cli->list_said = true;
    if (status == PAWL_OK && left == 0 && !limit->set)
        cli_note(cli,
                 "the first %zu; there may be more: --limit N shows more of them, the last key after RUN "
                 "the next ones",
                 cli->output.row_count);
    return status;
}

static const struct command commands[] = {
    {COMMAND("run list", "List runs, newest first"), .alias = "run",
     .flags = FLAG(RUN_STATE) | FLAG(OPEN) | FLAG(LIMIT) | FLAG(AFTER),
     .details = "--after N continues with the runs older than N.",
     .example = "pawl run list --open\n"
                "pawl run list --run-state failed",
     .empty = "no runs", .operation = op_run_list},
    {COMMAND("run show", "Show a run: its progress, its rate, and the time left"), .arguments = "RUN",
     .flags = FLAG(WATCH) | FLAG(TIMEOUT),
     .details =
         "RUN is a number or a key. With --watch it is shown every second until it has ended, or until "
         "--timeout is over; the exit code is 0 when it completed and 73 when it failed or was cancelled.",
     .example = "pawl run show 7 --watch", .run = show},
    {COMMAND("run partitions", "List the partitions of a run, or of all runs, with progress and timings"),
     .arguments = "[RUN]", .flags = FLAG(PART_STATE) | FLAG(STUCK) | FLAG(LIMIT),
     .example = "pawl run partitions 7 --part-state active\n"
                "pawl run partitions --stuck 10m",
     .empty = "no partitions", .operation = op_run_partitions},
    {COMMAND("run items", "List the items of a run that has no target of its own, by key"),
     .arguments = "RUN [AFTER_KEY]", .flags = FLAG(LIMIT), .run = items},
};

const struct command_table run_commands = COMMAND_TABLE(commands);
