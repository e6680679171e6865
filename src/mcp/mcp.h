/* pawl as a server of the Model Context Protocol: the operations as tools, one message at a time, whichever
 * transport carries them. */
#ifndef MCP_MCP_H
#define MCP_MCP_H

#include "base/json/json.h"
#include "operations/front/operation.h"

enum {
    MCP_MESSAGE_BYTES_MAX = 1048576, /* one message to us */
    MCP_PAGE_BYTES_MAX = 65536,      /* a page of a list: fewer rows when they are big */
    MCP_RECORD_BYTES_MAX = 1048576,  /* an answer that cannot be divided */
    MCP_ROWS_DEFAULT = 25,           /* of a page */
    MCP_TOOLS_PAGE = 50,             /* of tools/list */
    MCP_WAITING_MAX = 64,            /* requests of one connection that wait at the same time */
    MCP_LOOK_MS = 250,               /* between two looks at something that is waited for */
    MCP_NAME_BYTES = 64,             /* of a tool */
    MCP_PROGRESS_BYTES = 256,
    MCP_REPORT_MS = 5000 /* progress is reported when it changes, and at least this often */
};

/* Who is at the other end. */
struct mcp_peer {
    enum role role; /* viewer or operator: what it may do at most */
    pawl_str agent; /* whose scopes narrow that; absent: none */
    bool remembers; /* one connection, one client: it must introduce itself first (older protocol) */
    bool greeted;   /* it has */
};

/* What HTTP says about a message besides its body; NULL = the header is missing. */
struct mcp_headers {
    const char *version, *method, *name;
};

/* One message from its text to its answer. */
struct mcp_message {
    struct arena *arena;   /* lives as long as the message */
    struct arena *scratch; /* of one step */
    struct mcp_peer *peer;
    const struct mcp_headers *headers; /* NULL: there are none */
    const struct tree *id;             /* NULL: a notification */
    const struct tree *params, *meta;  /* NULL: none */
    pawl_str method;
    bool modern; /* 2026-07-28: no handshake */
    /* A tool call. */
    const struct operation *operation;
    struct value *values;
    int limit; /* rows of a page */
    int64_t wait_until_ms;
    bool waits; /* not answered yet: mcp_step again in MCP_LOOK_MS */
    char wait_for[MCP_NAME_BYTES];
    char progress[MCP_PROGRESS_BYTES]; /* what is known of it */
    char reported[MCP_PROGRESS_BYTES]; /* the same as it was told last */
    int64_t reported_ms;
    unsigned progressed;
    struct buf answer; /* what the operation answers */
    size_t rows;
    const struct column *columns;
    size_t column_count;
    const struct request *host; /* whose store, tools, … it uses; while it runs */
    /* Out. */
    struct buf out; /* the answer, one line of JSON; empty: there is none */
    int status;     /* of HTTP */
};

/* Reads the text; what is wrong with it is answered. Free with mcp_message_free. */
void mcp_message_read(struct mcp_message *message, struct mcp_peer *peer, const struct mcp_headers *headers,
                      struct arena *arena, pawl_str text);
void mcp_message_free(struct mcp_message *message);
/* Answers it, or finds that it waits. host: the front that the transport has for operations, and its store.
 */
void mcp_message_step(struct mcp_message *message, const struct request *host);
/* Appends a notification about the progress of what waits, without a line end. False: the client did not ask
 * for it, or there is nothing new. */
bool mcp_message_report(struct mcp_message *message, struct buf *out);

/* Serves standard input and output until the input ends. */
PAWL_MUSTCHECK pawl_status mcp_stdio(const struct request *host, struct mcp_peer *peer, pawl_error *err);

/* ---- Parts */

enum {
    MCP_PARSE_ERROR = -32700,
    MCP_INVALID_REQUEST = -32600,
    MCP_NO_METHOD = -32601,
    MCP_INVALID_PARAMS = -32602,
    MCP_INTERNAL = -32603,
    MCP_NO_RESOURCE = -32002, /* of the older protocol */
    MCP_HEADER_MISMATCH = -32020,
    MCP_NO_VERSION = -32022
};

/* The same with data, JSON; NULL: none. */
void mcp_refuse_with(struct mcp_message *message, int code, int status, const char *text, const char *data);
/* Answers with an error of JSON-RPC; status: of HTTP. */
void mcp_refuse(struct mcp_message *message, int code, int status, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* tools.c: the operations that are tools, in a fixed order. NULL after the last. */
const struct operation *mcp_tool_at(size_t index);
const struct operation *mcp_tool_find(pawl_str name);
/* "job_retry" of "job.retry". */
char *mcp_tool_name(const struct operation *operation, char name[static MCP_NAME_BYTES]);
bool mcp_tool_changes(const struct operation *operation);
void mcp_tools_list(struct mcp_message *message, struct json_writer *json);

/* authority.c: whether the peer may; PAWL_CONFLICT says what it lacks and who can grant it, and is kept. */
PAWL_MUSTCHECK pawl_status mcp_may(struct mcp_message *message, const struct operation *operation,
                                   pawl_error *err);
/* The scopes of the peer's agent, a JSON array; absent if there is no agent. PAWL_CONFLICT: it is gone or
 * disabled. */
PAWL_MUSTCHECK pawl_status mcp_scopes(struct mcp_message *message, pawl_str *scopes, pawl_error *err);
bool mcp_covers(pawl_str scopes, const struct operation *operation);
PAWL_MUSTCHECK pawl_status mcp_audit(struct mcp_message *message, pawl_error *err);

/* call.c */
void mcp_tools_call(struct mcp_message *message, struct json_writer *json);
/* Runs an operation; its answer is in message->answer, unless it waits. */
PAWL_MUSTCHECK pawl_status mcp_run(struct mcp_message *message, pawl_error *err);
/* Reads the arguments of an operation. */
PAWL_MUSTCHECK pawl_status mcp_arguments(struct mcp_message *message, const struct operation *operation,
                                         const struct tree *arguments, pawl_error *err);

/* resources.c */
void mcp_resources_templates(struct mcp_message *message, struct json_writer *json);
void mcp_resources_read(struct mcp_message *message, struct json_writer *json);

#endif
