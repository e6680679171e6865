/* pawl schedule: what comes when. */
#include "base/error.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/jobs/schedule_input.h"
#include "view/output/row.h"
#include "view/work.h"

static pawl_status list(struct cli *cli, pawl_error *err) {
    struct schedule_filter filter = {.limit = PAWL_LIST_MAX};
    struct job_schedule_list found;
    output_list_begin(&cli->output, schedule_columns, SCHEDULE_COLUMNS);
    do {
        found = (struct job_schedule_list){0};
        pawl_status status = cli->store->ops->jobs->schedules(cli->store, &filter, cli->arena, &found, err);
        if (status != PAWL_OK)
            return status;
        output_rows(&cli->output, found.schedules, sizeof *found.schedules, found.count);
        if (found.count > 0)
            filter.after_name = found.schedules[found.count - 1].name;
    } while (found.count == (size_t)filter.limit);
    return output_list_end(&cli->output, "no schedules", err);
}

static pawl_status find(struct cli *cli, struct job_schedule *schedule, pawl_error *err) {
    bool given = false;
    pawl_status status = schedule_input_read(cli, schedule, &given, err);
    if (status != PAWL_OK || given)
        return status;
    if (cli->arguments.word_count == 0)
        return error_set(err, PAWL_INVALID, "schedule", "name a schedule, or give --cron, --every or --at");
    struct schedule_filter filter = {.name = str_from(cli->arguments.words[0]), .limit = 1};
    struct job_schedule_list found = {0};
    status = cli->store->ops->jobs->schedules(cli->store, &filter, cli->arena, &found, err);
    if (status == PAWL_OK && found.count == 0)
        status =
            error_set(err, PAWL_NOT_FOUND, "schedule", "there is no schedule '%s'", cli->arguments.words[0]);
    if (status == PAWL_OK)
        *schedule = found.schedules[0];
    return status;
}

static pawl_status preview(struct cli *cli, pawl_error *err) {
    static const struct column columns[] = {{COLUMN(TIME, "instant")}};
    enum { PREVIEW_DEFAULT = 10, PREVIEW_MAX = 1000 };
    const struct flag_value *limit = cli_flag(cli, FLAG_LIMIT);
    size_t count = limit->set ? (size_t)(limit->number < PREVIEW_MAX ? limit->number : PREVIEW_MAX)
                              : PREVIEW_DEFAULT;
    struct job_schedule schedule = {0};
    struct schedule_rule rule;
    struct schedule *compiled = NULL;
    int64_t ticks[PREVIEW_MAX];
    pawl_status status = find(cli, &schedule, err);
    if (status == PAWL_OK)
        status = schedule_rule_of(&schedule, &rule, err);
    if (status == PAWL_OK)
        status = schedule_compile(&rule, NULL, &compiled, err);
    if (status != PAWL_OK)
        return status;
    size_t found = schedule_preview(compiled, cli->output.now_ms, ticks, count);
    schedule_free(compiled);
    output_list_begin(&cli->output, columns, 1);
    for (size_t i = 0; i < found; i++)
        output_list_row(&cli->output, &(struct cell){.present = true, .number = ticks[i]});
    return output_list_end(&cli->output, "it has no more instants", err);
}

static const struct command commands[] = {
    {COMMAND("schedule list", "List schedules with their last and next runs"), .alias = "schedule",
     .run = list},
    {COMMAND("schedule preview", "Show the next runs of a schedule, or of an expression"),
     .arguments = "[NAME]", .flags = SCHEDULE_FLAGS | FLAG_BIT(FLAG_LIMIT), .limit_other = true,
     .details = "docs/schedules.md has the rules for gaps and overlaps of daylight saving time.",
     .example = "pawl schedule preview nightly --limit 5\npawl schedule preview --cron '30 2 * * *' --zone "
                "Europe/Berlin",
     .run = preview},
};

const struct command_table schedule_commands = COMMAND_TABLE(commands);
