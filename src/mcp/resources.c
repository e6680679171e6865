/* Resources: runs, jobs and streams by their address. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"
#include "mcp/mcp.h"
#include "operations/front/schema.h"
#include "operations/tables.h"

static const struct {
    const char *prefix, *template, *name, *description, *operation, *field;
} rows[] = {
    {"pawl://job/", "pawl://job/{id}", "job", "One job that is not done: its state, attempts and payload",
     "job.show", "id"},
    {"pawl://run/", "pawl://run/{id}", "run", "One run: its progress, speed and time left", "run.show",
     "run"},
    {"pawl://stream/", "pawl://stream/{name}", "stream", "The first events of a stream, oldest first",
     "event.list", "stream"},
};
enum { ROWS = sizeof rows / sizeof *rows };

void mcp_resources_templates(struct mcp_message *message, struct json_writer *json) {
    (void)message;
    json_key(json, "resourceTemplates");
    json_begin_array(json);
    for (size_t i = 0; i < ROWS; i++) {
        json_begin_object(json);
        schema_text(json, "uriTemplate", rows[i].template);
        schema_text(json, "name", rows[i].name);
        schema_text(json, "description", rows[i].description);
        schema_text(json, "mimeType", "application/json");
        json_end_object(json);
    }
    json_end_array(json);
}

/* The object {field: text}; a number where the operation takes one. */
static const struct tree *arguments_of(struct arena *arena, const struct operation *operation,
                                       const char *field, pawl_str text) {
    const struct tree **items = arena_array(arena, 1, sizeof *items);
    enum tree_kind kind = TREE_STRING;
    int64_t number;
    for (size_t i = 0; i < operation->field_count; i++)
        if (strcmp(operation->fields[i].name, field) == 0 && operation->fields[i].type == FIELD_INT &&
            str_to_i64(text, 1, INT64_MAX, &number))
            kind = TREE_NUMBER;
    const struct tree *value = tree_scalar(arena, kind, text);
    if (items == NULL || value == NULL || (items[0] = tree_with_key(arena, value, str_from(field))) == NULL)
        return NULL;
    return tree_object(arena, items, 1);
}

static pawl_status read_one(struct mcp_message *message, pawl_str uri, pawl_error *err) {
    for (size_t i = 0; i < ROWS; i++) {
        pawl_str prefix = str_from(rows[i].prefix);
        const struct operation *operation = operation_find(rows[i].operation);
        if (operation == NULL || !str_starts_with(uri, prefix) || uri.len == prefix.len)
            continue;
        pawl_str rest =
            percent_decode(message->arena, (pawl_str){uri.ptr + prefix.len, uri.len - prefix.len});
        const struct tree *arguments = str_absent(rest) || !utf8_valid(rest, false, NULL)
                                           ? NULL
                                           : arguments_of(message->arena, operation, rows[i].field, rest);
        if (arguments == NULL)
            break;
        TRY(mcp_may(message, operation, err));
        TRY(mcp_arguments(message, operation, arguments, err));
        return mcp_run(message, err);
    }
    return error_set(
        err, PAWL_NOT_FOUND, "mcp",
        "there is no such resource; they are pawl://job/ID, pawl://run/ID and pawl://stream/NAME");
}

static void refuse(struct mcp_message *message, const struct tree *uri, const pawl_error *err) {
    bool missing = err->status == PAWL_NOT_FOUND || err->status == PAWL_INVALID;
    int code = !missing ? MCP_INTERNAL : message->modern ? MCP_INVALID_PARAMS : MCP_NO_RESOURCE;
    AUTO_BUF(data, 0);
    buf_append_cstr(&data, "{\"uri\":");
    json_quote(&data, uri->text);
    buf_append_char(&data, '}');
    mcp_refuse_with(message, code, 200, err->text, data.failed ? NULL : data.ptr);
}

void mcp_resources_read(struct mcp_message *message, struct json_writer *json) {
    const struct tree *uri = tree_get_cstr(message->params, "uri");
    pawl_error err;
    if (uri == NULL || uri->kind != TREE_STRING) {
        mcp_refuse(message, MCP_INVALID_PARAMS, 200, "uri: it is missing");
        return;
    }
    pawl_status status = read_one(message, uri->text, &err);
    if (status != PAWL_OK) {
        refuse(message, uri, &err);
        return;
    }
    json_key(json, "contents");
    json_begin_array(json);
    json_begin_object(json);
    json_key(json, "uri");
    json_str(json, uri->text);
    schema_text(json, "mimeType", "application/json");
    json_key(json, "text");
    json_str(json, buf_str(&message->answer));
    json_end_object(json);
    json_end_array(json);
}
