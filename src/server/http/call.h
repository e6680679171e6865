/* A handler's view of one request: its checked values, and the response. */
#ifndef SERVER_HTTP_CALL_H
#define SERVER_HTTP_CALL_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/json/json.h"
#include "base/json/tree.h"
#include "operations/request.h"
#include "server/http/route.h"
#include "work/put_spans.h"

struct server;

struct call {
    struct server *server;
    struct store *store; /* NULL for POOL_LOOP */
    struct arena *arena;
    const struct route *route;
    struct value *values; /* one per field of the route */
    enum credential as;
    pawl_str session;        /* the caller's; absent: none */
    pawl_str key;            /* Idempotency-Key; absent: none */
    const char *last_seen;   /* Last-Event-ID; NULL: none */
    const char *accept;      /* NULL: none */
    const char *person;      /* Pawl-Actor; NULL: none */
    const char *traceparent; /* NULL: none */
    const char *tracestate;  /* NULL: none */
    struct buf out;
    struct json_writer json;      /* into out */
    const struct column *columns; /* of the list that is being written */
    size_t column_count;
    size_t rows;
    int64_t wait_ms; /* it found nothing and may run again for so long, counted from its first run; 0: this is
                        the answer */
    pawl_str wait_for;      /* what it waits for: others that wait for the same can take its place */
    unsigned tries;         /* how often it ran before */
    int status;             /* 0: the route's */
    const char *type;       /* of the body; NULL: by the route's shape */
    const char *set_cookie; /* NULL: none */
    const char *location;
};

/* The parts of a request besides its headers; borrowed. */
struct call_input {
    const pawl_str *parts; /* of the path */
    size_t part_count;
    const char *query; /* after the question mark, as it was sent; NULL: none */
    pawl_str body;     /* absent: none */
};

/* Fills values. PAWL_INVALID with a sentence that names the field. */
PAWL_MUSTCHECK pawl_status call_read(struct call *call, const struct call_input *input, pawl_error *err);

/* The value of a field of the route. */
const struct value *call_value(const struct call *call, const char *name);
pawl_str call_text(const struct call *call, const char *name); /* absent when not given */
int64_t call_int(const struct call *call, const char *name, int64_t fallback);
bool call_bool(const struct call *call, const char *name);
/* The number of a choice from 1; 0 when not given. */
int call_choice(const struct call *call, const char *name);
/* The JSON of a body's field as text; absent when not given. */
PAWL_MUSTCHECK pawl_status call_json(struct call *call, const char *name, pawl_str *text, pawl_error *err);
/* JSON of a tree as text in the arena; *text stays when there is no tree. */
PAWL_MUSTCHECK pawl_status call_tree_text(struct arena *arena, const struct tree *tree, pawl_str *text,
                                          pawl_error *err);
int call_limit(const struct call *call);

/* Checks the members of an object as fields; values has one entry per field. */
PAWL_MUSTCHECK pawl_status call_object(const struct tree *object, const char *where,
                                       const struct field *fields, size_t count, struct value *values,
                                       pawl_error *err);

/* A list: rows, then the end. more: there is another page, and key is where it begins. */
void call_list(struct call *call);
void call_row(struct call *call, const struct cell *cells);
/* Rows whose columns all show members. */
void call_rows(struct call *call, const void *rows, size_t size, size_t count);
/* Begins a list and writes the rows of an array, as OUTPUT_ROWS does. */
#define CALL_ROWS(call, noun, rows, count)                                                                   \
    do {                                                                                                     \
        call_list(call);                                                                                     \
        for (size_t row_at = 0; row_at < (count); row_at++) {                                                \
            struct cell row_cells[sizeof noun##_columns / sizeof *noun##_columns];                           \
            noun##_cells(&(rows)[row_at], row_cells);                                                        \
            call_row((call), row_cells);                                                                     \
        }                                                                                                    \
    } while (0)
PAWL_MUSTCHECK pawl_status call_list_end(struct call *call, const char *key, pawl_error *err);
/* The same with a number; 0: there is no other page. */
PAWL_MUSTCHECK pawl_status call_list_end_number(struct call *call, int64_t next, pawl_error *err);
void call_record(struct call *call, const struct cell *cells);
/* Whether the caller may see the contents and results of work: a viewer may not, like the database's view
 * role, and with --redact '*' no one may. */
bool call_sees_content(const struct call *call);
/* Members of an object under other columns than the route's. */
void call_cells(struct call *call, const struct column *columns, size_t count, const struct cell *cells);

/* HTTP as a front of operations (front.c): for routes that use parts of one, and for those that are one. */
struct request http_request(struct call *call);
PAWL_MUSTCHECK pawl_status http_run(struct call *call, operation_run *run, pawl_error *err);

/* What `cursor` holds; absent when there was none. */
pawl_str call_cursor(const struct call *call);

/* The caller for the audit: the role and, if given, the person. */
pawl_str call_actor(struct call *call);
/* Records in the database what the caller did: the route, and its values without payloads. */
PAWL_MUSTCHECK pawl_status call_audit(struct call *call, pawl_error *err);

/* The caller for put_spans.h: spans are children of the request's traceparent, if tracing is on. */
struct putter call_putter(struct call *call);

/* The request key of a call with an Idempotency-Key; nil without. part distinguishes several within one call.
 */
PAWL_MUSTCHECK pawl_status call_request(const struct call *call, unsigned part, pawl_uuid *request,
                                        pawl_error *err);

#endif
