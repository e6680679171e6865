/* Running the SQL of a perspective inside an operation's transaction. */
#ifndef STORE_SQLITE_EVENTS_USER_SQL_H
#define STORE_SQLITE_EVENTS_USER_SQL_H

#include "store/sqlite/events/event_table.h"
#include "store/sqlite/file/operation.h"

/* Runs the statements one after the other, each with the text as its ?1; rows are ignored. PAWL_INVALID says
 * what SQLite says. A statement that writes nothing is refused: it could only be one that ends the
 * transaction. */
PAWL_MUSTCHECK pawl_status user_sql_run(struct operation *op, pawl_str sql, pawl_str text, pawl_error *err);

/* The same with events as its ?1, for statements that take them by event_rows(?1) and not otherwise. */
PAWL_MUSTCHECK pawl_status user_sql_rows(struct operation *op, pawl_str sql, const struct event_batch *rows,
                                         pawl_error *err);

/* The first column of the first row as text in the arena; absent when there is none or it is NULL. */
PAWL_MUSTCHECK pawl_status user_sql_text(struct operation *op, pawl_str sql, struct arena *arena,
                                         pawl_str *text, pawl_error *err);

/* Each row of one statement that writes nothing: its first two columns as texts (absent: NULL). */
PAWL_MUSTCHECK pawl_status user_sql_pairs(struct operation *op, pawl_str sql, pawl_str text,
                                          pawl_status (*each)(void *self, pawl_str first, pawl_str second,
                                                              pawl_error *err),
                                          void *self, pawl_error *err);

#endif
