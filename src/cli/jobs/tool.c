/* pawl tool: calling one, and whether their servers are there. */
#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "cli/commands.h"
#include "cli/input.h"
#include "cli/jobs/tool_registry.h"

static struct tool_wait wait_of(const struct cli *cli, int64_t fallback_ms) {
    const struct flag_value *timeout = cli_flag(cli, FLAG_TIMEOUT);
    return (struct tool_wait){clock_boot_ms() + (timeout->set ? timeout->number : fallback_ms), NULL};
}

static struct tool_wait list_wait(const struct cli *cli) {
    return wait_of(cli, options_number(&cli->arguments.options, OPTION_TOOLS_TIMEOUT));
}

/* The second word, or the content of the file after @; an object either way. */
static pawl_status read_arguments(struct cli *cli, const struct tree **arguments, pawl_error *err) {
    pawl_str text = STR("{}");
    pawl_status status = PAWL_OK;
    if (cli->arguments.word_count > 1) {
        const char *word = cli->arguments.words[1];
        text = str_from(word);
        if (word[0] == '@')
            status = input_read(cli->arena, word + 1, PAWL_PAYLOAD_BYTES_MAX, &text, err);
    }
    if (status == PAWL_OK)
        status = tree_parse(cli->arena, text, NULL, arguments, err);
    if (status == PAWL_OK && (*arguments)->kind != TREE_OBJECT)
        status = error_set(err, PAWL_INVALID, "tool call", "the arguments are %s; they must be an object",
                           tree_kind_name((*arguments)->kind));
    return status;
}

static pawl_status call(struct cli *cli, pawl_error *err) {
    struct tools *tools = NULL;
    const struct tree *arguments = NULL;
    struct tool_answer answer = {0};
    struct buf json;
    buf_init(&json, 0);
    pawl_status status = read_arguments(cli, &arguments, err);
    if (status == PAWL_OK)
        status = tool_registry_open(cli, &tools, err);
    if (status == PAWL_OK) {
        struct tool_wait wait = wait_of(cli, PAWL_PIPELINE_TIMEOUT_MS_DEFAULT);
        struct tool_call in = {.uses = str_from(cli->arguments.words[0]),
                               .arguments = arguments,
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
    buf_free(&json);
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
    struct tool_wait wait = list_wait(cli);
    pawl_str server = str_from(cli->arguments.word_count > 0 ? cli->arguments.words[0] : NULL);
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

static const struct operation commands[] = {
    {COMMAND("tool call", "Call a tool and print its result"), .arguments = "NAME [ARGUMENTS|@FILE]",
     .flags = FLAG(TIMEOUT), .options = OPTION(TOOLS) | OPTION(TOOLS_TIMEOUT),
     .details = "The arguments are a JSON object, checked against the tool's schema before it is called. The "
                "time limit is 30 seconds unless --timeout says otherwise.",
     .example = "pawl tool call files.read_text_file '{\"path\":\"/data/a.txt\"}' --tools tools.json",
     .database = DATABASE_NONE, .terminal = call},
    {COMMAND("tool ping", "Check that the MCP servers answer"), .arguments = "[SERVER]",
     .flags = FLAG(TIMEOUT), .options = OPTION(TOOLS) | OPTION(TOOLS_TIMEOUT),
     .details = "Shows which version of the protocol each server speaks and how long an answer takes.",
     .example = "pawl tool ping files --tools tools.json", .database = DATABASE_NONE, .terminal = ping},
};

const struct operation_table tool_commands = OPERATION_TABLE(commands);
