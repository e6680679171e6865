/* pawl run show: one run, with what it waits for, or followed to its end. */
#include <inttypes.h>

#include "base/error.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/front.h"
#include "cli/runs/run_watch.h"
#include "operations/runs/runs.h"
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
    TRY(cli->store->ops->runs->partitions(cli->store, &filter, cli->arena, &stuck, err));
    TRY(cli->store->ops->jobs->counts(cli->store, cli->arena, &counts, err));
    for (size_t i = 0; i < counts.count; i++) {
        if (str_equal(counts.queues[i].queue, run->queue))
            output_say(&cli->output, "queue %.*s: %" PRId64 " ready, %" PRId64 " running",
                       STR_ARG(run->queue), counts.queues[i].ready, counts.queues[i].running);
    }
    if (stuck.count > 0)
        output_say(&cli->output,
                   "%zu partitions are stuck: no update for 10 minutes; pawl run partitions %" PRId64
                   " --quiet 10m",
                   stuck.count, run->id);
    return PAWL_OK;
}

pawl_status run_show_terminal(struct cli *cli, pawl_error *err) {
    struct run_row run;
    struct request request = front_request(cli);
    if (cli_value(cli, "watch").present)
        return run_watch(cli, cli->arguments.words[0], err);
    pawl_status status = run_show(&request, &run, err);
    return status == PAWL_OK && !run_view_ended(&run) ? say_health(cli, &run, err) : status;
}
