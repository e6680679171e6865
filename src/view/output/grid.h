/* Aligned columns of text that fit a terminal. */
#ifndef VIEW_OUTPUT_GRID_H
#define VIEW_OUTPUT_GRID_H

#include <stdio.h>

#include "base/buf.h"
#include "pawl.h"

enum { GRID_COLUMNS_MAX = 64 };

struct grid_column {
    bool cut; /* may be shortened */
    bool right;
    int drop;  /* 0: never left out */
    int least; /* with cut: others are left out before it becomes shorter than this; 0: it may */
    int width;
    const char *(*tone)(
        pawl_str text); /* how a terminal begins to show a word in colour; NULL: none has any */
};

/* Rows of cells that are already escaped; the first row is the heading. Cells are NUL-terminated inside text.
 */
struct grid {
    struct grid_column columns[GRID_COLUMNS_MAX];
    size_t column_count;
    struct buf text;
    size_t cells;
    bool fitted; /* the widths are fixed: rows were written */
};

void grid_init(struct grid *grid);
void grid_free(struct grid *grid);
void grid_reset(struct grid *grid);
void grid_column(struct grid *grid, struct grid_column column);
void grid_cell(struct grid *grid, pawl_str text);

/* Writes the rows that were added since the last time, in columns that the first ones decide; width 0 = as
 * wide as needed. Of a later row, what may not be shortened is written whole. */
PAWL_MUSTCHECK pawl_status grid_print(struct grid *grid, FILE *file, int width, pawl_error *err);

/* Appends text as a terminal may show it: control and direction characters escaped, invalid bytes as U+FFFD.
 */
void grid_escape(struct buf *buf, pawl_str text);

#endif
