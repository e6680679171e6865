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

void bind_null(struct statement *s) {
    if (s->rc == SQLITE_OK)
        keep(s, sqlite3_bind_null(s->stmt, ++s->bound));
}

void bind_text(struct statement *s, pawl_str text) {
    if (text.ptr == NULL)
        bind_null(s);
    else if (s->rc == SQLITE_OK)
        keep(s, sqlite3_bind_text64(s->stmt, ++s->bound, text.ptr, text.len, SQLITE_STATIC, SQLITE_UTF8));
}

void bind_blob(struct statement *s, const void *ptr, size_t len) {
    if (s->rc == SQLITE_OK)
        keep(s, sqlite3_bind_blob64(s->stmt, ++s->bound, ptr, len, SQLITE_STATIC));
}

void bind_uuid(struct statement *s, pawl_uuid id) {
    /* A copy: the caller's value is on its stack. */
    if (s->rc == SQLITE_OK)
        keep(s, sqlite3_bind_blob64(s->stmt, ++s->bound, id.b, sizeof(id.b), SQLITE_TRANSIENT));
}

void bind_uuid_or_null(struct statement *s, pawl_uuid id) {
    static const pawl_uuid nil;
    if (memcmp(id.b, nil.b, sizeof(id.b)) == 0)
        bind_null(s);
    else
        bind_uuid(s, id);
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

pawl_status statement_run(struct statement *s) {
    while (statement_next(s))
        continue;
    return statement_end(s);
}

pawl_status statement_run_count(struct statement *s, int64_t *changed) {
    while (statement_next(s))
        continue;
    if (s->rc == SQLITE_OK)
        *changed = sqlite3_changes64(s->op->store->db);
    return statement_end(s);
}

pawl_status statement_number(struct statement *s, int64_t *value, bool *found) {
    bool row = statement_next(s);
    if (row)
        *value = column_int(s, 0);
    pawl_status status = statement_end(s);
    if (status == PAWL_OK)
        *found = row;
    return status;
}

pawl_status statement_any(struct statement *s, bool *any) {
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
