/* HTTP as a front of operations: the fields of a route are inputs, answers are JSON. */
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "handler/tools/tools.h"
#include "operations/front/cursor.h"
#include "operations/front/fields.h"
#include "server/access/redact.h"
#include "server/http/call.h"
#include "server/http/call_int.h"
#include "server/server.h"
#include "view/output/row.h"
#include "work/pipeline/builtin.h"

static struct value front_value(void *self, const char *name) { return call_value(self, name); }

static int front_limit(void *self) {
    struct value limit = call_value(self, "limit");
    return limit.present ? (int)limit.number : PAWL_LIST_DEFAULT;
}

static pawl_str front_after(void *self) { return call_value(self, "cursor").text; }

/* ---- Answers */

static struct cell front_shown(void *self, const struct column *column, struct cell cell) {
    struct call *call = self;
    if (column->content && !call_sees_content(call))
        return cell_none();
    if (cell.present && (column->type == CELL_JSON || strcmp(column->key, "payload") == 0))
        cell.text = redact_json(call->arena, &call->server->redact, cell.text);
    return cell;
}

static void write_cells(struct call *call, const struct column *columns, size_t count,
                        const struct cell *cells) {
    struct cell shown[ROW_COLUMNS_MAX];
    if (count > sizeof shown / sizeof *shown) {
        call->out.failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++)
        shown[i] = front_shown(call, &columns[i], cells[i]);
    AUTO_BUF(text, 0);
    output_cells_json(&text, columns, count, shown);
    if (text.failed)
        call->out.failed = true;
    else
        json_raw(&call->json, buf_str(&text));
}

static void front_list(void *self, const struct column *columns, size_t count) {
    struct call *call = self;
    call->columns = columns;
    call->column_count = count;
    json_begin_object(&call->json);
    json_key(&call->json, "items");
    json_begin_array(&call->json);
}

static void front_row(void *self, const struct cell *cells) {
    struct call *call = self;
    call->rows++;
    write_cells(call, call->columns, call->column_count, cells);
}

/* Whether a list without a cursor has reached its limit: then there may be more. */
static bool cut(struct call *call) {
    return call->route->paged == PAGED_LIMIT && call->rows >= (size_t)front_limit(call);
}

static pawl_status front_list_end(void *self, const char *next, pawl_error *err) {
    struct call *call = self;
    const char *cursor = NULL;
    json_end_array(&call->json);
    json_key(&call->json, "next");
    if (next != NULL &&
        (cursor = cursor_make(call->arena, operation_scope(call->arena, call->route, call->values),
                              str_from(next))) == NULL)
        return error_set(err, PAWL_NO_MEMORY, "http", "no memory for a cursor");
    json_cstr(&call->json, cursor);
    json_key(&call->json, "more");
    json_bool(&call->json, cursor != NULL || cut(call));
    json_end_object(&call->json);
    return buf_status(&call->out, "http", err);
}

static pawl_status front_record(void *self, const struct column *columns, size_t count,
                                const struct cell *cells, pawl_error *err) {
    (void)err;
    if (((struct call *)self)->route->shape != ANSWER_EMPTY) /* then the status says it all */
        write_cells(self, columns, count, cells);
    return PAWL_OK;
}

/* ---- What else operations need */

static bool front_sees_content(void *self) { return call_sees_content(self); }
static struct putter front_putter(void *self) { return call_putter(self); }

static bool front_tools_named(void *self) { return ((struct call *)self)->server->config.tools != NULL; }

/* The built-in tools, and those of --tools. */
static pawl_status front_tools(void *self, struct tools **tools, pawl_error *err) {
    struct server *server = ((struct call *)self)->server;
    struct tools *made = NULL;
    pawl_status status = tools_create("server", &made, err);
    if (status == PAWL_OK)
        status = builtin_add(made, err);
    if (status == PAWL_OK && server->config.tools != NULL)
        status = tools_add_file(made, server->config.tools, err);
    if (status != PAWL_OK) {
        tools_free(made);
        return status;
    }
    tools_limit(made, server->config.tools_ms);
    tools_log(made, &server->config.log);
    *tools = made;
    return PAWL_OK;
}

static pawl_str front_actor(void *self) { return call_actor(self); }

static pawl_status front_key(void *self, unsigned part, pawl_uuid *key, pawl_error *err) {
    return call_request(self, part, key, err);
}

/* The answer of now is the one to give when the time is up. */
static bool front_wait(void *self, const struct waiting *waiting) {
    struct call *call = self;
    call->wait_ms = waiting->timeout_ms;
    call->wait_for = str_from(waiting->what);
    return false;
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
                                   .key = front_key,
                                   .wait = front_wait,
                                   .shown = front_shown};

struct request http_request(struct call *call) {
    return (struct request){call->store, call->arena, &front, call};
}

pawl_status http_run(struct call *call, operation_run *run, pawl_error *err) {
    struct request request = http_request(call);
    return run(&request, err);
}
