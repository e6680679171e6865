/* Which operations are tools, and how they are described. */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "mcp/mcp.h"
#include "operations/front/schema.h"
#include "operations/tables.h"

/* What only a terminal or only a server has is no tool. */
static bool is_tool(const struct operation *row) {
    return row->run != NULL && row->path != NULL &&
           (row->role == ROLE_VIEWER || row->role == ROLE_OPERATOR) && row->shape != ANSWER_TEXT &&
           row->shape != ANSWER_STREAM;
}

const struct operation *mcp_tool_at(size_t index) {
    const struct operation *operation;
    for (size_t i = 0; (operation = operation_at(i)) != NULL; i++)
        if (is_tool(operation) && index-- == 0)
            return operation;
    return NULL;
}

char *mcp_tool_name(const struct operation *operation, char name[static MCP_NAME_BYTES]) {
    snprintf(name, MCP_NAME_BYTES, "%s", operation->name);
    for (char *dot = name; (dot = strchr(dot, '.')) != NULL;)
        *dot = '_';
    return name;
}

const struct operation *mcp_tool_find(pawl_str name) {
    const struct operation *operation;
    char own[MCP_NAME_BYTES];
    for (size_t i = 0; (operation = mcp_tool_at(i)) != NULL; i++)
        if (str_equal_cstr(name, mcp_tool_name(operation, own)))
            return operation;
    return NULL;
}

bool mcp_tool_changes(const struct operation *operation) { return operation->changes != CHANGES_NOTHING; }

/* ---- Descriptions */

static void flag(struct json_writer *json, const char *key, bool value) {
    json_key(json, key);
    json_bool(json, value);
}

static void answer_schema(struct json_writer *json, const struct operation *operation) {
    json_key(json, "outputSchema");
    if (operation->shape == ANSWER_LIST) {
        schema_list(json, operation);
    } else if (operation->shape == ANSWER_RECORD) {
        schema_columns(json, operation);
    } else {
        json_begin_object(json);
        schema_text(json, "type", "object");
        json_end_object(json);
    }
}

static void describe(struct mcp_message *message, struct json_writer *json,
                     const struct operation *operation) {
    char name[MCP_NAME_BYTES];
    bool changes = mcp_tool_changes(operation);
    json_begin_object(json);
    schema_text(json, "name", mcp_tool_name(operation, name));
    schema_text(json, "title", operation->summary);
    schema_text(json, "description",
                operation->details != NULL
                    ? arena_printf(message->arena, "%s. %s", operation->summary, operation->details)
                    : operation->summary);
    json_key(json, "inputSchema");
    schema_fields(json, operation, false);
    answer_schema(json, operation);
    schema_open(json, "annotations");
    flag(json, "readOnlyHint", !changes);
    if (changes) {
        flag(json, "destructiveHint", operation->method == METHOD_DELETE);
        flag(json, "idempotentHint", operation->method != METHOD_POST);
    }
    flag(json, "openWorldHint", false);
    json_end_object(json);
    json_end_object(json);
}

/* Only what the peer may use: a model pays for every tool that it reads about. */
static bool listed(const struct mcp_message *message, pawl_str scopes, const struct operation *operation) {
    if (operation->role == ROLE_OPERATOR && message->peer->role != ROLE_OPERATOR)
        return false;
    return str_absent(message->peer->agent) || !mcp_tool_changes(operation) || mcp_covers(scopes, operation);
}

void mcp_tools_list(struct mcp_message *message, struct json_writer *json) {
    const struct tree *cursor = tree_get_cstr(message->params, "cursor");
    int64_t first = 0;
    size_t i = 0, shown = 0;
    pawl_str scopes = {NULL, 0};
    pawl_error err;
    const struct operation *operation;
    if (cursor != NULL && (cursor->kind != TREE_STRING || !str_to_i64(cursor->text, 0, INT32_MAX, &first))) {
        mcp_refuse(
            message, MCP_INVALID_PARAMS, 200,
            "the cursor is not the nextCursor of an earlier page of tools/list; start again without it");
        return;
    }
    /* An agent that is gone may look, like a viewer. */
    if (mcp_scopes(message, &scopes, &err) != PAWL_OK)
        scopes = STR("[]");
    json_key(json, "tools");
    json_begin_array(json);
    for (i = (size_t)first; (operation = mcp_tool_at(i)) != NULL && shown < MCP_TOOLS_PAGE; i++) {
        if (!listed(message, scopes, operation))
            continue;
        describe(message, json, operation);
        shown++;
    }
    json_end_array(json);
    if (operation != NULL)
        schema_text(json, "nextCursor", arena_printf(message->arena, "%zu", i));
}
