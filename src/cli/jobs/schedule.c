/* pawl schedule: list schedules and preview their next runs. */
#include "base/error.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/front.h"
#include "cli/jobs/schedule_input.h"
#include "operations/operations.h"
#include "operations/tasks.h"

static pawl_status find(struct cli *cli, struct job_schedule *schedule, pawl_error *err) {
    bool given = false;
    pawl_status status = schedule_input_read(cli, schedule, &given, err);
    if (status != PAWL_OK || given)
        return status;
    if (cli->arguments.word_count == 0)
        return error_set(err, PAWL_INVALID, "schedule", "name a schedule, or give --cron, --every or --at");
    struct request request = front_request(cli);
    return schedule_find(&request, str_from(cli->arguments.words[0]), schedule, err);
}

static pawl_status preview(struct cli *cli, pawl_error *err) {
    struct job_schedule schedule = {0};
    struct request request = front_request(cli);
    pawl_status status = find(cli, &schedule, err);
    if (status == PAWL_OK)
        status = schedule_instants(&request, &schedule, err);
    return status == PAWL_OK ? output_list_end(&cli->output, "it has no more instants", err) : status;
}

static const struct command commands[] = {
    {COMMAND("schedule list", "List schedules with their last and next runs"), .alias = "schedule",
     .empty = "no schedules", .operation = op_schedule_list},
    {COMMAND("schedule preview", "Show the next runs of a schedule, or of an expression"),
     .arguments = "[NAME]", .flags = SCHEDULE_FLAGS | FLAG(LIMIT), .limit_other = true,
     .details = "docs/schedules.md has the rules for gaps and overlaps of daylight saving time.",
     .example = "pawl schedule preview nightly --limit 5\npawl schedule preview --cron '30 2 * * *' --zone "
                "Europe/Berlin",
     .run = preview},
};

const struct command_table schedule_commands = COMMAND_TABLE(commands);
