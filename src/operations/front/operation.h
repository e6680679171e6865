/* One operation: what a person or a program can ask for, declared once. Commands, routes, help, completions,
 * the references and the OpenAPI document are made from tables of these. */
#ifndef OPERATIONS_FRONT_OPERATION_H
#define OPERATIONS_FRONT_OPERATION_H

#include "base/limits.h"
#include "base/options/options.h"
#include "operations/front/request.h"

struct cli;
struct call;

enum http_method { METHOD_GET, METHOD_POST, METHOD_PUT, METHOD_DELETE, METHOD_COUNT };

/* The role a caller needs. An operator may do everything a viewer may; a worker may only use leases. */
enum role { ROLE_NONE, ROLE_VIEWER, ROLE_OPERATOR, ROLE_WORKER };

/* What a lost answer may mean, and what is kept of it. */
enum changes {
    CHANGES_NOTHING,
    CHANGES_WORK,  /* as part of the work: sending, enqueuing, claiming */
    CHANGES_ACTION /* what a person did: it takes a reason, and is in the list of actions */
};

/* Where HTTP takes an input. IN_TERMINAL: only the command has it. */
enum field_place { IN_QUERY, IN_PATH, IN_BODY, IN_TERMINAL };

enum field_type {
    FIELD_TEXT,
    FIELD_INT,
    FIELD_BOOL,
    FIELD_UUID,
    FIELD_ID, /* a UUID, or a unique beginning of one */
    FIELD_CHOICE,
    FIELD_DURATION, /* …_ms: milliseconds; 30s on the command line */
    FIELD_TIME,   /* …_ms: milliseconds since 1970; on the command line also 2026-01-02T03:04:05Z, 36h: that
                     long   ago, and +36h: from now on */
    FIELD_CURSOR, /* what an earlier page gave as `next` */
    FIELD_JSON,   /* any JSON value */
    FIELD_OBJECT,
    FIELD_TEXTS, /* array of text */
    FIELD_INTS,
    FIELD_UUIDS,
    FIELD_OBJECTS
};

/* One input of every front; unlisted ones are refused. A command takes what is IN_PATH, and fields that say
 * so, as words, everything else as flags: unique_key is --unique-key, timeout_ms is --timeout. */
struct field {
    const char *name;
    enum field_place in;
    enum field_type type;
    bool required;
    bool word;
    bool many;           /* the command takes several of it: the words that are left, or the flag again */
    bool file;           /* the command takes the name of a file of it; .yaml and .yml are YAML */
    const char *value;   /* what the help calls the value; NULL: by its name and type */
    const char *choices; /* FIELD_CHOICE: "outbox|inbox" */
    int64_t min, max;    /* numbers; FIELD_TEXT: bytes; arrays: items. max 0 = the type's own limit */
    const char *help;
    const char *example; /* as JSON; NULL: by its type */
};

/* Whether a list comes in pages: limit, and cursor (--after) for the next one. */
enum paging {
    PAGED_NOT,
    PAGED_LIMIT, /* it has no cursor */
    PAGED,
    PAGED_TAIL /* it has no end: there is always a next page, which waits; a command prints lines of JSON */
};

/* What the answer is. */
enum answer_shape {
    ANSWER_LIST,   /* {"items": [columns], "next": cursor or null} */
    ANSWER_RECORD, /* columns */
    ANSWER_OBJECT, /* JSON that the handler writes */
    ANSWER_EMPTY,  /* 204 */
    ANSWER_TEXT,   /* text/plain */
    ANSWER_STREAM  /* text/event-stream */
};

/* Who runs a route. */
enum route_pool {
    POOL_STORE, /* a thread with a store of the server's role */
    POOL_LEASE, /* a thread with a store of the worker's role */
    POOL_LOOP   /* the loop itself: no store, no waiting */
};

#define OPTION_BIT(id) (UINT64_C(1) << (id))
#define OPTION(name) OPTION_BIT(OPTION_##name) /* in the tables of operations */

/* What a command needs before it runs. */
enum database_need {
    DATABASE_OPEN, /* a migrated database: what nearly all of them need */
    DATABASE_MAKE, /* the same, and a missing SQLite file is made */
    DATABASE_NONE  /* the command opens what it needs */
};

struct operation {
    const char *name; /* "job.retry": noun and verb; one that is its own noun has no verb. The command is the
                         same words: pawl job retry */
    const char *summary; /* one line, no full stop */
    operation_run *run;  /* what every front can do; NULL: terminal or serve does it */
    enum role role;
    enum changes changes;
    const struct field *fields; /* operation_input has those that follow from the rest as well */
    size_t field_count;
    enum paging paged;
    enum answer_shape shape;
    const struct column *columns;
    size_t column_count;

    /* ---- The route */
    enum http_method method;
    const char *path; /* "/v1/messages/{id}"; NULL: there is none */
    bool raw;         /* its handler reads the body; the fields are for the reference */
    int status;       /* of success; 0 = 200 */
    enum route_pool pool;
    pawl_status (*serve)(struct call *call, pawl_error *err); /* instead of run; NULL: none */

    /* ---- The command */
    uint64_t options;     /* OPTION_BIT()s it takes besides those of every command */
    operation_run *check; /* of its inputs, before a database is opened; NULL: none */
    enum database_need database;
    const char *details;                                       /* paragraphs for the help; NULL: none */
    const char *example;                                       /* command lines, one per line */
    const char *empty;                                         /* what a table says that has no rows */
    pawl_status (*terminal)(struct cli *cli, pawl_error *err); /* instead of run; NULL: none */
};

struct operation_table {
    const struct operation *rows;
    size_t count;
};

#define OPERATION_TABLE(array)                                                                               \
    { (array), sizeof(array) / sizeof *(array) }

/* In the tables. */
#define OPERATION(operation_name, text) .name = (operation_name), .summary = (text)
#define ROUTE(route_method, route_path) .method = (route_method), .path = (route_path)
#define READS(route_path) ROUTE(METHOD_GET, route_path), .role = ROLE_VIEWER
#define ACTS(route_method, route_path)                                                                       \
    ROUTE(route_method, route_path), .role = ROLE_OPERATOR, .changes = CHANGES_ACTION
#define POSTS(route_path) ACTS(METHOD_POST, route_path)
#define PUTS(route_path) ACTS(METHOD_PUT, route_path)
#define DELETES(route_path) ACTS(METHOD_DELETE, route_path)
/* Puts work in: not an action of a person. */
#define WORKS(route_method, route_path)                                                                      \
    ROUTE(route_method, route_path), .role = ROLE_OPERATOR, .changes = CHANGES_WORK
/* An operator's, although it changes nothing. */
#define EXAMINES(route_method, route_path) ROUTE(route_method, route_path), .role = ROLE_OPERATOR
#define FIELDS(array) .fields = (array), .field_count = sizeof(array) / sizeof *(array)
#define COLUMNS(array) .columns = (array), .column_count = sizeof(array) / sizeof *(array)
#define RECORD(array) .shape = ANSWER_RECORD, COLUMNS(array)

/* ---- Inputs; in braces, so that `.required = true` may follow. */

#define FIELD(field_type, place, field_name, text)                                                           \
    .name = (field_name), .in = (place), .type = (field_type), .help = (text)
#define TEXT_FIELD(place, field_name, bytes_max, text)                                                       \
    FIELD(FIELD_TEXT, place, field_name, text), .max = (bytes_max)
#define INT_FIELD(place, field_name, least, most, text)                                                      \
    FIELD(FIELD_INT, place, field_name, text), .min = (least), .max = (most)
#define DURATION_FIELD(place, field_name, least, most, text)                                                 \
    FIELD(FIELD_DURATION, place, field_name, text), .min = (least), .max = (most)
#define TIME_FIELD(place, field_name, text) FIELD(FIELD_TIME, place, field_name, text), .min = 1
#define CHOICE_FIELD(place, field_name, words, text)                                                         \
    FIELD(FIELD_CHOICE, place, field_name, text), .choices = (words)
#define BOOL_FIELD(place, field_name, text) FIELD(FIELD_BOOL, place, field_name, text)

#define FIELD_ROW_NAME(text)                                                                                 \
    { TEXT_FIELD(IN_PATH, "name", PAWL_STREAM_BYTES_MAX, text), .required = true }
#define FIELD_ROW_NUMBER(key, text)                                                                          \
    { INT_FIELD(IN_PATH, key, 1, 0, text), .required = true }
#define MESSAGE_ID_FIELD                                                                                     \
    FIELD(FIELD_ID, IN_PATH, "id", "The id, or at least its first 8 characters if they are unique.")
#define FIELD_ROW_MESSAGE_ID                                                                                 \
    { MESSAGE_ID_FIELD, .required = true }
#define KIND_CHOICES "outbox|inbox|perspective"
#define FIELD_ROW_KIND(place)                                                                                \
    { CHOICE_FIELD(place, "kind", KIND_CHOICES, "Only of this kind.") }

#define FIELD_ROW_DRY_RUN(place)                                                                             \
    { BOOL_FIELD(place, "dry_run", "Show what would be done and change nothing.") }

/* Flags that only a terminal has. */
#define FLAG_YES                                                                                             \
    { BOOL_FIELD(IN_TERMINAL, "yes", "Do not ask for confirmation.") }
#define FLAG_DRY_RUN FIELD_ROW_DRY_RUN(IN_TERMINAL)
#define FLAG_WATCH                                                                                           \
    { BOOL_FIELD(IN_TERMINAL, "watch", "Show it every second until it ends.") }

#endif
