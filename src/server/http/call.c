/* A handler's view of one request: writing lists and records, cursors, the audit. */
#include "server/http/call.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/utf8.h"
#include "server/access/redact.h"
#include "server/http/call_int.h"
#include "server/http/cursor.h"
#include "server/server.h"
#include "view/output/row.h"

const struct value *call_value(const struct call *call, const char *name) {
    static const struct value none = {.present = false};
    for (size_t i = 0; i < call->route->field_count; i++)
        if (strcmp(call->route->fields[i].name, name) == 0)
            return &call->values[i];
    return &none;
}

pawl_str call_text(const struct call *call, const char *name) { return call_value(call, name)->text; }

int64_t call_int(const struct call *call, const char *name, int64_t fallback) {
    const struct value *value = call_value(call, name);
    return value->present ? value->number : fallback;
}

bool call_bool(const struct call *call, const char *name) { return call_int(call, name, 0) != 0; }

int call_choice(const struct call *call, const char *name) {
    const struct value *value = call_value(call, name);
    return value->present ? (int)value->number + 1 : 0;
}

pawl_status call_tree_text(struct arena *arena, const struct tree *tree, pawl_str *text, pawl_error *err) {
    struct buf buf;
    if (tree == NULL)
        return PAWL_OK;
    buf_init(&buf, 0);
    tree_write(&buf, tree);
    pawl_status status = buf_status(&buf, "http", err);
    if (status == PAWL_OK)
        status = str_dup(arena, buf_str(&buf), text, err);
    buf_free(&buf);
    return status;
}

pawl_status call_json(struct call *call, const char *name, pawl_str *text, pawl_error *err) {
    *text = (pawl_str){NULL, 0};
    return call_tree_text(call->arena, call_value(call, name)->tree, text, err);
}

int call_limit(const struct call *call) { return (int)call_int(call, "limit", PAWL_LIST_DEFAULT); }

/* The list and its filters, without page and size. */
static pawl_str cursor_scope(const struct call *call) {
    struct buf buf;
    buf_init(&buf, 0);
    buf_append_cstr(&buf, call->route->name);
    for (size_t i = 0; i < call->route->field_count; i++) {
        const struct field *field = &call->route->fields[i];
        if (field->type != FIELD_CURSOR && field->in != IN_BODY && strcmp(field->name, "limit") != 0 &&
            call->values[i].present)
            buf_printf(&buf, "\n%s=%.*s", field->name, STR_ARG(call->values[i].text));
    }
    pawl_str scope = {NULL, 0};
    pawl_error ignored;
    if (buf.failed || str_dup(call->arena, buf_str(&buf), &scope, &ignored) != PAWL_OK)
        scope = STR("?");
    buf_free(&buf);
    return scope;
}

pawl_status call_cursor_check(struct call *call, struct value *value, pawl_error *err) {
    pawl_str key;
    if (!cursor_read(call->arena, cursor_scope(call), value->text, &key))
        return error_set(err, PAWL_INVALID, "http",
                         "cursor: it is not the `next` of an earlier page of this list with these filters; "
                         "start again without it");
    value->text = key;
    return PAWL_OK;
}

pawl_str call_cursor(const struct call *call) { return call_text(call, "cursor"); }

void call_list(struct call *call) {
    json_begin_object(&call->json);
    json_key(&call->json, "items");
    json_begin_array(&call->json);
}

bool call_sees_content(const struct call *call) {
    return call->as != CREDENTIAL_VIEWER && !call->server->redact.all;
}

static struct cell cell_shown(const struct call *call, const struct column *column, struct cell cell) {
    const struct redact *redact = &call->server->redact;
    if (column->content && !call_sees_content(call))
        return cell_none();
    if (cell.present && (column->type == CELL_JSON || strcmp(column->key, "payload") == 0))
        cell.text = redact_json(call->arena, redact, cell.text);
    return cell;
}

void call_cells(struct call *call, const struct column *columns, size_t count, const struct cell *cells) {
    struct cell shown[ROW_COLUMNS_MAX];
    struct buf text;
    if (count > sizeof shown / sizeof *shown) {
        call->out.failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++)
        shown[i] = cell_shown(call, &columns[i], cells[i]);
    buf_init(&text, 0);
    output_cells_json(&text, columns, count, shown);
    if (text.failed)
        call->out.failed = true;
    else
        json_raw(&call->json, buf_str(&text));
    buf_free(&text);
}

void call_row(struct call *call, const struct cell *cells) {
    call->rows++;
    call_cells(call, call->route->columns, call->route->column_count, cells);
}

void call_rows(struct call *call, const void *rows, size_t size, size_t count) {
    struct cell cells[ROW_COLUMNS_MAX];
    assert(call->route->column_count <= ROW_COLUMNS_MAX);
    for (size_t i = 0; i < count; i++) {
        row_cells(call->route->columns, call->route->column_count, (const char *)rows + i * size, NULL,
                  cells);
        call_row(call, cells);
    }
}

void call_record(struct call *call, const struct cell *cells) {
    call_cells(call, call->route->columns, call->route->column_count, cells);
}

/* Whether a list without a cursor has reached its limit: then there may be more. */
static bool cut(const struct call *call) {
    bool limited = false, paged = false;
    for (size_t i = 0; i < call->route->field_count; i++) {
        limited = limited || strcmp(call->route->fields[i].name, "limit") == 0;
        paged = paged || strcmp(call->route->fields[i].name, "cursor") == 0;
    }
    return limited && !paged && call->rows >= (size_t)call_limit(call);
}

pawl_status call_list_end(struct call *call, const char *key, pawl_error *err) {
    json_end_array(&call->json);
    json_key(&call->json, "next");
    const char *cursor = NULL;
    if (key != NULL && (cursor = cursor_make(call->arena, cursor_scope(call), str_from(key))) == NULL)
        return error_set(err, PAWL_NO_MEMORY, "http", "no memory for a cursor");
    json_cstr(&call->json, cursor);
    json_key(&call->json, "more");
    json_bool(&call->json, cursor != NULL || cut(call));
    json_end_object(&call->json);
    return buf_status(&call->out, "http", err);
}

pawl_status call_list_end_number(struct call *call, int64_t next, pawl_error *err) {
    return call_list_end(call, next > 0 ? arena_printf(call->arena, "%" PRId64, next) : NULL, err);
}

struct putter call_putter(struct call *call) {
    return (struct putter){call->server->tracer, str_from(call->traceparent), call->store, call->arena,
                           str_from(call->tracestate)};
}

pawl_str call_actor(struct call *call) {
    const char *role = credential_name(call->as);
    const char *text = call->person != NULL ? arena_printf(call->arena, "http %s %.100s", role, call->person)
                                            : arena_printf(call->arena, "http %s", role);
    pawl_str actor = str_from(text);
    return utf8_valid(actor, false, NULL) && actor.len > 0 ? actor : STR("http");
}

/* A value for the audit; JSON may contain secrets and is left out. */
static void audit_value(struct buf *buf, const struct field *field, const struct value *value) {
    switch (field->type) {
    case FIELD_JSON:
    case FIELD_OBJECT:
    case FIELD_OBJECTS:
        return;
    case FIELD_TEXTS:
    case FIELD_INTS:
    case FIELD_UUIDS:
        buf_printf(buf, " %s=", field->name);
        tree_write(buf, value->tree);
        return;
    case FIELD_INT:
        buf_printf(buf, " %s=%" PRId64, field->name, value->number);
        return;
    case FIELD_BOOL:
        buf_printf(buf, " %s=%s", field->name, value->number != 0 ? "true" : "false");
        return;
    default:
        buf_printf(buf, " %s=%.*s", field->name, STR_ARG(value->text));
        return;
    }
}

pawl_status call_audit(struct call *call, pawl_error *err) {
    struct buf detail;
    buf_init(&detail, PAWL_HTTP_BODY_BYTES_MAX);
    buf_printf(&detail, "%s %s", method_name(call->route->method), call->route->path);
    for (size_t i = 0; i < call->route->field_count; i++)
        if (call->values[i].present)
            audit_value(&detail, &call->route->fields[i], &call->values[i]);
    pawl_str shown = detail.failed ? str_from(call->route->path)
                                   : utf8_cut(buf_str(&detail), PAWL_HTTP_AUDIT_BYTES_MAX);
    struct audit_row row = {
        .actor = call_actor(call), .action = str_from(call->route->name), .detail = shown};
    pawl_status status = call->store->ops->relay->audit_add(call->store, &row, err);
    buf_free(&detail);
    return status;
}

pawl_status call_request(const struct call *call, unsigned part, pawl_uuid *request, pawl_error *err) {
    *request = (pawl_uuid){{0}};
    if (str_absent(call->key))
        return PAWL_OK;
    uint8_t digest[SHA256_BYTES];
    const char *text = arena_printf(call->arena, "%s\n%u\n%.*s", call->route->name, part, STR_ARG(call->key));
    if (text == NULL)
        return error_set(err, PAWL_NO_MEMORY, "http", "no memory for a request key");
    pawl_status status = sha256(str_from(text), digest, err);
    if (status != PAWL_OK)
        return status;
    memcpy(request->b, digest, sizeof request->b);
    request->b[6] = (uint8_t)((request->b[6] & 0x0f) | 0x80); /* UUIDv8: our own derivation */
    request->b[8] = (uint8_t)((request->b[8] & 0x3f) | 0x80);
    return PAWL_OK;
}
