/* pawl limit: how many jobs of a key run at once, how many start, and whose turn comes how often. */
#include "base/str.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "view/output/row.h"
#include "view/work.h"

static pawl_status list(struct cli *cli, pawl_error *err) {
    struct job_limits found = {.count = 0};
    pawl_status status = cli->store->ops->jobs->limits(cli->store, cli->arena, &found, err);
    if (status != PAWL_OK)
        return status;
    output_list_begin(&cli->output, limit_columns, LIMIT_COLUMNS);
    output_rows(&cli->output, found.limits, sizeof *found.limits, found.count);
    return output_list_end(&cli->output, "no limits", err);
}

static int64_t number_or(struct cli *cli, enum flag_id flag, int64_t fallback) {
    const struct flag_value *given = cli_flag(cli, flag);
    return given->set ? given->number : fallback;
}

static pawl_status set(struct cli *cli, pawl_error *err) {
    struct job_limit limit = {.key = str_from(cli->arguments.words[0]),
                              .concurrency = (int)number_or(cli, FLAG_AT_ONCE, 0),
                              .rate = (int)number_or(cli, FLAG_STARTS, 0),
                              .rate_ms = number_or(cli, FLAG_PER, 1000),
                              .weight = (int)number_or(cli, FLAG_WEIGHT, 1)};
    struct cell cells[LIMIT_COLUMNS];
    pawl_status status = cli->store->ops->jobs->limit_set(cli->store, &limit, err);
    row_cells(limit_columns, LIMIT_COLUMNS, &limit, NULL, cells);
    return status == PAWL_OK ? output_record(&cli->output, limit_columns, LIMIT_COLUMNS, cells, err) : status;
}

static const struct command commands[] = {
    {COMMAND("limit list", "List the limits of keys"), .alias = "limit", .run = list},
    {COMMAND("limit set", "Set the limits of a key, replacing all of them"), .arguments = "KEY",
     .flags = FLAG_BIT(FLAG_AT_ONCE) | FLAG_BIT(FLAG_STARTS) | FLAG_BIT(FLAG_PER) | FLAG_BIT(FLAG_WEIGHT),
     .writes = true,
     .details = "A key is what pawl job enqueue --key names. With tenant:* the limits apply to each key that "
                "begins with tenant: and has no limits itself. They apply across all workers. Without any "
                "flag the limits are removed.",
     .example = "pawl limit set 'tenant:*' --at-once 4 --starts 100 --per 1m", .run = set},
};

const struct command_table limit_commands = COMMAND_TABLE(commands);
