/* Shared by the files of the MCP client only: the client, and one exchange. */
#ifndef HANDLER_MCP_INT_H
#define HANDLER_MCP_INT_H

#include "base/buf.h"
#include "handler/mcp/mcp.h"
#include "process/lines.h"

#define MCP_VERSION_HANDSHAKE "2025-11-25"
#define MCP_VERSION_STATELESS "2026-07-28"

enum { MCP_SESSION_ID_BYTES = 256, MCP_SERVER_NAME_BYTES = 128 };

struct mcp_session {
    const struct mcp_config *config;
    enum mcp_era era;
    int64_t last_id;
    bool broken, forgotten;
    bool unanswered; /* the last request was sent, but its outcome is unknown */
    bool tools_changed;
    char server[MCP_SERVER_NAME_BYTES];
    struct arena *scratch; /* one message at a time */
    /* A program. */
    struct child child;
    struct lines lines;
    /* An address. */
    struct http_client *client, *side; /* side: for messages that must be sent while an answer streams in */
    char session_id[MCP_SESSION_ID_BYTES];
    char version[32];
};

/* One request while it waits for its answer. */
struct mcp_exchange {
    int64_t id; /* 0 = a notification, which has no answer */
    const char *method;
    pawl_str name;                     /* of the tool; absent = none */
    pawl_str text;                     /* the whole message */
    const struct http_header *headers; /* Mcp-Param-… */
    size_t header_count;
    struct stop_limit wait;
    struct arena *arena;
    /* Out. */
    const struct tree *answer; /* the message that answers it */
    size_t bytes, messages, requests, noise;
    bool sent;       /* it was sent completely, and the server has not refused it */
    int http_status; /* of the answer */
};

/*
 * One message that arrived. *mine is set when it is the answer (then exchange->answer is). Requests from the
 * server are refused; the refusal is appended to reply. A protocol violation is PAWL_UNAVAILABLE, and the
 * session cannot be used any more.
 */
PAWL_MUSTCHECK pawl_status mcp_take(struct mcp_session *session, struct mcp_exchange *exchange, pawl_str text,
                                    struct buf *reply, bool *mine, pawl_error *err);
/* Counts what a server sends; too much is an error. */
PAWL_MUSTCHECK pawl_status mcp_count(struct mcp_session *session, struct mcp_exchange *exchange, size_t bytes,
                                     pawl_error *err);
PAWL_MUSTCHECK pawl_status mcp_fault(struct mcp_session *session, const char *what, pawl_error *err);

/* One page of tools/list; an absent cursor asks for the first. */
PAWL_MUSTCHECK pawl_status mcp_list_page(struct mcp_session *session, pawl_str cursor,
                                         const struct stop_limit *wait, struct arena *arena,
                                         const struct tree **result, pawl_error *err);

PAWL_MUSTCHECK pawl_status mcp_stdio_open(struct mcp_session *session, pawl_error *err);
PAWL_MUSTCHECK pawl_status mcp_stdio_exchange(struct mcp_session *session, struct mcp_exchange *exchange,
                                              pawl_error *err);
void mcp_stdio_close(struct mcp_session *session, int64_t grace_ms);

PAWL_MUSTCHECK pawl_status mcp_http_open(struct mcp_session *session, pawl_error *err);
PAWL_MUSTCHECK pawl_status mcp_http_exchange(struct mcp_session *session, struct mcp_exchange *exchange,
                                             pawl_error *err);
void mcp_http_close(struct mcp_session *session);

/* A header value for the newer protocol: plain, or =?base64?…?= if plain text would not survive. In the
 * arena. */
PAWL_MUSTCHECK pawl_status mcp_header_value(struct arena *arena, pawl_str text, pawl_str *value,
                                            pawl_error *err);
/* The Mcp-Param-… headers that a tool's schema asks for. Room for HTTP_HEADERS_MAX / 2. */
PAWL_MUSTCHECK pawl_status mcp_param_headers(struct arena *arena, const struct mcp_call *call,
                                             struct http_header *headers, size_t *count, pawl_error *err);

#endif
