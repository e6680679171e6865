/* Rows taken from results by their shapes. */
#ifndef STORE_POSTGRES_ROW_H
#define STORE_POSTGRES_ROW_H

#include "store/postgres/calls.h"
#include "store/row.h"

/* Fills the members of the shape from that cell on, texts in the arena; others are left. No memory sets
 * *failed. */
void pg_row_take(struct cell first, const struct row_shape *shape, struct arena *arena, void *row,
                 bool *failed);

/* Every row of the statement's result from that column on, in the arena of its parameters. */
PAWL_MUSTCHECK pawl_status pg_rows_take(const struct statement *statement, int first, const char *op,
                                        const struct row_shape *shape, struct row_list *out, pawl_error *err);

/* Runs a reading statement and takes its rows; the result is left for what else it says: pg_statement_clear
 * it, also when this failed. */
PAWL_MUSTCHECK pawl_status pg_rows_run(struct store *store, struct statement *statement, const char *op,
                                       const struct row_shape *shape, struct row_list *out, pawl_error *err);

/* The time of the store, which many lists select after the members of the shape; 0 without rows. */
int64_t pg_rows_now(const struct statement *statement, const struct row_shape *shape);

#endif
