/* Reading the inputs of an operation from its front, and passing answers back. */
#include "operations/front/request.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/uuid.h"
#include "operations/tables.h"
#include "view/output/row.h"

struct value request_value(const struct request *request, const char *name) {
    return request->front->value(request->self, name);
}

pawl_str request_text(const struct request *request, const char *name) {
    return request_value(request, name).text;
}

int64_t request_number(const struct request *request, const char *name, int64_t fallback) {
    struct value value = request_value(request, name);
    return value.present ? value.number : fallback;
}

bool request_bool(const struct request *request, const char *name) {
    return request_number(request, name, 0) != 0;
}

int request_choice(const struct request *request, const char *name) {
    return (int)request_number(request, name, -1) + 1;
}

void request_kinds(const struct request *request, int *first, int *last) {
    int kind = request_choice(request, "kind");
    *first = kind != 0 ? kind : KIND_OUTBOX;
    *last = kind != 0 ? kind : KIND_COUNT;
}

pawl_status request_json(struct request *request, const char *name, pawl_str *text, pawl_error *err) {
    struct value value = request_value(request, name);
    bool array = value.tree != NULL && value.tree->kind == TREE_ARRAY;
    *text = value.text; /* as it was written; of several words, only the last */
    return value.tree != NULL && (array || str_absent(value.text))
               ? tree_text(request->arena, value.tree, 0, text, err)
               : PAWL_OK;
}

pawl_status request_message_id(struct request *request, pawl_str text, pawl_uuid *id, pawl_error *err) {
    pawl_uuid low, high;
    struct uuid_list found = {.count = 0};
    if (uuid_parse(text, id))
        return PAWL_OK;
    if (!uuid_range(text, &low, &high))
        return error_set(err, PAWL_INVALID, "id", "\"%.*s\" is not the beginning of a UUID", STR_ARG(text));
    TRY(request->store->ops->view.message_ids(request->store, low, high, 2, request->arena, &found, err));
    if (found.count == 0)
        return error_set(err, PAWL_NOT_FOUND, "id", "there is no message whose id begins with %.*s",
                         STR_ARG(text));
    if (found.count > 1)
        return error_set(err, PAWL_CONFLICT, "id",
                         "more than one id begins with %.*s: write more of it, or all of it", STR_ARG(text));
    *id = found.ids[0];
    return PAWL_OK;
}

pawl_status request_texts(struct request *request, const char *name, pawl_str **texts, size_t *count,
                          pawl_error *err) {
    struct value value = request_value(request, name);
    const struct tree *tree = value.tree;
    *count = tree != NULL ? tree->count : value.present ? 1 : 0;
    *texts = arena_array(request->arena, *count + 1, sizeof **texts);
    if (*texts == NULL)
        return error_set(err, PAWL_NO_MEMORY, name, "no memory for the %s", name);
    (*texts)[0] = value.text;
    for (size_t i = 0; tree != NULL && i < *count; i++)
        (*texts)[i] = tree->items[i]->text;
    return PAWL_OK;
}

pawl_status request_agent(const struct request *request, pawl_str *agent, pawl_error *err) {
    pawl_str asked = request_text(request, "agent"), self = {NULL, 0};
    if (request->front->agent != NULL)
        self = request->front->agent(request->self);
    if (!str_absent(self) && !str_absent(asked) && !str_equal(self, asked))
        return error_set(
            err, PAWL_CONFLICT, "agent",
            "refused: this is the agent '%.*s', which cannot act for the agent '%.*s'; leave the "
            "agent out",
            STR_ARG(self), STR_ARG(asked));
    *agent = str_absent(self) ? asked : self;
    return PAWL_OK;
}

pawl_str request_after(const struct request *request) { return request->front->after(request->self); }

int64_t request_after_number(const struct request *request) {
    int64_t number = 0;
    return str_to_i64(request_after(request), 0, INT64_MAX, &number) ? number : 0;
}

int request_limit(const struct request *request) { return request->front->limit(request->self); }

bool request_dry(const struct request *request) { return request_bool(request, "dry_run"); }

void request_hide(const struct request *request, const struct column *columns, size_t count,
                  struct cell *cells) {
    for (size_t i = 0; request->front->shown != NULL && i < count; i++)
        cells[i] = request->front->shown(request->self, &columns[i], cells[i]);
}

void request_list(struct request *request, const struct column *columns, size_t count) {
    request->front->list(request->self, columns, count);
}

void request_row(struct request *request, const struct cell *cells) {
    request->front->row(request->self, cells);
}

pawl_status request_list_end(struct request *request, const char *next, pawl_error *err) {
    return request->front->list_end(request->self, next, err);
}

const char *request_key(struct request *request, int64_t next) {
    return next > 0 ? arena_printf(request->arena, "%" PRId64, next) : NULL;
}

pawl_status request_list_end_number(struct request *request, int64_t next, pawl_error *err) {
    return request_list_end(request, request_key(request, next), err);
}

void request_more_rows(struct request *request, struct row_array array) {
    struct cell cells[ROW_COLUMNS_MAX];
    assert(array.column_count <= ROW_COLUMNS_MAX);
    for (size_t i = 0; i < array.count; i++) {
        row_cells(array.columns, array.column_count, (const char *)array.rows + i * array.size, NULL, cells);
        request_row(request, cells);
    }
}

pawl_status request_rows(struct request *request, struct row_array array, const char *next, pawl_error *err) {
    request_list(request, array.columns, array.column_count);
    request_more_rows(request, array);
    return request_list_end(request, next, err);
}

pawl_status request_record(struct request *request, const struct column *columns, size_t count,
                           const struct cell *cells, pawl_error *err) {
    return request->front->record(request->self, columns, count, cells, err);
}

pawl_status request_shown(struct request *request, const struct column *columns, size_t count,
                          const void *row, pawl_error *err) {
    struct cell cells[ROW_COLUMNS_MAX];
    assert(count <= ROW_COLUMNS_MAX);
    row_cells(columns, count, row, NULL, cells);
    return request_record(request, columns, count, cells, err);
}

void request_each_begin(struct request *request, const struct column *columns, size_t count) {
    if (request_is_command(request))
        request_list(request, columns, count);
}

pawl_status request_each(struct request *request, const struct column *columns, size_t count,
                         const struct cell *cells, pawl_error *err) {
    if (!request_is_command(request))
        return request_record(request, columns, count, cells, err);
    request_row(request, cells);
    return PAWL_OK;
}

pawl_status request_each_end(struct request *request, pawl_error *err) {
    return request_is_command(request) ? request_list_end(request, NULL, err) : PAWL_OK;
}

void request_say(const struct request *request, const char *sentence) {
    if (request->front->say != NULL)
        request->front->say(request->self, sentence);
}

void request_below(const struct request *request, const char *sentence) {
    if (request->front->below != NULL)
        request->front->below(request->self, sentence);
}

void request_now(const struct request *request, int64_t now_ms) {
    if (request->front->now != NULL)
        request->front->now(request->self, now_ms);
}

void request_hint(const struct request *request, const char *command) {
    if (request->front->hint != NULL)
        request->front->hint(request->self, command);
}

void request_exit_with(const struct request *request, int code) {
    if (request->front->exit_with != NULL)
        request->front->exit_with(request->self, code);
}

bool request_for_program(const struct request *request) {
    return request->front->json == NULL || request->front->json(request->self);
}

pawl_status request_confirm(const struct request *request, const char *question, pawl_error *err) {
    return request->front->confirm != NULL ? request->front->confirm(request->self, question, err) : PAWL_OK;
}

bool request_is_command(const struct request *request) { return request->front->dashes[0] != '\0'; }

const char *request_see(const struct request *request, const char *name) {
    const struct operation *operation = operation_find(name);
    assert(operation != NULL);
    if (!request_is_command(request) && request->front->agent == NULL)
        return operation->path;
    bool command = request_is_command(request);
    char *words = arena_printf(request->arena, "%s%s", command ? "pawl " : "", name);
    for (char *at = words; at != NULL && *at != '\0'; at++)
        if (*at == '.')
            *at = command ? ' ' : '_';
    return words;
}

pawl_status request_not_found(const char *op, const char *what, pawl_str name, pawl_error *err) {
    return error_set(err, PAWL_NOT_FOUND, op, "there is no %s '%.*s'", what, STR_ARG(name));
}
