/* The operation that lists the tools for pipelines. */
#include "handler/tools/tools.h"

#include "base/str.h"
#include "base/time/clock.h"
#include "operations/tables.h"

static const struct column tool_columns[] = {{COLUMN(TEXT, "name")},
                                             {COLUMN(TEXT, "kind")},
                                             {COLUMN(TEXT, "description"), .cut = true, .drop = 2},
                                             {COLUMN(TEXT, "server"), .show = SHOW_WIDE},
                                             {COLUMN(TEXT, "scopes"), .show = SHOW_WIDE},
                                             {COLUMN(BOOL, "pinned"), .show = SHOW_WIDE},
                                             {COLUMN(TEXT, "hash"), .show = SHOW_WIDE},
                                             {COLUMN(TEXT, "error"), .cut = true, .drop = 1}};

/* The scopes with blanks between them; NULL without any. */
static const char *scopes_text(struct request *request, const struct tool_info *info) {
    const char *text = NULL;
    for (size_t i = 0; i < info->scope_count; i++)
        text = arena_printf(request->arena, "%s%s%.*s", text != NULL ? text : "", text != NULL ? " " : "",
                            STR_ARG(info->scopes[i]));
    return text;
}

static pawl_status tool_list(struct request *request, pawl_error *err) {
    struct tools *tools = NULL;
    struct tools_row *rows = NULL;
    size_t count = 0;
    struct value timeout = request_value(request, "timeout_ms");
    pawl_status status = request->front->tools(request->self, &tools, err);
    struct stop_limit wait = timeout.present ? (struct stop_limit){clock_boot_ms() + timeout.number, NULL}
                                             : tools_wait(tools, NULL);
    if (status == PAWL_OK)
        status = tools_list(tools, &wait, request->arena, &rows, &count, err);
    if (status == PAWL_OK)
        request_list(request, tool_columns, COLUMN_COUNT(tool_columns));
    for (size_t i = 0; status == PAWL_OK && i < count; i++) {
        const struct tool_info *info = &rows[i].info;
        request_row(request, (struct cell[]){cell_text(info->name), cell_cstr(tool_kind_name(info->kind)),
                                             cell_text(info->description), cell_cstr(rows[i].server),
                                             cell_cstr(scopes_text(request, info)), cell_bool(info->pinned),
                                             cell_cstr(info->hash[0] != '\0' ? info->hash : NULL),
                                             cell_cstr(rows[i].error)});
    }
    tools_free(tools);
    return status == PAWL_OK ? request_list_end(request, NULL, err) : status;
}

static const struct field list_fields[] = {
    {DURATION_FIELD(IN_TERMINAL, "timeout_ms", 1, PAWL_PIPELINE_TIMEOUT_MS_MAX, "The time limit.")}};

static const struct operation operations[] = {
    {OPERATION("tool.list", "List the tools for pipelines"), READS("/v1/tools"), FIELDS(list_fields),
     COLUMNS(tool_columns), .run = tool_list, .options = OPTION(TOOLS) | OPTION(TOOLS_TIMEOUT),
     .database = DATABASE_NONE,
     .details = "MCP servers are started or called and asked for their tools. The hash of a tool can be "
                "pinned in the tools file; a tool that has changed is then refused.",
     .example = "pawl tool list --tools tools.json", .empty = "no tools; name a file of them with --tools"},
};

const struct operation_table tool_operations = OPERATION_TABLE(operations);
