/* pawl pipeline: check a pipeline, and show its steps. */
#include "base/str.h"
#include "cli/commands.h"
#include "cli/jobs/pipeline_input.h"

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
    static const struct column columns[] = {
        {COLUMN(TEXT, "step")},           {COLUMN(TEXT, "uses")},    {COLUMN(TEXT, "needs")},
        {COLUMN(DURATION, "timeout")},    {COLUMN(INT, "attempts")}, {COLUMN(BOOL, "foreach"), .drop = 1},
        {COLUMN(TEXT, "if"), .cut = true}};
    struct pipeline_input in = {0};
    pawl_status status = pipeline_input_read(cli, cli->arguments.words[0], false, &in, err);
    if (status != PAWL_OK)
        return status;
    output_list_begin(&cli->output, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; status == PAWL_OK && i < in.pipeline->steps_count; i++) {
        const struct pipeline_step *step = &in.pipeline->steps[i];
        struct buf needs;
        pawl_str needs_text = {NULL, 0};
        buf_init(&needs, 0);
        for (size_t k = 0; k < step->needs_count; k++)
            buf_printf(&needs, "%s%.*s", k > 0 ? " " : "",
                       STR_ARG(in.pipeline->steps[step->needs[k].step].id));
        status = buf_status(&needs, "pipeline", err);
        if (status == PAWL_OK && needs.len > 0)
            status = str_dup(cli->arena, buf_str(&needs), &needs_text, err);
        buf_free(&needs);
        struct cell cells[] = {cell_text(step->id),       cell_text(step->uses),
                               cell_text(needs_text),     cell_duration(step->timeout_ms),
                               cell_int(step->attempts),  cell_bool(step->foreach != NULL),
                               cell_text(step->condition)};
        if (status == PAWL_OK)
            output_list_row(&cli->output, cells);
    }
    return status == PAWL_OK ? output_list_end(&cli->output, "no steps", err) : status;
}

static const struct command commands[] = {
    {COMMAND("pipeline check", "Check a pipeline: its form, its tools, their arguments"), .arguments = "FILE",
     .flags = FLAG(PARAMS), .options = OPTION(TOOLS) | OPTION(TOOLS_TIMEOUT) | OPTION(PIPELINE_ENV),
     .details = "A file that ends in .yaml or .yml is YAML, any other is JSON. With --params the parameters "
                "are checked as well, and everything that depends on them. Nothing is stored.",
     .example = "pawl pipeline check report.yaml --params '{\"day\":\"2026-01-02\"}' --tools tools.json",
     .database = DATABASE_NONE, .run = check},
    {COMMAND("pipeline show", "Show the steps of a pipeline and what each waits for"), .arguments = "FILE",
     .flags = FLAG(PARAMS), .options = OPTION(TOOLS) | OPTION(TOOLS_TIMEOUT) | OPTION(PIPELINE_ENV),
     .database = DATABASE_NONE, .run = show},
};

const struct command_table pipeline_commands = COMMAND_TABLE(commands);
