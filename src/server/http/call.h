/* A handler's view of one request: its checked values, and the response. */
#ifndef SERVER_HTTP_CALL_H
#define SERVER_HTTP_CALL_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/json/json.h"
#include "base/json/tree.h"
#include "operations/front/request.h"
#include "server/http/route.h"
#include "work/put_spans.h"

struct server;

struct call {
    struct server *server;
    struct store *store; /* NULL for POOL_LOOP */
    struct arena *arena;
    const struct operation *route;
    struct value *values; /* one per input of the route, and an absent one */
    enum role as;
    pawl_str session;        /* the caller's; absent: none */
    pawl_str key;            /* Idempotency-Key; absent: none */
    const char *last_seen;   /* Last-Event-ID; NULL: none */
    const char *accept;      /* NULL: none */
    const char *person;      /* Pawl-Actor; NULL: none */
    const char *traceparent; /* NULL: none */
    const char *tracestate;  /* NULL: none */
    struct {
        const char *agent, *mcp_version, *mcp_method, *mcp_name;
    } about;              /* more headers; NULL: none */
    pawl_str body;        /* of a raw route */
    struct call_mcp *mcp; /* a message of MCP while it lasts; NULL: none */
    struct buf news;      /* what to tell the client while it waits: one line of JSON */
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

/* The value of a field of the route; absent if it has no such field. */
struct value call_value(const struct call *call, const char *name);
/* Whether the caller may see the contents and results of work: a viewer may not, like the database's view
 * role, and with --redact '*' no one may. */
bool call_sees_content(const struct call *call);
/* HTTP as a front of operations (front.c). */
static inline struct call *call_of(const struct request *request) { return request->self; }
struct request http_request(struct call *call);
PAWL_MUSTCHECK pawl_status http_run(struct call *call, operation_run *run, pawl_error *err);

/* api/mcp.c: frees call->mcp. */
void call_mcp_free(struct call *call);

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
