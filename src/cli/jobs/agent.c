/* pawl agent: agents, their scopes, and refusals. */
#include "base/error.h"
#include "base/json/json.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "domain/authority/scope.h"
#include "operations/operations.h"
#include "view/work.h"

static pawl_status write_agent(struct cli *cli, bool disabled, pawl_error *err) {
    struct buf scopes;
    pawl_status status = PAWL_OK;
    buf_init(&scopes, 0);
    buf_append_char(&scopes, '[');
    for (int i = 1; status == PAWL_OK && i < cli->arguments.word_count; i++) {
        pawl_str scope = str_from(cli->arguments.words[i]);
        status = scope_check_name(scope, true, err);
        if (i > 1)
            buf_append_char(&scopes, ',');
        json_quote(&scopes, scope);
    }
    buf_append_char(&scopes, ']');
    if (status == PAWL_OK)
        status = buf_status(&scopes, "agent", err);
    struct agent agent = {
        .name = str_from(cli->arguments.words[0]), .scopes = buf_str(&scopes), .disabled = disabled};
    if (status == PAWL_OK)
        status = cli->store->ops->jobs->agent_put(cli->store, &agent, err);
    struct cell cells[] = {cell_text(agent.name), cell_bool(disabled), cell_text(agent.scopes)};
    if (status == PAWL_OK)
        status = output_record(&cli->output, agent_columns, 3, cells, err);
    buf_free(&scopes);
    return status;
}

static pawl_status set(struct cli *cli, pawl_error *err) { return write_agent(cli, false, err); }

static pawl_status disable(struct cli *cli, pawl_error *err) {
    struct agent_list found = {0};
    pawl_str name = str_from(cli->arguments.words[0]);
    pawl_status status = cli->store->ops->jobs->agents(cli->store, cli->arena, &found, err);
    bool known = false;
    for (size_t i = 0; i < found.count; i++)
        known = known || str_equal(found.agents[i].name, name);
    if (status == PAWL_OK && !known)
        status = error_set(err, PAWL_NOT_FOUND, "agent", "there is no agent '%.*s'", STR_ARG(name));
    return status == PAWL_OK ? write_agent(cli, true, err) : status;
}

static const struct command commands[] = {
    {COMMAND("agent set", "Create an agent, or change its scopes"), .arguments = "NAME [SCOPE...]",
     .database = DATABASE_MAKE, .writes = true,
     .details = "A scope may end in *: tool:files.* covers every tool of the server files that names no "
                "scopes of its own. Besides tools, job:TYPE lets its jobs enqueue jobs of that type, and "
                "statement:NAME lets its runs use that statement.",
     .example = "pawl agent set reporter 'tool:files.*' mail", .run = set},
    {COMMAND("agent list", "List agents with their scopes"), .alias = "agent", .empty = "no agents",
     .operation = op_agent_list},
    {COMMAND("agent disable", "Disable an agent: its tasks are refused"), .arguments = "NAME", .writes = true,
     .run = disable},
    {COMMAND("agent refusals", "Show what was refused because a scope was missing"), .flags = FLAG(LIMIT),
     .empty = "nothing was refused", .operation = op_agent_refusals},
};

const struct command_table agent_commands = COMMAND_TABLE(commands);
