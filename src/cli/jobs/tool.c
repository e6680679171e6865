/* pawl tool: calling one, and whether their servers are there. */
#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "cli/commands.h"
#include "cli/input.h"
#include "cli/jobs/tool_registry.h"

static struct stop_limit wait_of(const struct cli *cli, int64_t fallback_ms) {
    struct value timeout = cli_value(cli, "timeout_ms");
    return (struct stop_limit){clock_boot_ms() + (timeout.present ? timeout.number : fallback_ms), NULL};
}

static struct stop_limit list_wait(const struct cli *cli) {
    return wait_of(cli, options_number(&cli->arguments.options, OPTION_TOOLS_TIMEOUT));
}

static pawl_status call(struct cli *cli, pawl_error *err) {
    struct tools *tools = NULL;
    struct value arguments = cli_value(cli, "arguments");
    struct tool_answer answer = {0};
    AUTO_BUF(json, 0);
    pawl_status status = tool_registry_open(cli, &tools, err);
    if (status == PAWL_OK) {
        struct stop_limit wait = wait_of(cli, PAWL_PIPELINE_TIMEOUT_MS_DEFAULT);
        struct tool_call in = {.uses = cli_value(cli, "name").text,
                               .arguments = arguments.present ? arguments.tree : &tree_empty,
                               .deadline_ms = wait.deadline_ms};
        status = tools_call(tools, &in, cli->arena, &answer, err);
        if (status == PAWL_UNAVAILABLE && answer.begun) {
            pawl_error why = *err;
            status = error_set(err, PAWL_UNKNOWN, "tool call",
                               "%s; the tool was asked, so it may have happened: look before you try again",
                               why.text);
        }
    }
    if (status == PAWL_OK) {
        tree_write(&json, answer.output);
        buf_append_char(&json, '\n');
        status = buf_status(&json, "tool call", err);
    }
    if (status == PAWL_OK)
        fwrite(json.ptr, 1, json.len, cli->output.file);
    tools_free(tools);
    return status;
}

static const struct column ping_columns[] = {
    {COLUMN(TEXT, "name")},
    {COLUMN(BOOL, "ok")},
    {COLUMN(TEXT, "era")},
    {COLUMN(TEXT, "server"), .cut = true},
    {COLUMN(INT, "tools")},
    {COLUMN(INT, "elapsed_us")},
    {COLUMN(TEXT, "error"), .cut = true, .drop = 1},
};

static pawl_status ping(struct cli *cli, pawl_error *err) {
    struct tools *tools = NULL;
    struct tools_ping *pings = NULL;
    size_t count = 0;
    struct stop_limit wait = list_wait(cli);
    pawl_str server = cli_value(cli, "server").text;
    pawl_status status = tool_registry_open(cli, &tools, err);
    if (status == PAWL_OK)
        status = tools_ping(tools, server, &wait, cli->arena, &pings, &count, err);
    if (status == PAWL_OK) {
        output_list_begin(&cli->output, ping_columns, sizeof ping_columns / sizeof *ping_columns);
        for (size_t i = 0; i < count; i++) {
            const struct tools_ping *one = &pings[i];
            struct cell cells[] = {cell_cstr(one->name),
                                   cell_bool(one->status == PAWL_OK),
                                   one->era[0] != '\0' ? cell_cstr(one->era) : cell_none(),
                                   one->server[0] != '\0' ? cell_cstr(one->server) : cell_none(),
                                   cell_int((int64_t)one->tool_count),
                                   cell_int(one->elapsed_us),
                                   one->error != NULL ? cell_cstr(one->error) : cell_none()};
            output_list_row(&cli->output, cells);
            if (one->status != PAWL_OK)
                cli->exit_code = error_exit_code(one->status);
        }
        status = output_list_end(&cli->output, "no MCP servers; name a file of them with --tools", err);
    }
    tools_free(tools);
    return status;
}

#define FIELD_ROW_TIMEOUT                                                                                    \
    { DURATION_FIELD(IN_TERMINAL, "timeout_ms", 1, PAWL_PIPELINE_TIMEOUT_MS_MAX, "The time limit.") }
static const struct field call_fields[] = {
    {TEXT_FIELD(IN_TERMINAL, "name", 0, "The tool."), .required = true, .word = true},
    {FIELD(FIELD_OBJECT, IN_TERMINAL, "arguments", "A JSON object; @FILE is a file."), .word = true},
    FIELD_ROW_TIMEOUT};
static const struct field ping_fields[] = {
    {TEXT_FIELD(IN_TERMINAL, "server", 0, "Only this one."), .word = true}, FIELD_ROW_TIMEOUT};

static const struct operation commands[] = {
    {OPERATION("tool.call", "Call a tool and print its result"), FIELDS(call_fields), .changes = CHANGES_WORK,
     .terminal = call, .options = OPTION(TOOLS) | OPTION(TOOLS_TIMEOUT), .database = DATABASE_NONE,
     .details =
         "The arguments are checked against the tool's schema before it is called. The time limit is 30 "
         "seconds unless --timeout says otherwise.",
     .example = "pawl tool call files.read_text_file '{\"path\":\"/data/a.txt\"}' --tools tools.json"},
    {OPERATION("tool.ping", "Check that the MCP servers answer"), FIELDS(ping_fields), .terminal = ping,
     .options = OPTION(TOOLS) | OPTION(TOOLS_TIMEOUT), .database = DATABASE_NONE,
     .details = "Shows which version of the protocol each server speaks and how long an answer takes.",
     .example = "pawl tool ping files --tools tools.json"},
};

const struct operation_table tool_commands = OPERATION_TABLE(commands);
