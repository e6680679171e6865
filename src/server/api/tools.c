/* Routes that list the available transports and tools. */
#include "base/str.h"
#include "operations/fleet.h"
#include "operations/operations.h"
#include "server/api/fields.h"
#include "server/api/tooling.h"
#include "server/http/call.h"
#include "server/server.h"
#include "work/pipeline/builtin.h"

pawl_status tooling_open(struct server *server, struct tools **tools, pawl_error *err) {
    struct tools *made = NULL;
    pawl_status status = tools_create("server", &made, err);
    if (status == PAWL_OK)
        status = builtin_add(made, err);
    if (status == PAWL_OK && server->config.tools != NULL)
        status = tools_add_file(made, server->config.tools, err);
    if (status == PAWL_OK)
        tools_limit(made, server->config.tools_ms);
    if (status == PAWL_OK)
        tools_log(made, &server->config.log);
    if (status == PAWL_OK)
        *tools = made;
    else
        tools_free(made);
    return status;
}

static const struct column tool_columns[] = {
    {COLUMN(TEXT, "name")},   {COLUMN(TEXT, "kind")}, {COLUMN(TEXT, "description")}, {COLUMN(TEXT, "server")},
    {COLUMN(BOOL, "pinned")}, {COLUMN(TEXT, "hash")}, {COLUMN(TEXT, "error")}};

static pawl_status list_tools(struct call *call, pawl_error *err) {
    struct tools *tools = NULL;
    struct tools_row *rows = NULL;
    size_t count = 0;
    pawl_status status = tooling_open(call->server, &tools, err);
    struct tool_wait wait = tools_wait(tools, NULL);
    if (status == PAWL_OK)
        status = tools_list(tools, &wait, call->arena, &rows, &count, err);
    if (status == PAWL_OK)
        call_list(call);
    for (size_t i = 0; status == PAWL_OK && i < count; i++) {
        const struct tool_info *info = &rows[i].info;
        call_row(call, (struct cell[]){cell_text(info->name), cell_cstr(tool_kind_name(info->kind)),
                                       cell_text(info->description), cell_cstr(rows[i].server),
                                       cell_bool(info->pinned),
                                       info->hash[0] != '\0' ? cell_cstr(info->hash) : cell_none(),
                                       cell_cstr(rows[i].error)});
    }
    if (status == PAWL_OK)
        status = call_list_end(call, NULL, err);
    tools_free(tools);
    return status;
}

static const struct route routes[] = {
    {READS("/v1/transports", "listTransports"), .tag = "tools",
     .summary = "List the brokers that can be used, and why others cannot", COLUMNS(transport_columns),
     .operation = op_transport_list},
    {READS("/v1/tools", "listTools"), .tag = "tools", .summary = "List the tools for pipelines",
     COLUMNS(tool_columns), .run = list_tools},
};

const struct route_table tool_routes = ROUTE_TABLE(routes);
