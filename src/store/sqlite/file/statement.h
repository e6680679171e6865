/* A prepared statement in use: bind, step, read. */
#ifndef STORE_SQLITE_FILE_STATEMENT_H
#define STORE_SQLITE_FILE_STATEMENT_H

#include "base/arena.h"
#include "store/rows/value.h"
#include "store/sqlite/file/connection.h"

struct operation;

/*
 * Bindings and steps need not be checked one by one: the first failure is kept, and statement_end reports it.
 * Parameters are bound in order, ?1 first, and all of them every time. Bound texts, ids and rows must live
 * until statement_end, which every function that takes a statement by value calls.
 */
struct statement {
    struct operation *op;
    sqlite3_stmt *stmt;
    int bound; /* parameters bound so far */
    int rc;
};

/* Takes the cached statement, preparing it at its first use. A query is in use at most once at a time. */
struct statement statement_begin(struct operation *op, enum sqlite_query query);

/* The same with its parameters: SQL(op, query, value, ...), see store/rows/value.h. */
#define SQL(op, query, ...) statement_with(op, query, VALUES(__VA_ARGS__))
struct statement statement_with(struct operation *op, enum sqlite_query query, const struct value *values,
                                size_t count);

/* One more parameter, where not every call has it or SQL has no room for it. */
void bind_int(struct statement *s, int64_t value);
void bind_text(struct statement *s, pawl_str text); /* absent is NULL */

/* Steps to the next row; false at the end and after a failure. */
bool statement_next(struct statement *s);

/* Gives the statement back. PAWL_OK, or what went wrong since statement_begin. */
PAWL_MUSTCHECK pawl_status statement_end(struct statement *s);

/* Steps to the end, ignoring rows, and gives the statement back. */
PAWL_MUSTCHECK pawl_status statement_run(struct statement s);

/* The same; *changed is the number of rows written. */
PAWL_MUSTCHECK pawl_status statement_run_count(struct statement s, int64_t *changed);

/* The first row's first column as a number; *found false when there is no row. */
PAWL_MUSTCHECK pawl_status statement_number(struct statement s, int64_t *value, bool *found);

/* Whether there is a row. */
PAWL_MUSTCHECK pawl_status statement_any(struct statement s, bool *any);

/* statement_end after the caller's own work, whose failure comes first. */
PAWL_MUSTCHECK pawl_status statement_close(struct statement *s, pawl_status status);

/* Columns of the row that statement_next stood on, counted from 0. */
static inline int64_t column_int(const struct statement *s, int column) {
    return sqlite3_column_int64(s->stmt, column);
}
static inline bool column_is_null(const struct statement *s, int column) {
    return sqlite3_column_type(s->stmt, column) == SQLITE_NULL;
}
pawl_uuid column_uuid(const struct statement *s, int column);  /* NULL is nil */
pawl_str column_borrow(const struct statement *s, int column); /* until the next step */
/* A copy in the arena; NULL is absent. Out of memory is kept like any other failure. */
pawl_str column_copy(struct statement *s, int column, struct arena *arena);

#endif
