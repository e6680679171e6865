/* One operation: what a person or a program can ask for. Commands, routes, help, completions and the OpenAPI
 * document are made from tables of these; a row may be only a command or only a route. */
#ifndef OPERATIONS_FRONT_OPERATION_H
#define OPERATIONS_FRONT_OPERATION_H

#include "base/limits.h"
#include "base/options/options.h"
#include "operations/front/flags.h"
#include "operations/front/request.h"

struct cli;
struct call;

enum http_method { METHOD_GET, METHOD_POST, METHOD_PUT, METHOD_DELETE, METHOD_COUNT };

/* The role a caller needs. An operator may do everything a viewer may; a worker may only use leases. */
enum credential { CREDENTIAL_NONE, CREDENTIAL_VIEWER, CREDENTIAL_OPERATOR, CREDENTIAL_WORKER };

enum field_place { IN_QUERY, IN_PATH, IN_BODY };

enum field_type {
    FIELD_TEXT,
    FIELD_INT,
    FIELD_BOOL,
    FIELD_UUID,
    FIELD_ID, /* a UUID, or a unique beginning of one */
    FIELD_CHOICE,
    FIELD_CURSOR, /* what an earlier page gave as `next` */
    FIELD_JSON,   /* any JSON value */
    FIELD_OBJECT,
    FIELD_TEXTS, /* array of text */
    FIELD_INTS,
    FIELD_UUIDS,
    FIELD_OBJECTS
};

/* One input over HTTP; unlisted ones are refused. */
struct field {
    const char *name;
    enum field_place in;
    enum field_type type;
    bool required;
    const char *choices; /* FIELD_CHOICE: "outbox|inbox" */
    int64_t min, max;    /* FIELD_INT; FIELD_TEXT: bytes; arrays: items. max 0 = the type's own limit */
    const char *help;
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
    const char *summary;     /* one line, no full stop */
    operation_run *run;      /* what both fronts can do; NULL: terminal or serve does it */
    enum answer_shape shape; /* over HTTP; the columns are those of the rows */
    const struct column *columns;
    size_t column_count;

    /* ---- The command */
    const char *command;   /* "dead redrive"; NULL: there is none */
    const char *alias;     /* a shorter path for the same command: "dead"; NULL: none */
    const char *arguments; /* "TYPE [PAYLOAD]", "ID..."; NULL: none; says also how many it takes */
    int arguments_max;     /* of "ID...", when not PAWL_ARGUMENTS_MAX */
    bool arguments_optional;
    flag_bits flags;      /* FLAG_BIT()s it takes */
    bool limit_other;     /* --limit is not the number of rows of its list */
    uint64_t options;     /* OPTION_BIT()s it takes besides those of every command */
    operation_run *check; /* of its words, before a database is opened; NULL: none */
    enum database_need database;
    bool writes;         /* it changes the database: a lost answer is not "nothing happened" */
    const char *details; /* paragraphs for the help; NULL: none */
    const char *example; /* command lines, one per line */
    const char *empty;   /* what a table says that has no rows */
    pawl_status (*terminal)(struct cli *cli, pawl_error *err); /* instead of run; NULL: none */

    /* ---- The route */
    enum http_method method;
    const char *path;          /* "/v1/messages/{id}"; NULL: there is none */
    const char *route_summary; /* where the command's would be wrong; NULL: it has the same */
    const char *id;            /* operationId */
    const char *tag;
    enum credential credential;
    enum route_pool pool;
    const struct field *fields;
    size_t field_count;
    int status;     /* of success; 0 = 200 */
    bool unaudited; /* it changes something, but as part of the work, not as an action of a person */
    pawl_status (*serve)(struct call *call, pawl_error *err); /* instead of run; NULL: none */
};

struct operation_table {
    const struct operation *rows;
    size_t count;
};

#define OPERATION_TABLE(array)                                                                               \
    { (array), sizeof(array) / sizeof *(array) }

/* In the tables. */
#define COMMAND(words, text) .command = (words), .summary = (text)
#define ROUTE(route_method, route_path, route_id, route_tag)                                                 \
    .method = (route_method), .path = (route_path), .id = (route_id), .tag = (route_tag)
#define READS(route_path, route_id, route_tag)                                                               \
    ROUTE(METHOD_GET, route_path, route_id, route_tag), .credential = CREDENTIAL_VIEWER
#define ACTS(route_method, route_path, route_id, route_tag)                                                  \
    ROUTE(route_method, route_path, route_id, route_tag), .credential = CREDENTIAL_OPERATOR
#define POSTS(route_path, route_id, route_tag) ACTS(METHOD_POST, route_path, route_id, route_tag)
#define PUTS(route_path, route_id, route_tag) ACTS(METHOD_PUT, route_path, route_id, route_tag)
/* The status says it all. */
#define DELETES(route_path, route_id, route_tag)                                                             \
    ACTS(METHOD_DELETE, route_path, route_id, route_tag), .shape = ANSWER_EMPTY, .status = 204
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
#define CHOICE_FIELD(place, field_name, words, text)                                                         \
    FIELD(FIELD_CHOICE, place, field_name, text), .choices = (words)

#define FIELD_ROW_LIMIT                                                                                      \
    { INT_FIELD(IN_QUERY, "limit", 1, PAWL_HTTP_LIST_MAX, "At most this many rows.") }
#define FIELD_ROW_CURSOR                                                                                     \
    { FIELD(FIELD_CURSOR, IN_QUERY, "cursor", "The `next` of the page before."), .max = 4096 }
#define FIELD_ROW_NAME(text)                                                                                 \
    { TEXT_FIELD(IN_PATH, "name", PAWL_STREAM_BYTES_MAX, text), .required = true }
#define FIELD_ROW_NUMBER(key, text)                                                                          \
    { INT_FIELD(IN_PATH, key, 1, 0, text), .required = true }
#define FIELD_ROW_MESSAGE_ID                                                                                 \
    {                                                                                                        \
        FIELD(FIELD_ID, IN_PATH, "id", "The id, or at least its first 8 characters if they are unique."),    \
            .required = true                                                                                 \
    }
#define KIND_CHOICES "outbox|inbox|perspective"

#endif
