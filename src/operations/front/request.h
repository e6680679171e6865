/* What an operation is given and how it answers, whichever front asks: the command line, HTTP or MCP. */
#ifndef OPERATIONS_FRONT_REQUEST_H
#define OPERATIONS_FRONT_REQUEST_H

#include "base/arena.h"
#include "base/json/tree.h"
#include "store/store.h"
#include "view/output/output.h"
#include "work/put_spans.h"

struct tools;

/* An input, as checked by the front. */
struct value {
    bool present;
    pawl_str text;
    int64_t number; /* int, bool, milliseconds, index of the choice */
    bool relative;  /* a time that the store's clock is still to be added to */
    pawl_uuid uuid;
    const struct tree *tree; /* JSON, objects and arrays */
};

struct front;

struct request {
    struct store *store; /* NULL when the operation needs none */
    struct arena *arena; /* lives as long as the request */
    const struct front *front;
    void *self; /* the front's own */
};

/* An operation: reads its inputs, asks the store, answers with a list, a record or nothing. */
typedef pawl_status operation_run(struct request *request, pawl_error *err);

/* Something that has not happened yet, and that an operation waits for. */
struct waiting {
    const char *what;   /* "job 17": who waits for the same may be told by one look */
    int64_t timeout_ms; /* since the operation first ran */
    pawl_str progress;  /* what is known of it, for a person; absent: nothing */
};

/* What a front does for operations. self is the request's. */
struct front {
    const char *dashes; /* before the names of inputs in errors: "--" or "" */
    struct value (*value)(void *self, const char *name);
    int (*limit)(void *self);      /* rows of a page */
    pawl_str (*after)(void *self); /* the key that the page begins after; absent: the first page */
    void (*list)(void *self, const struct column *columns, size_t count);
    void (*row)(void *self, const struct cell *cells);
    /* next: the key of the last row when there may be another page. */
    pawl_status (*list_end)(void *self, const char *next, pawl_error *err);
    pawl_status (*record)(void *self, const struct column *columns, size_t count, const struct cell *cells,
                          pawl_error *err);
    bool (*sees_content)(void *self);    /* whether contents and results of work may be shown */
    struct putter (*putter)(void *self); /* for spans of what is sent */
    bool (*tools_named)(void *self);     /* whether there are others than the built-in ones */
    pawl_status (*tools)(void *self, struct tools **tools, pawl_error *err); /* freed with tools_free */
    pawl_str (*env)(void *self); /* variables for pipelines, "A,B"; NULL: only the worker knows them */
    pawl_str (*actor)(void *self);
    /* Of a request that may come twice; part distinguishes several within one. */
    pawl_status (*key)(void *self, unsigned part, pawl_uuid *key, pawl_error *err);
    /* True: it runs the operation again soon, which must not answer now. False: it answers with what it
     * knows; a front may still run it again, and then forgets that answer. */
    bool (*wait)(void *self, const struct waiting *waiting);

    /* ---- NULL where it has none of this. */
    pawl_str (*agent)(void *self); /* whose scopes limit what is created; absent: not an agent */
    struct cell (*shown)(void *self, const struct column *column, struct cell cell); /* hides secrets */

    /* ---- Of the command line; NULL elsewhere: then there is no person to tell anything. */
    bool (*json)(void *self);                        /* the answer is for a program */
    void (*say)(void *self, const char *sentence);   /* for people only */
    void (*below)(void *self, const char *sentence); /* about the list, after it; beside JSON as well */
    void (*now)(void *self, int64_t now_ms);         /* what ages are relative to */
    void (*hint)(void *self, const char *command);   /* what to do about the error that follows */
    void (*exit_with)(void *self, int code);         /* the answer is itself bad news */
    pawl_status (*confirm)(void *self, const char *question, pawl_error *err);
};

/* ---- Inputs, by name. What was not given is absent, 0, false. */

struct value request_value(const struct request *request, const char *name);
pawl_str request_text(const struct request *request, const char *name);
int64_t request_number(const struct request *request, const char *name, int64_t fallback);
bool request_bool(const struct request *request, const char *name);
/* The number of a choice from 1; 0 when not given. */
int request_choice(const struct request *request, const char *name);
/* The kinds that were asked for: one, or all. */
void request_kinds(const struct request *request, int *first, int *last);
/* JSON as text; absent when not given. */
PAWL_MUSTCHECK pawl_status request_json(struct request *request, const char *name, pawl_str *text,
                                        pawl_error *err);
/* The whole id of a message that was named by it or by its beginning. PAWL_NOT_FOUND; PAWL_CONFLICT if
 * several ids begin with it. */
PAWL_MUSTCHECK pawl_status request_message_id(struct request *request, pawl_str text, pawl_uuid *id,
                                              pawl_error *err);
/* An array of texts, or of the one text that was given; in the arena. */
PAWL_MUSTCHECK pawl_status request_texts(struct request *request, const char *name, pawl_str **texts,
                                         size_t *count, pawl_error *err);
/* The agent that something is created for: the input `agent`, or the one who asks, who may name no other.
 * PAWL_CONFLICT. */
PAWL_MUSTCHECK pawl_status request_agent(const struct request *request, pawl_str *agent, pawl_error *err);
pawl_str request_after(const struct request *request);
int64_t request_after_number(const struct request *request);
int request_limit(const struct request *request);
bool request_dry(const struct request *request);

/* ---- Answers */

#define COLUMN_COUNT(columns) (sizeof(columns) / sizeof *(columns))

/* Hides from the caller what it may not see, in rows that become part of a cell. */
void request_hide(const struct request *request, const struct column *columns, size_t count,
                  struct cell *cells);

void request_list(struct request *request, const struct column *columns, size_t count);
void request_row(struct request *request, const struct cell *cells);
PAWL_MUSTCHECK pawl_status request_list_end(struct request *request, const char *next, pawl_error *err);
/* The key of the next page, in the arena; NULL of 0. */
const char *request_key(struct request *request, int64_t next);
/* The end of a list with a number; 0: there is no other page. */
PAWL_MUSTCHECK pawl_status request_list_end_number(struct request *request, int64_t next, pawl_error *err);

/* Rows whose columns all show members. */
struct row_array {
    const struct column *columns;
    size_t column_count;
    const void *rows;
    size_t size, count;
};

/* Rows of a list that has begun. */
void request_more_rows(struct request *request, struct row_array array);
/* A whole list of them; next as of request_list_end. */
PAWL_MUSTCHECK pawl_status request_rows(struct request *request, struct row_array array, const char *next,
                                        pawl_error *err);
#define ROWS_OF(noun, rows, count)                                                                           \
    ((struct row_array){noun##_columns, COLUMN_COUNT(noun##_columns), (rows), sizeof *(rows), (count)})
/* A list of rows with a function for their cells, without its end. */
#define REQUEST_CELLS(request, noun, rows, count)                                                            \
    do {                                                                                                     \
        request_list((request), noun##_columns, COLUMN_COUNT(noun##_columns));                               \
        for (size_t row_at = 0; row_at < (count); row_at++) {                                                \
            struct cell row_made[COLUMN_COUNT(noun##_columns)];                                              \
            noun##_cells(&(rows)[row_at], row_made);                                                         \
            request_row((request), row_made);                                                                \
        }                                                                                                    \
    } while (0)

PAWL_MUSTCHECK pawl_status request_record(struct request *request, const struct column *columns, size_t count,
                                          const struct cell *cells, pawl_error *err);
#define REQUEST_RECORD(request, columns, err, ...)                                                           \
    request_record((request), (columns), COLUMN_COUNT(columns), (struct cell[]){__VA_ARGS__}, (err))
/* A record whose columns all show members of row. */
PAWL_MUSTCHECK pawl_status request_shown(struct request *request, const struct column *columns, size_t count,
                                         const void *row, pawl_error *err);

/* An operation on one thing, which a command can do to several: rows of a list there, one record elsewhere.
 */
void request_each_begin(struct request *request, const struct column *columns, size_t count);
PAWL_MUSTCHECK pawl_status request_each(struct request *request, const struct column *columns, size_t count,
                                        const struct cell *cells, pawl_error *err);
PAWL_MUSTCHECK pawl_status request_each_end(struct request *request, pawl_error *err);

/* ---- What struct front says of the same names */

void request_say(const struct request *request, const char *sentence);
void request_below(const struct request *request, const char *sentence);
void request_now(const struct request *request, int64_t now_ms);
void request_hint(const struct request *request, const char *command);
void request_exit_with(const struct request *request, int code);
/* For a program: always over HTTP. */
bool request_for_program(const struct request *request);
PAWL_MUSTCHECK pawl_status request_confirm(const struct request *request, const char *question,
                                           pawl_error *err);

/* Asked on the command line: a person is there, or a script that waits. */
bool request_is_command(const struct request *request);
/* Where the caller finds more: an operation as its front calls it, "pawl audit list", a path, or a tool. */
const char *request_see(const struct request *request, const char *name);

PAWL_MUSTCHECK pawl_status request_not_found(const char *op, const char *what, pawl_str name,
                                             pawl_error *err);

#endif
