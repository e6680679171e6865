/* Aligned columns of text that fit a terminal. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stdio.h>

#include "base/buf.h"
#include "pawl.h"

enum { TABLE_COLUMNS_MAX = 32 };

struct table_column {
    bool cut; /* may be shortened */
    bool right;
    int drop; /* 0: never left out */
    int width;
};

/* Rows of cells that were escaped already; the first row is the heading. Cells are NUL-terminated inside
 * text. */
struct table {
    struct table_column columns[TABLE_COLUMNS_MAX];
    size_t column_count;
    struct buf text;
    size_t cells;
};

void table_init(struct table *table);
void table_free(struct table *table);
void table_reset(struct table *table);
void table_column(struct table *table, bool cut, bool right, int drop);
void table_cell(struct table *table, pawl_str text);

/* Writes all rows; width 0 is as wide as it needs. */
PAWL_MUSTCHECK pawl_status table_print(struct table *table, FILE *file, int width, pawl_error *err);

/* Appends text as a terminal may show it: control and direction characters escaped, invalid bytes as U+FFFD.
 */
void table_escape(struct buf *buf, pawl_str text);

/* Columns of the terminal that text takes. */
int table_text_width(pawl_str text);

#endif
