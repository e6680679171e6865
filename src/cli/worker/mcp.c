/* pawl mcp: the operations as tools for an agent, over standard input and output. */
#include "mcp/mcp.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/front.h"

static pawl_status run(struct cli *cli, pawl_error *err) {
    struct request host = front_request(cli);
    struct mcp_peer peer = {.role = cli_value(cli, "role").number == 1 ? ROLE_OPERATOR : ROLE_VIEWER,
                            .agent = cli_value(cli, "agent").text,
                            .remembers = true};
    return mcp_stdio(&host, &peer, err);
}

static const struct field fields[] = {
    {CHOICE_FIELD(IN_TERMINAL, "role", "viewer|operator",
                  "What the tools may do: a viewer looks (the default), an operator changes things.")},
    {TEXT_FIELD(IN_TERMINAL, "agent", PAWL_NAME_BYTES_MAX, "The agent whose scopes narrow that.")}};

static const struct operation commands[] = {
    {OPERATION("mcp", "Serve an agent over standard input and output (Model Context Protocol)"),
     FIELDS(fields), .options = OPTION(TOOLS) | OPTION(TOOLS_TIMEOUT), .database = DATABASE_MAKE,
     .changes = CHANGES_WORK,
     .details = "The tools are the operations of pawl. Without --role operator they only look. With --agent "
                "they act under the name of that agent, and only as far as its scopes allow: a tool that "
                "changes something needs a scope such as operation:job.retry or operation:job.*. What they "
                "change is recorded (pawl action list), what was refused too (pawl agent refusals).",
     .example = "pawl mcp\npawl mcp --role operator --agent planner", .terminal = run},
};

const struct operation_table mcp_commands = OPERATION_TABLE(commands);
