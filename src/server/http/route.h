/* One route of the HTTP API: parsing, checks and the OpenAPI document all follow from these tables. */
#ifndef SERVER_HTTP_ROUTE_H
#define SERVER_HTTP_ROUTE_H

#include "operations/request.h"
#include "pawl.h"
#include "view/output/output.h"

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

/* One input; unlisted ones are refused. */
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

/* Who runs the handler. */
enum route_pool {
    POOL_STORE, /* a thread with a store of the server's role */
    POOL_LEASE, /* a thread with a store of the worker's role */
    POOL_LOOP   /* the loop itself: no store, no waiting */
};

struct route {
    enum http_method method;
    const char *path; /* "/v1/messages/{id}" */
    enum credential credential;
    enum route_pool pool;
    const char *name; /* operationId */
    const char *tag;
    const char *summary; /* one line, no full stop */
    const struct field *fields;
    size_t field_count;
    enum answer_shape shape;
    const struct column *columns;
    size_t column_count;
    int status;     /* of success; 0 = 200 */
    bool unaudited; /* it changes something, but as part of the work, not as an action of a person */
    operation_run *operation; /* what both fronts can do; NULL: run does it */
    pawl_status (*run)(struct call *call, pawl_error *err);
};

#define FIELDS(array) .fields = (array), .field_count = sizeof(array) / sizeof *(array)
#define COLUMNS(array) .columns = (array), .column_count = sizeof(array) / sizeof *(array)

/* Each file of handlers has one such table; routes.c lists them. */
struct route_table {
    const struct route *routes;
    size_t count;
};

extern const struct route_table *const route_tables[];
extern const size_t route_tables_count;

extern const struct route_table health_routes;
extern const struct route_table metrics_routes;
extern const struct route_table session_routes;
extern const struct route_table status_routes;
extern const struct route_table message_routes;
extern const struct route_table dead_routes;
extern const struct route_table fleet_routes;
extern const struct route_table event_routes;
extern const struct route_table perspective_routes;
extern const struct route_table receptor_routes;
extern const struct route_table job_routes;
extern const struct route_table task_routes;
extern const struct route_table schedule_routes;
extern const struct route_table note_routes;
extern const struct route_table tool_routes;
extern const struct route_table operation_routes;
extern const struct route_table run_routes;
extern const struct route_table doctor_routes;
extern const struct route_table lease_routes;
extern const struct route_table alert_routes;

const char *method_name(enum http_method method);
const char *credential_name(enum credential credential);

enum { ROUTE_PARTS_MAX = 8 };

/* The result of looking up a path. */
struct route_match {
    const struct route *route;       /* NULL: none for this method */
    unsigned methods;                /* bits of the methods that the path has; 0: no such path */
    pawl_str parts[ROUTE_PARTS_MAX]; /* the {…} of the path in order, as they were sent */
    size_t part_count;
};

/* A literal segment wins over a {…}. lease_api: whether the routes of workers exist. */
struct route_match route_find(const char *method, pawl_str path, bool lease_api);

#endif
