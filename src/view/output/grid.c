/* Laying out text in aligned columns that fit the terminal. */
#include "view/output/grid.h"

#include <assert.h>
#include <string.h>
#include <wchar.h>

#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"

enum { GAP = 2, CUT_MIN = 8 };

void grid_init(struct grid *grid) {
    *grid = (struct grid){.column_count = 0};
    buf_init(&grid->text, 0);
}

void grid_free(struct grid *grid) { buf_free(&grid->text); }

void grid_reset(struct grid *grid) {
    grid->column_count = 0;
    grid->cells = 0;
    grid->fitted = false;
    buf_reset(&grid->text);
}

void grid_column(struct grid *grid, struct grid_column column) {
    assert(grid->column_count < GRID_COLUMNS_MAX);
    grid->columns[grid->column_count++] = column;
}

static int code_width(uint32_t code) {
    int width = wcwidth((wchar_t)code);
    return width < 0 ? 1 : width;
}

/* Columns of the terminal that text takes. */
static int grid_text_width(pawl_str text) {
    int width = 0;
    for (size_t at = 0; at < text.len;) {
        uint32_t code = 0;
        size_t len = utf8_decode(text.ptr + at, text.len - at, &code);
        width += len > 0 ? code_width(code) : 1;
        at += len > 0 ? len : 1;
    }
    return width;
}

void grid_cell(struct grid *grid, pawl_str text) {
    assert(grid->column_count > 0);
    struct grid_column *column = &grid->columns[grid->cells++ % grid->column_count];
    int width = grid_text_width(text);
    if (width > column->width && !grid->fitted)
        column->width = width;
    buf_append_str(&grid->text, text);
    buf_append_char(&grid->text, '\0');
}

/* Characters that reorder or break lines without being control characters. */
static bool is_deceptive(uint32_t code) {
    return code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

void grid_escape(struct buf *buf, pawl_str text) {
    for (size_t at = 0; at < text.len;) {
        uint32_t code = 0;
        size_t len = utf8_decode(text.ptr + at, text.len - at, &code);
        if (len == 0) {
            buf_append_cstr(buf, "\xef\xbf\xbd");
            at++;
            continue;
        }
        if (code == '\n')
            buf_append_cstr(buf, "\\n");
        else if (code == '\t')
            buf_append_cstr(buf, "\\t");
        else if (code == '\r')
            buf_append_cstr(buf, "\\r");
        else if (utf8_is_control(code))
            buf_printf(buf, "\\x%02x", (unsigned)code);
        else if (is_deceptive(code))
            buf_printf(buf, "\\u%04x", (unsigned)code);
        else
            buf_append(buf, text.ptr + at, len);
        at += len;
    }
}

/* The minimum width of a column while others can still be left out. */
static int narrowest(const struct grid_column *column) {
    int least = column->least > CUT_MIN ? column->least : CUT_MIN;
    return column->cut && column->width > least ? least : column->width;
}

static int total_width(const struct grid *grid, bool shortened) {
    int total = 0;
    for (size_t i = 0; i < grid->column_count; i++)
        if (grid->columns[i].width > 0)
            total += GAP + (shortened ? narrowest(&grid->columns[i]) : grid->columns[i].width);
    return total - GAP;
}

static struct grid_column *widest_to_cut(struct grid *grid) {
    struct grid_column *widest = NULL;
    for (size_t i = 0; i < grid->column_count; i++) {
        struct grid_column *column = &grid->columns[i];
        if (column->cut && column->width > CUT_MIN && (widest == NULL || column->width > widest->width))
            widest = column;
    }
    return widest;
}

static struct grid_column *first_to_drop(struct grid *grid) {
    struct grid_column *first = NULL;
    for (size_t i = 0; i < grid->column_count; i++) {
        struct grid_column *column = &grid->columns[i];
        if (column->drop > 0 && column->width > 0 && (first == NULL || column->drop > first->drop))
            first = column;
    }
    return first;
}

/* Leaves out columns that cannot fit, then shortens the rest only as much as necessary. */
static void fit(struct grid *grid, int width) {
    struct grid_column *column = NULL;
    while (total_width(grid, true) > width && (column = first_to_drop(grid)) != NULL)
        column->width = 0;
    while (total_width(grid, false) > width && (column = widest_to_cut(grid)) != NULL)
        column->width--;
}

/* One cell in its width, with an ellipsis where it was cut. */
static void print_cell(FILE *file, const char *text, const struct grid_column *column, bool last) {
    pawl_str all = str_from(text);
    int width = grid_text_width(all);
    const char *tone = column->tone != NULL ? column->tone(all) : NULL;
    fputs(tone != NULL ? tone : "", file);
    if (width > column->width && column->cut) {
        int used = 0;
        size_t at = 0;
        while (at < all.len) {
            uint32_t code = 0;
            size_t len = utf8_decode(all.ptr + at, all.len - at, &code);
            int next = len > 0 ? code_width(code) : 1;
            if (used + next > column->width - 1)
                break;
            used += next;
            at += len > 0 ? len : 1;
        }
        fprintf(file, "%.*s\xe2\x80\xa6", (int)at, text);
        width = used + 1;
    } else {
        int before = column->right && width < column->width ? column->width - width : 0;
        fprintf(file, "%*s%s", before, "", text);
        width += before;
    }
    fputs(tone != NULL ? "\033[0m" : "", file);
    if (!last)
        fprintf(file, "%*s", (width < column->width ? column->width - width : 0) + GAP, "");
}

pawl_status grid_print(struct grid *grid, FILE *file, int width, pawl_error *err) {
    pawl_status status = buf_status(&grid->text, "table", err);
    size_t columns = grid->column_count;
    if (status != PAWL_OK || columns == 0)
        return status;
    if (width > 0 && !grid->fitted)
        fit(grid, width);
    grid->fitted = true;
    size_t last = 0;
    for (size_t i = 0; i < grid->column_count; i++)
        if (grid->columns[i].width > 0)
            last = i;
    const char *cell = grid->text.ptr;
    for (size_t i = 0; i < grid->cells; i++, cell += strlen(cell) + 1) {
        size_t at = i % columns;
        if (grid->columns[at].width > 0)
            print_cell(file, cell, &grid->columns[at], at == last);
        if (at + 1 == columns)
            fputc('\n', file);
    }
    grid->cells = 0;
    buf_reset(&grid->text);
    return PAWL_OK;
}
