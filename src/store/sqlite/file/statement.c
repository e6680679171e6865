/* A prepared statement in use: bind, step, read. */
#include "store/sqlite/file/statement.h"

#include <string.h>

#include "store/sqlite/file/operation.h"

struct statement statement_begin(struct operation *op, enum sqlite_query query) {
    struct sqlite_store *store = op->store;
    struct statement s = {.op = op, .rc = SQLITE_OK};
    if (store->statements[query] == NULL)
        s.rc = sqlite3_prepare_v3(store->db, sql_sqlite_queries[query].text, -1, SQLITE_PREPARE_PERSISTENT,
                                  &store->statements[query], NULL);
    s.stmt = store->statements[query];
    return s;
}

static void keep(struct statement *s, int rc) {
    if (s->rc == SQLITE_OK && rc != SQLITE_OK)
        s->rc = rc;
}

void bind_int(struct statement *s, int64_t value) {
    if (s->rc == SQLITE_OK)
        keep(s, sqlite3_bind_int64(s->stmt, ++s->bound, value));
}

static void bind_null(struct statement *s) {
    if (s->rc == SQLITE_OK)
        keep(s, sqlite3_bind_null(s->stmt, ++s->bound));
}

void bind_text(struct statement *s, pawl_str text) {
    if (text.ptr == NULL)
        bind_null(s);
    else if (s->rc == SQLITE_OK)
        keep(s, sqlite3_bind_text64(s->stmt, ++s->bound, text.ptr, text.len, SQLITE_STATIC, SQLITE_UTF8));
}

static void bind_blob(struct statement *s, const void *bytes, size_t size) {
    if (s->rc == SQLITE_OK)
        keep(s, sqlite3_bind_blob64(s->stmt, ++s->bound, bytes, size, SQLITE_STATIC));
}

static void bind_row(struct statement *s, const struct row_shape *shape, const void *row) {
    for (size_t i = 0; i < shape->count; i++) {
        const void *at = (const char *)row + shape->members[i].offset;
        switch ((enum member_type)shape->members[i].type) {
        case MEMBER_INT:
        case MEMBER_SMALL:
            bind_int(s, *(const int *)at);
            break;
        case MEMBER_BIG:
            bind_int(s, *(const int64_t *)at);
            break;
        case MEMBER_BOOL:
            bind_int(s, *(const bool *)at);
            break;
        case MEMBER_TEXT:
        case MEMBER_JSON:
            bind_text(s, *(const pawl_str *)at);
            break;
        case MEMBER_UUID:
            if (uuid_is_nil(*(const pawl_uuid *)at))
                bind_null(s);
            else
                bind_blob(s, at, sizeof(pawl_uuid));
            break;
        case MEMBER_NONE:
            break;
        }
    }
}

static void bind_value(struct statement *s, const struct value *value) {
    switch ((enum value_type)value->type) {
    case VALUE_SMALL:
    case VALUE_INT:
    case VALUE_BIG:
    case VALUE_BOOL:
        bind_int(s, value->number);
        break;
    case VALUE_TEXT:
    case VALUE_JSON:
        bind_text(s, value->text);
        break;
    case VALUE_BLOB:
        bind_blob(s, value->text.ptr, value->text.len);
        break;
    case VALUE_ID:
        bind_blob(s, value->id.b, sizeof value->id.b);
        break;
    case VALUE_ROW:
        bind_row(s, value->row.shape, value->row.at);
        break;
    case VALUE_NULL:
        bind_null(s);
        break;
    case VALUE_ROWS:
    case VALUE_LIST:
        keep(s, SQLITE_MISUSE); /* SQLite has no arrays */
        break;
    }
}

struct statement statement_with(struct operation *op, enum sqlite_query query, const struct value *values,
                                size_t count) {
    struct statement s = statement_begin(op, query);
    for (size_t i = 0; i < count; i++)
        bind_value(&s, &values[i]);
    return s;
}

bool statement_next(struct statement *s) {
    if (s->rc != SQLITE_OK)
        return false;
    int rc = sqlite3_step(s->stmt);
    if (rc == SQLITE_ROW)
        return true;
    keep(s, rc == SQLITE_DONE ? SQLITE_OK : rc);
    return false;
}

pawl_status statement_end(struct statement *s) {
    pawl_status status = PAWL_OK;
    if (s->rc != SQLITE_OK)
        status = connection_failure(s->op->store, s->rc, s->op->name, s->op->err);
    sqlite3_reset(s->stmt); /* repeats the failure that is already kept; takes NULL */
    return status;
}

pawl_status statement_run(struct statement s) {
    while (statement_next(&s))
        continue;
    return statement_end(&s);
}

pawl_status statement_run_count(struct statement s, int64_t *changed) {
    while (statement_next(&s))
        continue;
    if (s.rc == SQLITE_OK)
        *changed = sqlite3_changes64(s.op->store->db);
    return statement_end(&s);
}

pawl_status statement_number(struct statement s, int64_t *value, bool *found) {
    bool row = statement_next(&s);
    if (row)
        *value = column_int(&s, 0);
    pawl_status status = statement_end(&s);
    if (status == PAWL_OK)
        *found = row;
    return status;
}

pawl_status statement_any(struct statement s, bool *any) {
    int64_t ignored = 0;
    return statement_number(s, &ignored, any);
}

pawl_status statement_close(struct statement *s, pawl_status status) {
    pawl_status ended = statement_end(s);
    return status != PAWL_OK ? status : ended;
}

pawl_uuid column_uuid(const struct statement *s, int column) {
    pawl_uuid id = {0};
    const void *bytes = sqlite3_column_blob(s->stmt, column);
    if (bytes != NULL && sqlite3_column_bytes(s->stmt, column) == (int)sizeof(id.b))
        memcpy(id.b, bytes, sizeof(id.b));
    return id;
}

pawl_str column_borrow(const struct statement *s, int column) {
    const void *bytes = sqlite3_column_text(s->stmt, column);
    return (pawl_str){bytes, bytes != NULL ? (size_t)sqlite3_column_bytes(s->stmt, column) : 0};
}

pawl_str column_copy(struct statement *s, int column, struct arena *arena) {
    pawl_str text = column_borrow(s, column);
    if (text.ptr == NULL)
        return text;
    text.ptr = arena_copy(arena, text.ptr, text.len);
    if (text.ptr == NULL) {
        keep(s, SQLITE_NOMEM);
        text.len = 0;
    }
    return text;
}
