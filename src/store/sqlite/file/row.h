/* Reading rows from statements and binding them, by their descriptions (store/row.h). */
#ifndef STORE_SQLITE_FILE_ROW_H
#define STORE_SQLITE_FILE_ROW_H

#include "store/row.h"
#include "store/sqlite/file/operation.h"

/* Fills the members of the shape from column first on, texts in the arena; others are left. */
void row_read(struct statement *s, int first, const struct row_shape *shape, struct arena *arena, void *row);

/* The first row, if there is one; the statement is ended. */
PAWL_MUSTCHECK pawl_status row_find(struct statement s, const struct row_shape *shape, struct arena *arena,
                                    void *row, bool *found);

/* Every row that the statement gives, in an array in the arena; the statement is ended. */
PAWL_MUSTCHECK pawl_status rows_read(struct statement s, const struct row_shape *shape, struct arena *arena,
                                     struct row_list *out);

/* The same as all that an operation does: it is ended, and the rows are given when it succeeded. */
#define operation_list(op, s, shape, arena, out)                                                             \
    ((op)->status == PAWL_OK ? operation_give_rows((s), (shape), (arena), (out)) : (op)->status)
PAWL_MUSTCHECK pawl_status operation_give_rows(struct statement s, const struct row_shape *shape,
                                               struct arena *arena, struct rows_out out);

/* Room for one more member after count of them; zeroed. */
PAWL_MUSTCHECK pawl_status list_grow(struct operation *op, struct arena *arena, void **items, size_t *cap,
                                     size_t count, size_t size);

#endif
