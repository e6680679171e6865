/* pawl run start. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/front.h"
#include "cli/input.h"
#include "cli/jobs/pipeline_input.h"
#include "cli/jobs/tool_registry.h"
#include "cli/runs/run_watch.h"
#include "operations/runs.h"
#include "work/run/check.h"
#include "work/run/start.h"

static bool is_yaml(const char *path) {
    size_t len = strlen(path);
    return (len > 5 && strcmp(path + len - 5, ".yaml") == 0) ||
           (len > 4 && strcmp(path + len - 4, ".yml") == 0);
}

static pawl_status read_document(struct cli *cli, struct run_begin *in, struct run_doc *doc,
                                 pawl_error *err) {
    const char *path = cli->arguments.words[0];
    pawl_str text = {NULL, 0}, params = {NULL, 0};
    pawl_error why = {0};
    pawl_status status = input_read(cli->arena, path, RUN_DOC_BYTES_MAX, &text, err);
    if (status != PAWL_OK)
        return status;
    status = run_doc_parse(cli->arena, text, is_yaml(path), doc, &why);
    if (status != PAWL_OK)
        return error_set(err, status, "run", "%s: %s", path, why.text);
    status = pipeline_input_params(cli, &params, err);
    if (status == PAWL_OK && !str_absent(params))
        status = tree_parse(cli->arena, params, NULL, &in->params, err);
    if (status == PAWL_OK && in->params != NULL && in->params->kind != TREE_OBJECT)
        status = error_set(err, PAWL_INVALID, "run", "--params must be an object");
    in->doc = doc;
    in->key = cli_flag(cli, FLAG_RUN_KEY)->text;
    in->traceparent = cli_flag(cli, FLAG_TRACEPARENT)->text;
    /* A tool that is not there is told now, not by the first page: as far as the tools are known here. */
    if (status == PAWL_OK && options_text(&cli->arguments.options, OPTION_TOOLS).len > 0)
        status = tool_registry_open(cli, &in->tools, err);
    in->wait = tools_wait(in->tools, NULL);
    return status;
}

/* What would be started. */
static pawl_status show_plan(struct cli *cli, const struct run_begin *in, pawl_error *err) {
    const struct run_doc *doc = in->doc;
    static const struct column columns[] = {{COLUMN(TEXT, "partition")}, {COLUMN(JSON, "value")}};
    struct run_parts parts = {0};
    struct run_check check = {
        .doc = doc, .params = in->params, .tools = in->tools, .wait = in->wait, .store = cli->store};
    pawl_status status = PAWL_OK;
    if (doc->planner != RUN_PLAN_TOOL) {
        status = run_doc_plan(cli->arena, doc, &parts, err);
        check.parts = &parts;
    }
    if (status == PAWL_OK)
        status = run_check(&check, cli->arena, err);
    if (status == PAWL_OK && doc->planner == RUN_PLAN_TOOL)
        return error_set(err, PAWL_CONFLICT, "run",
                         "the document is right; its partitions are planned by the tool %.*s when it starts",
                         STR_ARG(doc->plan_call.uses));
    if (status != PAWL_OK)
        return status;
    output_list_begin(&cli->output, columns, 2);
    for (size_t i = 0; status == PAWL_OK && i < parts.count; i++) {
        struct buf text;
        buf_init(&text, 0);
        tree_write(&text, parts.parts[i].value);
        struct cell cells[] = {cell_text(parts.parts[i].id), cell_text(buf_str(&text))};
        status = buf_status(&text, "run", err);
        if (status == PAWL_OK)
            output_list_row(&cli->output, cells);
        buf_free(&text);
    }
    return status == PAWL_OK ? output_list_end(&cli->output, "no partitions", err) : status;
}

static pawl_status start(struct cli *cli, pawl_error *err) {
    struct request request = front_request(cli);
    struct run_doc doc = {0};
    struct run_begin in = {0};
    struct run_begun begun = {0};
    pawl_status status = read_document(cli, &in, &doc, err);
    bool dry = cli_flag(cli, FLAG_DRY_RUN)->set;
    if (status == PAWL_OK)
        status = dry ? show_plan(cli, &in, err) : run_begin(cli->store, &in, cli->arena, &begun, err);
    tools_free(in.tools);
    if (status != PAWL_OK || dry)
        return status;
    if (cli_flag(cli, FLAG_WATCH)->set && begun.run > 0) {
        const char *word = arena_printf(cli->arena, "%" PRId64, begun.run);
        return word != NULL ? run_watch(cli, word, err)
                            : error_set(err, PAWL_NO_MEMORY, "run", "out of memory");
    }
    return run_answer_begun(&request, &begun, err);
}

static const struct operation commands[] = {
    {COMMAND("run start", "Start a run from a document"), .arguments = "FILE",
     .flags = FLAG(PARAMS) | FLAG(RUN_KEY) | FLAG(TRACEPARENT) | FLAG(DRY_RUN) | FLAG(WATCH) | FLAG(TIMEOUT),
     .options = OPTION(TOOLS) | OPTION(TOOLS_TIMEOUT), .database = DATABASE_MAKE, .writes = true,
     .details = "The document (docs/running-runs.md) is JSON, or YAML when its name ends in .yaml or .yml. "
                "With --tools its tools are checked first. --dry-run checks it and shows its partitions. "
                "With --watch it is followed as pawl run show --watch does. When a tool plans the "
                "partitions, a job asks it first, and the run is found by its key when that is done.",
     .example = "pawl run start catalogue.yaml --tools tools.json --watch\n"
                "pawl run start catalogue.yaml --run-key catalogue-2026-01-02",
     .terminal = start},
};

const struct operation_table run_start_commands = OPERATION_TABLE(commands);
