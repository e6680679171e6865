/* A client of the Model Context Protocol: one server, one session, one request at a time, with limits on
 * everything. */
#ifndef HANDLER_MCP_MCP_H
#define HANDLER_MCP_MCP_H

#include "base/json/tree.h"
#include "base/log.h"
#include "base/stop.h"
#include "http/http.h"
#include "process/launcher.h"

enum {
    MCP_LINE_BYTES_MAX = 8388608,  /* one message */
    MCP_CALL_BYTES_MAX = 33554432, /* everything a server sends while one request waits */
    MCP_MESSAGES_MAX = 10000,      /* the same in messages */
    MCP_REQUESTS_MAX = 100,        /* from the server to us, while one request waits; all are refused */
    MCP_NOISE_MAX = 100,  /* ignored lines of a program that are not messages, while one request waits */
    MCP_PAGES_MAX = 100,  /* of tools/list */
    MCP_TOOLS_MAX = 1000, /* of one server */
    MCP_TOOL_NAME_BYTES_MAX = 128,
    MCP_TOOL_BYTES_MAX = 262144, /* one tool's description with its schema */
    MCP_DISCOVER_MS = 3000,      /* how long a server may take to reject the newer protocol */
    MCP_SETTLE_MS = 500,         /* how long a server may take to show that it survived a cancelled request */
    MCP_RESUMES_MAX = 20,        /* reconnects of one interrupted event stream */
    MCP_RESUME_MS_DEFAULT = 1000,
    MCP_CLOSE_MS = 1000 /* for exiting by itself after its stdin is closed */
};

/* Two generations of the protocol: with a handshake and sessions (up to 2025-11-25), and without
 * (2026-07-28). */
enum mcp_era { MCP_ERA_UNKNOWN = 0, MCP_ERA_HANDSHAKE, MCP_ERA_STATELESS };
const char *mcp_era_name(enum mcp_era era);

struct mcp_config {
    const char *name; /* for errors */
    /* A program that speaks MCP on its stdin and stdout … */
    struct launcher *launcher;
    char *const *argv;
    const struct environment_pair *pairs;
    size_t pair_count;
    /* … or an address. */
    const char *url; /* NULL = a program */
    const struct http_header *headers;
    size_t header_count;
    bool allow_private;
    struct log *log; /* for ignored output; used from any thread; may be NULL */
};

struct mcp_tool {
    pawl_str name;
    pawl_str description;
    const struct tree *input;  /* a JSON Schema */
    const struct tree *object; /* all of it */
    char hash[65];             /* SHA-256 of all of it, independent of the order of members */
};

struct mcp_tools {
    struct mcp_tool *items;
    size_t count;
};

struct mcp_call {
    const struct mcp_tool *tool;
    const struct tree *arguments; /* an object */
    pawl_str traceparent;         /* absent = none */
};

struct mcp_answer {
    const struct tree *result; /* as the server gave it */
    bool is_error;             /* the tool reports that it failed: retrying will not help */
};

struct mcp_session;

/*
 * Starts or reaches the server and detects its generation (a hint saves a request; MCP_ERA_UNKNOWN detects).
 * config must outlive the session. Statuses of all functions here: PAWL_UNAVAILABLE: no usable answer,
 * retrying may help; PAWL_INVALID: the server refuses, retrying will not help; PAWL_STALE: cancelled.
 */
PAWL_MUSTCHECK pawl_status mcp_open(const struct mcp_config *config, enum mcp_era hint,
                                    const struct stop_limit *wait, struct mcp_session **session,
                                    pawl_error *err);
/* Ends the session; a program gets grace_ms to leave. Takes NULL. */
void mcp_close(struct mcp_session *session, int64_t grace_ms);

/* Whether another request may be sent over it. */
bool mcp_usable(const struct mcp_session *session);
/* Whether the server has forgotten the session: the last request was not carried out and may be repeated. */
bool mcp_forgotten(const struct mcp_session *session);
/* Whether the last request was sent but not answered: it may have been carried out. */
bool mcp_unanswered(const struct mcp_session *session);
enum mcp_era mcp_era_of(const struct mcp_session *session);
/* Name and version that the server reports; borrowed. */
const char *mcp_server_name(const struct mcp_session *session);
/* Whether the server said, since the last list, that its tools have changed. */
bool mcp_tools_changed(const struct mcp_session *session);

PAWL_MUSTCHECK pawl_status mcp_list(struct mcp_session *session, const struct stop_limit *wait,
                                    struct arena *arena, struct mcp_tools *tools, pawl_error *err);
PAWL_MUSTCHECK pawl_status mcp_call(struct mcp_session *session, const struct mcp_call *call,
                                    const struct stop_limit *wait, struct arena *arena,
                                    struct mcp_answer *answer, pawl_error *err);
PAWL_MUSTCHECK pawl_status mcp_ping(struct mcp_session *session, const struct stop_limit *wait,
                                    pawl_error *err);

#endif
