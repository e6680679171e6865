/* pawl pipeline: check a pipeline, and show its steps. */
#include "cli/commands.h"
#include "cli/front.h"
#include "cli/jobs/pipeline_input.h"
#include "operations/tasks.h"

static pawl_status check(struct cli *cli, pawl_error *err) {
    static const struct column columns[] = {
        {COLUMN(TEXT, "file")}, {COLUMN(BOOL, "ok")}, {COLUMN(INT, "steps")}, {COLUMN(JSON, "scopes")}};
    struct pipeline_input in = {0};
    const char *path = cli->arguments.words[0];
    pawl_status status = pipeline_input_read(cli, path, false, &in, err);
    if (status != PAWL_OK)
        return status;
    struct cell cells[] = {cell_cstr(path), cell_bool(true), cell_int((int64_t)in.pipeline->steps_count),
                           cell_text(in.scopes)};
    return output_record(&cli->output, columns, sizeof columns / sizeof *columns, cells, err);
}

static pawl_status show(struct cli *cli, pawl_error *err) {
    struct request request = front_request(cli);
    struct pipeline_input in = {0};
    pawl_status status = pipeline_input_read(cli, cli->arguments.words[0], false, &in, err);
    return status == PAWL_OK ? pipeline_steps(&request, in.pipeline, err) : status;
}

static const struct operation commands[] = {
    {COMMAND("pipeline check", "Check a pipeline: its form, its tools, their arguments"), .arguments = "FILE",
     .flags = FLAG(PARAMS), .options = OPTION(TOOLS) | OPTION(TOOLS_TIMEOUT) | OPTION(PIPELINE_ENV),
     .details = "A file that ends in .yaml or .yml is YAML, any other is JSON. With --params the parameters "
                "are checked as well, and everything that depends on them. Nothing is stored.",
     .example = "pawl pipeline check report.yaml --params '{\"day\":\"2026-01-02\"}' --tools tools.json",
     .database = DATABASE_NONE, .terminal = check},
    {COMMAND("pipeline show", "Show the steps of a pipeline and what each waits for"), .arguments = "FILE",
     .flags = FLAG(PARAMS), .options = OPTION(TOOLS) | OPTION(TOOLS_TIMEOUT) | OPTION(PIPELINE_ENV),
     .database = DATABASE_NONE, .empty = "no steps", .terminal = show},
};

const struct operation_table pipeline_commands = OPERATION_TABLE(commands);
