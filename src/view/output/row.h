/* Columns that show members of a row: declared in a table, turned into cells by one loop. */
#ifndef VIEW_OUTPUT_ROW_H
#define VIEW_OUTPUT_ROW_H

#include "view/output/output.h"

/* In a table of columns, with ROW defined as the struct: {.key = "started", TIME_OF(started_ms), .drop = 5}.
 * A member whose type does not fit the column does not compile. */
#define COLUMN_OF(cell, name, ...)                                                                           \
    .type = (cell), .member = {offsetof(ROW, name), _Generic(((ROW *)0)->name, __VA_ARGS__)}
#define TEXT_OF(name) COLUMN_OF(CELL_TEXT, name, pawl_str : MEMBER_TEXT)
#define JSON_OF(name) COLUMN_OF(CELL_JSON, name, pawl_str : MEMBER_TEXT)
#define INT_OF(name) COLUMN_OF(CELL_INT, name, int : MEMBER_INT, int64_t : MEMBER_BIG)
#define BOOL_OF(name) COLUMN_OF(CELL_BOOL, name, bool : MEMBER_BOOL)
#define UUID_OF(name) COLUMN_OF(CELL_UUID, name, pawl_uuid : MEMBER_UUID)
#define TIME_OF(name) COLUMN_OF(CELL_TIME, name, int64_t : MEMBER_BIG)
#define DURATION_OF(name) COLUMN_OF(CELL_DURATION, name, int64_t : MEMBER_BIG)
/* An enum as the word that an array has for it. */
#define WORD_OF(name, array)                                                                                 \
    COLUMN_OF(CELL_TEXT, name, int                                                                           \
              : MEMBER_INT, unsigned                                                                         \
              : MEMBER_INT),                                                                                 \
        .words = (array), .word_count = sizeof(array) / sizeof *(array)

/* made: the cells of columns that show no member, in their order; NULL when there are none. */
void row_cells(const struct column *columns, size_t count, const void *row, const struct cell *made,
               struct cell *cells);

enum { ROW_COLUMNS_MAX = 64 };

#endif
