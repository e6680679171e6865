/* Writing lists and records as tables for people or JSON for programs. */
#ifndef VIEW_OUTPUT_OUTPUT_H
#define VIEW_OUTPUT_OUTPUT_H

#include <stdio.h>

#include "base/buf.h"
#include "pawl.h"
#include "store/row.h"
#include "view/output/grid.h"

/* In the order of the choices of --output. */
enum output_format { OUTPUT_AUTO, OUTPUT_TABLE, OUTPUT_WIDE, OUTPUT_JSON, OUTPUT_NDJSON };

enum cell_type {
    CELL_TEXT,
    CELL_INT,
    CELL_BOOL,
    CELL_UUID,
    CELL_TIME,     /* JSON: KEY_ms as a number and KEY_at in ISO form; tables: ISO and the age */
    CELL_DURATION, /* JSON: KEY_ms */
    CELL_JSON      /* text that is JSON already */
};

enum column_show {
    SHOW_ALWAYS,
    SHOW_WIDE, /* in tables only with -o wide; in records and JSON always */
    SHOW_JSON  /* in JSON only */
};

/* Marks a missing number. */
enum column_absent { ABSENT_NEVER, ABSENT_ZERO, ABSENT_BELOW_ZERO };

/* The part of an error that is usually enough to see what went wrong. */
enum { ERROR_LEAST = 24 };

struct column {
    const char *key; /* in JSON; tables show it in capitals */
    enum cell_type type;
    enum column_show show;
    bool content; /* contents or results of work: hidden from viewers */
    bool cut;     /* may be shortened to fit the terminal */
    int drop;     /* 0: never; otherwise left out of a table that is too wide, the highest first */
    int least;    /* with cut: others are left out before it becomes shorter than this */
    /* The member that row_cells shows; columns without one are computed. */
    struct member member;
    enum column_absent absent;
    const char *const *words; /* for the values of an enum */
    size_t word_count;
};

/* A column whose cell is computed: {COLUMN(INT, "ahead"), .drop = 1}. */
#define COLUMN(cell, name) .key = (name), .type = CELL_##cell

/* A value under a column; absent is null in JSON and - in tables. */
struct cell {
    bool present;
    pawl_str text;
    int64_t number;
    pawl_uuid uuid;
};

struct cell cell_none(void);
struct cell cell_text(pawl_str text); /* absent text is an absent cell */
struct cell cell_cstr(const char *text);
struct cell cell_int(int64_t number);
struct cell cell_bool(bool value);
struct cell cell_uuid(pawl_uuid uuid);  /* nil is an absent cell */
struct cell cell_time(int64_t wall_ms); /* 0 is an absent cell */
struct cell cell_duration(int64_t duration_ms);

struct output {
    enum output_format format; /* never OUTPUT_AUTO */
    FILE *file;
    int64_t now_ms; /* what ages are relative to: the store's clock */
    const struct column *columns;
    size_t column_count;
    size_t row_count;
    bool list_open; /* between begin and end */
    struct grid grid;
    struct buf line;
};

/* Decides what auto means. Free with output_free. */
void output_init(struct output *output, enum output_format format, FILE *file);
void output_free(struct output *output);

bool output_is_json(const struct output *output);

/* A list: begin, a row each (count of the columns), end. empty is what a table says when there are no rows.
 */
void output_list_begin(struct output *output, const struct column *columns, size_t count);
void output_list_row(struct output *output, const struct cell *cells);
PAWL_MUSTCHECK pawl_status output_list_end(struct output *output, const char *empty, pawl_error *err);

/* One record: an object in JSON, otherwise a line per column. */
PAWL_MUSTCHECK pawl_status output_record(struct output *output, const struct column *columns, size_t count,
                                         const struct cell *cells, pawl_error *err);

/* A sentence that only people need; nothing in JSON. A line end is added. */
void output_say(struct output *output, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* How long ago or how far ahead in words: "3m12s ago", "in 5s". Returns text. */
enum { OUTPUT_AGE_BYTES = 56 };
char *output_age(int64_t wall_ms, int64_t now_ms, char text[static OUTPUT_AGE_BYTES]);

/* Writes an object with these cells, as output_record does. */
void output_cells_json(struct buf *buf, const struct column *columns, size_t count, const struct cell *cells);

/* Flushes the output. *broken: the reader is gone, which is not an error. */
PAWL_MUSTCHECK pawl_status output_finish(struct output *output, bool *broken, pawl_error *err);

#endif
