/* Running the SQL of a perspective inside an operation's transaction. */
#include "store/sqlite/events/user_sql.h"

#include <limits.h>

#include "base/error.h"
#include "base/str.h"
#include "store/sqlite/file/operation.h"

/* SQLite's error about a user's statement. */
static pawl_status failure(struct operation *op, int rc, pawl_error *err) {
    int kind = rc & 0xff;
    if (kind == SQLITE_BUSY || kind == SQLITE_LOCKED || kind == SQLITE_PROTOCOL || kind == SQLITE_NOMEM ||
        kind == SQLITE_IOERR || kind == SQLITE_FULL || kind == SQLITE_CORRUPT || kind == SQLITE_INTERRUPT)
        return connection_failure(op->store, rc, op->name, err);
    return error_set(err, PAWL_INVALID, op->name, "%s", sqlite3_errmsg(op->store->db));
}

static pawl_status prepare(struct operation *op, pawl_str sql, sqlite3_stmt **stmt, const char **rest,
                           pawl_error *err) {
    if (sql.len > INT_MAX)
        return error_set(err, PAWL_INVALID, op->name, "the statement is too long");
    int rc = sqlite3_prepare_v2(op->store->db, sql.ptr, (int)sql.len, stmt, rest);
    return rc == SQLITE_OK ? PAWL_OK : failure(op, rc, err);
}

/* The input of a statement: rows, or a text that may be absent. */
struct given {
    pawl_str text;
    const struct event_batch *rows;
};

static int give(sqlite3_stmt *stmt, const struct given *given) {
    if (sqlite3_bind_parameter_count(stmt) == 0)
        return SQLITE_OK;
    if (given->rows != NULL)
        return event_table_bind(stmt, given->rows);
    return given->text.ptr == NULL
               ? sqlite3_bind_null(stmt, 1)
               : sqlite3_bind_text64(stmt, 1, given->text.ptr, given->text.len, SQLITE_STATIC, SQLITE_UTF8);
}

static pawl_status check_writes(struct operation *op, sqlite3_stmt *stmt, pawl_error *err) {
    if (sqlite3_stmt_readonly(stmt) == 0)
        return PAWL_OK;
    return error_set(
        err, PAWL_INVALID, op->name,
        "a statement of the perspective writes nothing, or would end the transaction: \"%.100s\"",
        sqlite3_sql(stmt));
}

static pawl_status run_one(struct operation *op, sqlite3_stmt *stmt, const struct given *given,
                           pawl_error *err) {
    TRY(check_writes(op, stmt, err));
    int rc = give(stmt, given);
    while (rc == SQLITE_OK || rc == SQLITE_ROW) {
        rc = sqlite3_step(stmt);
        if (rc == SQLITE_DONE)
            return PAWL_OK;
    }
    return failure(op, rc, err);
}

static pawl_status run_all(struct operation *op, pawl_str sql, const struct given *given, pawl_error *err) {
    pawl_status status = PAWL_OK;
    while (status == PAWL_OK && str_trim(sql).len > 0) {
        sqlite3_stmt *stmt = NULL;
        const char *rest = NULL;
        status = prepare(op, sql, &stmt, &rest, err);
        if (status == PAWL_OK && stmt != NULL && given->rows != NULL)
            status = event_table_check((pawl_str){sql.ptr, (size_t)(rest - sql.ptr)}, op->name, err);
        if (status == PAWL_OK && stmt != NULL)
            status = run_one(op, stmt, given, err);
        sqlite3_finalize(stmt);
        if (status == PAWL_OK)
            sql = (pawl_str){rest, sql.len - (size_t)(rest - sql.ptr)};
    }
    return status;
}

pawl_status user_sql_run(struct operation *op, pawl_str sql, pawl_str text, pawl_error *err) {
    return run_all(op, sql, &(struct given){.text = text}, err);
}

pawl_status user_sql_rows(struct operation *op, pawl_str sql, const struct event_batch *rows,
                          pawl_error *err) {
    return run_all(op, sql, &(struct given){.rows = rows}, err);
}

/* Whether the statements could run; none is executed. After one that creates something, the rest cannot be
 * checked. */
static pawl_status user_sql_check(struct operation *op, pawl_str sql, bool writes, pawl_error *err) {
    bool rows = event_table_named(sql), creates = false;
    pawl_status status = PAWL_OK;
    while (status == PAWL_OK && !creates && str_trim(sql).len > 0) {
        sqlite3_stmt *stmt = NULL;
        const char *rest = NULL;
        status = prepare(op, sql, &stmt, &rest, err);
        if (status == PAWL_OK && stmt != NULL && rows)
            status = event_table_check((pawl_str){sql.ptr, (size_t)(rest - sql.ptr)}, op->name, err);
        if (status == PAWL_OK && stmt != NULL && writes)
            status = check_writes(op, stmt, err);
        creates = status == PAWL_OK && stmt != NULL &&
                  sqlite3_strnicmp(str_trim(sql).ptr, "create", 6) == 0 && str_trim(sql).len > 6;
        sqlite3_finalize(stmt);
        if (status == PAWL_OK)
            sql = (pawl_str){rest, sql.len - (size_t)(rest - sql.ptr)};
    }
    return status;
}

pawl_status sqlite_sql_check(struct store *store, pawl_str sql, bool writes, pawl_error *err) {
    struct operation op = operation_read(store, "sql_check", PAWL_OK, err);
    return operation_end(&op, user_sql_check(&op, sql, writes, err));
}

pawl_status user_sql_text(struct operation *op, pawl_str sql, struct arena *arena, pawl_str *text,
                          pawl_error *err) {
    sqlite3_stmt *stmt = NULL;
    const char *rest = NULL;
    *text = (pawl_str){NULL, 0};
    pawl_status status = prepare(op, sql, &stmt, &rest, err);
    if (status == PAWL_OK && stmt == NULL)
        status = error_set(err, PAWL_INVALID, op->name, "the digest is no statement");
    if (status == PAWL_OK) {
        int rc = sqlite3_step(stmt);
        if (rc == SQLITE_ROW && sqlite3_column_type(stmt, 0) != SQLITE_NULL)
            status = str_dup(
                arena,
                (pawl_str){(const char *)sqlite3_column_text(stmt, 0), (size_t)sqlite3_column_bytes(stmt, 0)},
                text, err);
        else if (rc != SQLITE_ROW && rc != SQLITE_DONE)
            status = failure(op, rc, err);
    }
    sqlite3_finalize(stmt);
    return status;
}

static pawl_str column_of(sqlite3_stmt *stmt, int column) {
    if (sqlite3_column_type(stmt, column) == SQLITE_NULL)
        return (pawl_str){NULL, 0};
    const char *bytes = (const char *)sqlite3_column_text(stmt, column);
    return (pawl_str){bytes, (size_t)sqlite3_column_bytes(stmt, column)};
}

pawl_status user_sql_pairs(struct operation *op, pawl_str sql, pawl_str text,
                           pawl_status (*each)(void *self, pawl_str first, pawl_str second, pawl_error *err),
                           void *self, pawl_error *err) {
    sqlite3_stmt *stmt = NULL;
    const char *rest = NULL;
    pawl_status status = prepare(op, sql, &stmt, &rest, err);
    if (status == PAWL_OK &&
        (stmt == NULL || sqlite3_stmt_readonly(stmt) == 0 || sqlite3_column_count(stmt) != 2))
        status = error_set(err, PAWL_INVALID, op->name,
                           "the statement must select two columns, key and payload, and write nothing");
    int rc = SQLITE_OK;
    if (status == PAWL_OK && sqlite3_bind_parameter_count(stmt) > 0)
        rc = sqlite3_bind_text64(stmt, 1, text.ptr, text.len, SQLITE_STATIC, SQLITE_UTF8);
    while (status == PAWL_OK && rc == SQLITE_OK) {
        int step = sqlite3_step(stmt);
        if (step == SQLITE_DONE)
            break;
        if (step == SQLITE_ROW)
            status = each(self, column_of(stmt, 0), column_of(stmt, 1), err);
        else
            rc = step;
    }
    if (status == PAWL_OK && rc != SQLITE_OK)
        status = failure(op, rc, err);
    sqlite3_finalize(stmt);
    return status;
}
