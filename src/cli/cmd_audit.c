/* pawl audit: what was executed, and whether anybody has changed the record of it. */
#include "base/error.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/commands.h"

static pawl_status list(struct cli *cli, pawl_error *err) {
    static const char *const outcomes[] = {"", "succeeded", "failed", "dead", "cancelled", "lost"};
    static const struct column columns[] = {{.key = "id", .type = CELL_INT},
                                            {.key = "job_id", .type = CELL_INT},
                                            {.key = "task", .type = CELL_TEXT},
                                            {.key = "type", .type = CELL_TEXT, .drop = 5},
                                            {.key = "attempt", .type = CELL_INT, .drop = 4},
                                            {.key = "outcome", .type = CELL_TEXT},
                                            {.key = "success", .type = CELL_BOOL, .show = SHOW_JSON},
                                            {.key = "started", .type = CELL_TIME, .drop = 3},
                                            {.key = "finished", .type = CELL_TIME, .drop = 2},
                                            {.key = "lease_owner", .type = CELL_UUID, .show = SHOW_WIDE},
                                            {.key = "token", .type = CELL_INT, .show = SHOW_JSON},
                                            {.key = "error", .type = CELL_TEXT, .cut = true, .drop = 1},
                                            {.key = "steps", .type = CELL_JSON, .show = SHOW_JSON},
                                            {.key = "output", .type = CELL_JSON, .show = SHOW_JSON},
                                            {.key = "input_hash", .type = CELL_TEXT, .show = SHOW_JSON},
                                            {.key = "output_hash", .type = CELL_TEXT, .show = SHOW_JSON},
                                            {.key = "hash", .type = CELL_TEXT, .show = SHOW_JSON}};
    struct run_filter filter = {.task = cli_flag(cli, FLAG_TASK)->text,
                                .before_id = cli_flag(cli, FLAG_AFTER)->number,
                                .limit = cli_limit(cli)};
    struct task_run_list found = {0};
    pawl_status status = cli->store->ops->jobs->runs(cli->store, &filter, cli->arena, &found, err);
    if (status != PAWL_OK)
        return status;
    output_list_begin(&cli->output, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < found.count; i++) {
        const struct task_run *run = &found.runs[i];
        struct cell cells[] = {cell_int(run->id),
                               cell_int(run->job_id),
                               cell_text(run->task),
                               cell_text(run->type),
                               cell_int(run->attempt),
                               cell_cstr(outcomes[run->outcome]),
                               cell_bool(run->outcome == RUN_SUCCEEDED),
                               cell_time(run->started_ms),
                               cell_time(run->finished_ms),
                               cell_uuid(run->instance),
                               cell_int(run->token),
                               cell_text(run->error),
                               cell_text(run->steps),
                               cell_text(run->output),
                               cell_text(run->input_hash),
                               cell_text(run->output_hash),
                               cell_text(run->hash)};
        output_list_row(&cli->output, cells);
    }
    return output_list_end(&cli->output, "nothing was executed", err);
}

static pawl_status verify(struct cli *cli, pawl_error *err) {
    static const struct column columns[] = {
        {.key = "sound", .type = CELL_BOOL},  {.key = "chains", .type = CELL_INT},
        {.key = "blocks", .type = CELL_INT},  {.key = "rows", .type = CELL_INT},
        {.key = "removed", .type = CELL_INT}, {.key = "fault", .type = CELL_TEXT}};
    struct audit_report report = {0};
    pawl_status status = cli->store->ops->jobs->audit_verify(cli->store, cli->arena, &report, err);
    if (status != PAWL_OK)
        return status;
    struct cell cells[] = {cell_bool(report.sound), cell_int(report.chains),  cell_int(report.blocks),
                           cell_int(report.rows),   cell_int(report.removed), cell_text(report.fault)};
    if (!report.sound)
        cli->exit_code = error_exit_code(PAWL_CONFLICT);
    return output_record(&cli->output, columns, sizeof columns / sizeof *columns, cells, err);
}

const struct command command_audit_list = {
    .path = "audit list",
    .alias = "audit",
    .summary = "List executions of jobs, the newest first",
    .flags = FLAG_BIT(FLAG_TASK) | FLAG_BIT(FLAG_LIMIT) | FLAG_BIT(FLAG_AFTER),
    .database = DATABASE_OPEN,
    .details = "Give the last id to --after for older ones.",
    .run = list,
};

const struct command command_audit_verify = {
    .path = "audit verify",
    .summary = "Recompute the hashes of the audit and say whether a row was changed or removed",
    .database = DATABASE_OPEN,
    .details = "The exit code is 73 when something does not fit.",
    .run = verify,
};
