/* Reading the inputs of an operation from its front, and passing answers back. */
#include "operations/request.h"

#include <assert.h>
#include <inttypes.h>

#include "base/error.h"
#include "base/str.h"
#include "view/output/row.h"

struct value request_value(const struct request *request, const char *name) {
    return request->front->value(request->self, name);
}

pawl_str request_text(const struct request *request, const char *name) {
    return request_value(request, name).text;
}

pawl_str request_either(const struct request *request, const char *name, const char *word) {
    pawl_str text = request_text(request, name);
    return str_absent(text) ? request_text(request, word) : text;
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
    *text = value.text;
    if (value.tree == NULL)
        return PAWL_OK;
    struct buf buf;
    buf_init(&buf, 0);
    tree_write(&buf, value.tree);
    pawl_status status = buf_status(&buf, name, err);
    if (status == PAWL_OK)
        status = str_dup(request->arena, buf_str(&buf), text, err);
    buf_free(&buf);
    return status;
}

pawl_status request_counted(const struct request *request, const char *name, int64_t max, int64_t *number,
                            pawl_error *err) {
    struct value value = request_value(request, name);
    *number = value.number;
    if (str_absent(value.text) || str_to_i64(value.text, 1, max, number))
        return PAWL_OK;
    return error_set(err, PAWL_INVALID, name, "the %s is \"%.*s\"; write a number from 1", name,
                     STR_ARG(value.text));
}

pawl_status request_texts(struct request *request, const char *name, pawl_str **texts, size_t *count,
                          pawl_error *err) {
    const struct tree *tree = request_value(request, name).tree;
    *count = tree != NULL ? tree->count : 0;
    *texts = arena_array(request->arena, *count + 1, sizeof **texts);
    if (*texts == NULL)
        return error_set(err, PAWL_NO_MEMORY, name, "no memory for the %s", name);
    for (size_t i = 0; i < *count; i++)
        (*texts)[i] = tree->items[i]->text;
    return PAWL_OK;
}

pawl_str request_after(const struct request *request) { return request->front->after(request->self); }

int64_t request_after_number(const struct request *request) {
    int64_t number = 0;
    return str_to_i64(request_after(request), 0, INT64_MAX, &number) ? number : 0;
}

int request_limit(const struct request *request) { return request->front->limit(request->self); }

bool request_dry(const struct request *request) { return request_bool(request, "dry_run"); }

void request_list(struct request *request, const struct column *columns, size_t count) {
    request->front->list(request->self, columns, count);
}

void request_row(struct request *request, const struct cell *cells) {
    request->front->row(request->self, cells);
}

pawl_status request_list_end(struct request *request, const char *next, pawl_error *err) {
    return request->front->list_end(request->self, next, err);
}

pawl_status request_list_end_number(struct request *request, int64_t next, pawl_error *err) {
    return request_list_end(request, next > 0 ? arena_printf(request->arena, "%" PRId64, next) : NULL, err);
}

pawl_status request_rows(struct request *request, struct row_array array, const char *next, pawl_error *err) {
    struct cell cells[ROW_COLUMNS_MAX];
    assert(array.column_count <= ROW_COLUMNS_MAX);
    request_list(request, array.columns, array.column_count);
    for (size_t i = 0; i < array.count; i++) {
        row_cells(array.columns, array.column_count, (const char *)array.rows + i * array.size, NULL, cells);
        request_row(request, cells);
    }
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

bool request_is_command(const struct request *request) { return request->front->dashes[0] != '\0'; }

const char *request_see(const struct request *request, const char *command, const char *route) {
    return request_is_command(request) ? command : route;
}

pawl_status request_not_found(const char *op, const char *what, pawl_str name, pawl_error *err) {
    return error_set(err, PAWL_NOT_FOUND, op, "there is no %s '%.*s'", what, STR_ARG(name));
}
