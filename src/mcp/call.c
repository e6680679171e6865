/* Calling a tool: MCP as a front of operations. Arguments are inputs, answers are JSON of a limited size. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "base/utf8.h"
#include "handler/tools/tools.h"
#include "mcp/mcp.h"
#include "operations/front/cursor.h"
#include "operations/front/fields.h"
#include "view/output/row.h"

/* ---- Inputs */

static struct value front_value(void *self, const char *name) {
    const struct mcp_message *message = self;
    return message->values[operation_input_find(message->operation, name)]; /* one after the last is absent */
}

static int front_limit(void *self) { return ((struct mcp_message *)self)->limit; }

static pawl_str front_after(void *self) { return front_value(self, "cursor").text; }

/* An input by its name; NULL: none, or a terminal's own. */
static const struct field *input_named(const struct operation *operation, pawl_str name, size_t *at) {
    const struct field *field;
    *at = 0;
    while ((field = operation_input(operation, *at)) != NULL &&
           !(field->in != IN_TERMINAL && str_equal_cstr(name, field->name)))
        ++*at;
    return field;
}

/* Every input is a member of one object here; null means absent. */
static pawl_status read_members(struct mcp_message *message, const struct tree *object, pawl_error *err) {
    for (size_t i = 0; i < object->count; i++) {
        const struct tree *item = object->items[i];
        size_t at;
        const struct field *field = input_named(message->operation, item->key, &at);
        if (field == NULL)
            return error_set(err, PAWL_INVALID, "mcp", "there is no argument \"%.*s\"", STR_ARG(item->key));
        if (item->kind != TREE_NULL || field->type == FIELD_JSON)
            TRY(field_from_tree(field, item, &message->values[at], err));
    }
    return PAWL_OK;
}

pawl_status mcp_arguments(struct mcp_message *message, const struct operation *operation,
                          const struct tree *arguments, pawl_error *err) {
    const struct field *field;
    message->operation = operation;
    message->values = arena_array(message->arena, operation_inputs(operation) + 1, sizeof *message->values);
    if (message->values == NULL)
        return error_set(err, PAWL_NO_MEMORY, "mcp", "no memory for the arguments");
    if (arguments != NULL && arguments->kind != TREE_OBJECT)
        return error_set(err, PAWL_INVALID, "mcp", "the arguments are not an object");
    pawl_status status = read_members(message, arguments != NULL ? arguments : &tree_empty, err);
    for (size_t i = 0; status == PAWL_OK && (field = operation_input(operation, i)) != NULL; i++) {
        struct value *value = &message->values[i];
        pawl_str scope = operation_scope(message->arena, operation, message->values);
        if (field->required && field->in != IN_TERMINAL && !value->present)
            status = error_set(err, PAWL_INVALID, "mcp", "%s is missing", field->name);
        else if (value->present && field->type == FIELD_CURSOR &&
                 !cursor_read(message->arena, scope, value->text, &value->text))
            status = error_set(err, PAWL_INVALID, "mcp",
                               "cursor: it is not the `next` of an earlier page of this list with these "
                               "filters; start again without it");
    }
    struct value limit = status == PAWL_OK ? front_value(message, "limit") : (struct value){0};
    message->limit = limit.present ? (int)limit.number : MCP_ROWS_DEFAULT;
    return status;
}

/* ---- Answers */

static struct cell front_shown(void *self, const struct column *column, struct cell cell) {
    const struct request *host = ((struct mcp_message *)self)->host;
    return host->front->shown != NULL ? host->front->shown(host->self, column, cell) : cell;
}

static void write_cells(struct mcp_message *message, const struct column *columns, size_t count,
                        const struct cell *cells) {
    struct cell shown[ROW_COLUMNS_MAX];
    if (count > ROW_COLUMNS_MAX) {
        message->answer.failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++)
        shown[i] = front_shown(message, &columns[i], cells[i]);
    output_cells_json(&message->answer, columns, count, shown);
}

static void front_list(void *self, const struct column *columns, size_t count) {
    struct mcp_message *message = self;
    message->columns = columns;
    message->column_count = count;
    buf_append_cstr(&message->answer, "{\"items\":[");
}

static void front_row(void *self, const struct cell *cells) {
    struct mcp_message *message = self;
    if (message->rows++ > 0)
        buf_append_char(&message->answer, ',');
    write_cells(message, message->columns, message->column_count, cells);
}

static pawl_status front_list_end(void *self, const char *next, pawl_error *err) {
    struct mcp_message *message = self;
    const char *cursor = NULL;
    bool cut = message->operation->paged == PAGED_LIMIT && message->rows >= (size_t)message->limit;
    if (next != NULL) {
        pawl_str scope = operation_scope(message->arena, message->operation, message->values);
        cursor = cursor_make(message->arena, scope, str_from(next));
        if (cursor == NULL)
            return error_set(err, PAWL_NO_MEMORY, "mcp", "no memory for a cursor");
    }
    buf_append_cstr(&message->answer, "],\"next\":");
    if (cursor != NULL)
        json_quote(&message->answer, str_from(cursor));
    else
        buf_append_cstr(&message->answer, "null");
    buf_printf(&message->answer, ",\"more\":%s}", cursor != NULL || cut ? "true" : "false");
    return PAWL_OK;
}

static pawl_status front_record(void *self, const struct column *columns, size_t count,
                                const struct cell *cells, pawl_error *err) {
    (void)err;
    write_cells(self, columns, count, cells);
    return PAWL_OK;
}

/* ---- What else operations need is the transport's */

static const struct request *host(void *self) { return ((struct mcp_message *)self)->host; }

static bool front_sees_content(void *self) { return host(self)->front->sees_content(host(self)->self); }
static struct putter front_putter(void *self) { return host(self)->front->putter(host(self)->self); }
static bool front_tools_named(void *self) { return host(self)->front->tools_named(host(self)->self); }
static pawl_status front_tools(void *self, struct tools **tools, pawl_error *err) {
    return host(self)->front->tools(host(self)->self, tools, err);
}
static pawl_str front_actor(void *self) {
    struct mcp_message *message = self;
    return str_absent(message->peer->agent) ? host(self)->front->actor(host(self)->self)
                                            : message->peer->agent;
}
static pawl_str front_agent(void *self) { return ((struct mcp_message *)self)->peer->agent; }

static pawl_status front_key(void *self, unsigned part, pawl_uuid *key, pawl_error *err) {
    (void)self, (void)part, (void)err;
    *key = (pawl_uuid){{0}};
    return PAWL_OK;
}

static bool front_wait(void *self, const struct waiting *waiting) {
    struct mcp_message *message = self;
    int64_t now_ms = clock_boot_ms();
    if (message->wait_until_ms == 0)
        message->wait_until_ms = now_ms + waiting->timeout_ms;
    message->waits = now_ms < message->wait_until_ms;
    if (message->waits) {
        pawl_str progress = utf8_cut(waiting->progress, MCP_PROGRESS_BYTES - 1);
        snprintf(message->wait_for, sizeof message->wait_for, "%s", waiting->what);
        snprintf(message->progress, sizeof message->progress, "%.*s", STR_ARG(progress));
    }
    return message->waits;
}

static const struct front front = {.dashes = "",
                                   .value = front_value,
                                   .limit = front_limit,
                                   .after = front_after,
                                   .list = front_list,
                                   .row = front_row,
                                   .list_end = front_list_end,
                                   .record = front_record,
                                   .sees_content = front_sees_content,
                                   .putter = front_putter,
                                   .tools_named = front_tools_named,
                                   .tools = front_tools,
                                   .actor = front_actor,
                                   .agent = front_agent,
                                   .shown = front_shown,
                                   .key = front_key,
                                   .wait = front_wait};

static pawl_status run_once(struct mcp_message *message, pawl_error *err) {
    if (message->scratch == NULL && (message->scratch = arena_create(0)) == NULL)
        return error_set(err, PAWL_NO_MEMORY, "mcp", "no memory for the operation");
    arena_reset(message->scratch);
    struct request request = {message->host->store, message->scratch, &front, message};
    buf_reset(&message->answer);
    message->rows = 0;
    message->waits = false;
    TRY(message->operation->run(&request, err));
    if (message->operation->shape == ANSWER_EMPTY)
        buf_reset(&message->answer);
    if (message->answer.len == 0)
        buf_append_cstr(&message->answer, "{}");
    return buf_status(&message->answer, "mcp", err);
}

pawl_status mcp_run(struct mcp_message *message, pawl_error *err) {
    TRY(run_once(message, err));
    /* Rows may be big: then a page has fewer of them. */
    while (!mcp_tool_changes(message->operation) && message->operation->shape == ANSWER_LIST &&
           message->answer.len > MCP_PAGE_BYTES_MAX && message->limit > 1) {
        message->limit /= 2;
        TRY(run_once(message, err));
    }
    if (message->answer.len > MCP_RECORD_BYTES_MAX)
        return error_set(
            err, PAWL_CONFLICT, "mcp",
            "the answer has %zu bytes, more than the %d that a tool may give; ask for less: fewer "
            "rows with limit, or a filter",
            message->answer.len, MCP_RECORD_BYTES_MAX);
    return PAWL_OK;
}

/* ---- Results */

/* What a model or a person does next. */
static const char *advice(const struct mcp_message *message, pawl_status status) {
    switch (status) {
    case PAWL_INVALID:
        return "Nothing was changed. Correct the arguments: the input schema of the tool says what it takes.";
    case PAWL_NOT_FOUND:
        return "Nothing was changed. Check the name or the id with the tool that lists such things.";
    case PAWL_CONFLICT:
    case PAWL_STALE:
        return "Repeating the same call will not help before that has changed.";
    case PAWL_BUSY:
    case PAWL_UNAVAILABLE:
        return "Nothing was changed. Try again in a few seconds.";
    case PAWL_UNKNOWN:
        return "It may or may not have happened: look before you repeat it.";
    default:
        return mcp_tool_changes(message->operation)
                   ? "Look whether something was changed before you repeat it."
                   : "This is a fault of pawl; tell the person you work for.";
    }
}

static void text_content(struct json_writer *json, pawl_str text) {
    json_key(json, "content");
    json_begin_array(json);
    json_begin_object(json);
    json_key(json, "type");
    json_cstr(json, "text");
    json_key(json, "text");
    json_str(json, text);
    json_end_object(json);
    json_end_array(json);
}

static void failed(struct mcp_message *message, struct json_writer *json, const pawl_error *err) {
    char name[MCP_NAME_BYTES];
    text_content(json,
                 str_from(arena_printf(message->arena, "%s: %s. %s", mcp_tool_name(message->operation, name),
                                       err->text, advice(message, err->status))));
    json_key(json, "isError");
    json_bool(json, true);
}

static pawl_status begin_call(struct mcp_message *message, pawl_error *err) {
    TRY(mcp_may(message, message->operation, err));
    return mcp_arguments(message, message->operation, tree_get_cstr(message->params, "arguments"), err);
}

void mcp_tools_call(struct mcp_message *message, struct json_writer *json) {
    const struct tree *name = tree_get_cstr(message->params, "name");
    pawl_error err;
    error_clear(&err);
    if (message->operation == NULL && name != NULL)
        message->operation = mcp_tool_find(name->text);
    if (message->operation == NULL) {
        mcp_refuse(message, MCP_INVALID_PARAMS, 200, "there is no tool \"%.*s\"; tools/list shows them",
                   name != NULL ? (int)name->text.len : 0, name != NULL ? name->text.ptr : "");
        return;
    }
    pawl_status status = message->values == NULL ? begin_call(message, &err) : PAWL_OK;
    if (status == PAWL_OK)
        status = mcp_run(message, &err);
    if (status == PAWL_OK && !message->waits && mcp_tool_changes(message->operation) &&
        !operation_dry(message->operation, message->values))
        status = mcp_audit(message, &err);
    if (message->waits)
        return;
    if (status != PAWL_OK) {
        failed(message, json, &err);
        return;
    }
    text_content(json, buf_str(&message->answer));
    json_key(json, "structuredContent");
    json_raw(json, buf_str(&message->answer));
}
