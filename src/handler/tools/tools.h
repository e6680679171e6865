/* The registry of tools: MCP servers, programs, HTTP endpoints and C functions, all called by name. */
#ifndef HANDLER_TOOLS_TOOLS_H
#define HANDLER_TOOLS_TOOLS_H

#include "base/json/tree.h"
#include "base/log.h"
#include "base/stop.h"
#include "domain/schema/schema.h"
#include "process/pipe.h"

enum {
    TOOLS_MAX = 256,            /* registered by name, without those of MCP servers */
    TOOLS_SERVERS_MAX = 64,     /* MCP servers */
    TOOLS_SESSIONS_DEFAULT = 4, /* of one server at the same time */
    TOOLS_SESSIONS_MAX = 64,
    TOOLS_SETS_MAX = 64, /* how often a server may change its tools while we run */
    TOOLS_OUTPUT_BYTES_MAX = 1048576,
    TOOLS_FILE_BYTES_MAX = 1048576,
    TOOLS_SCOPES_MAX = 16,
    TOOLS_LIST_MS = 10000 /* default time limit for a server's list of tools */
};

enum tool_kind { TOOL_PROCESS = 1, TOOL_HTTP, TOOL_FUNCTION, TOOL_MCP };
const char *tool_kind_name(enum tool_kind kind);

struct tool_call {
    pawl_str uses;                /* its name; "server.tool" for one of an MCP server */
    const struct tree *arguments; /* an object */
    int64_t deadline_ms;          /* boot time */
    const stop_flag *cancel;      /* may be NULL */
    pawl_str traceparent;         /* absent = none */
    pawl_str idempotency_key;     /* the same for every retry of the same call; absent = none */
    void *context;                /* context for functions */
    atomic_llong *not_started_ms; /* set if its program cannot be started here and nothing was tried: how
                                     long the work should wait; may be NULL */
};

struct tool_answer {
    const struct tree *output;
    int64_t retry_after_ms; /* on failure: what the tool asked for; -1 = nothing. Written in every case. */
    bool throttled;         /* on failure: it wants fewer requests (HTTP 429, pawl:snooze) */
    bool begun;             /* on failure: it was called but has not answered, so it may have taken effect */
};

/* A tool in C. Writes *output on success; statuses as tools_call. Any thread. */
typedef pawl_status (*tool_function)(void *self, const struct tool_call *call, struct arena *arena,
                                     const struct tree **output, pawl_error *err);

struct tool_function_new {
    const char *name;
    const char *description;
    const char *input; /* JSON Schema of the arguments; NULL = anything */
    tool_function function;
    void *self;
};

struct tools;

/* name goes into the PAWL_RUN of child processes. */
PAWL_MUSTCHECK pawl_status tools_create(const char *name, struct tools **tools, pawl_error *err);
/* Call before the first request: how long servers may take to list their tools (0 = TOOLS_LIST_MS), and the
 * log for ignored output (it must outlive the tools). */
void tools_limit(struct tools *tools, int64_t list_ms);
void tools_log(struct tools *tools, struct log *log);
void tools_free(struct tools *tools); /* takes NULL; no call may be running */

/* Registration, before the first call. A tools file is described in docs/tools.md; PAWL_INVALID says where it
 * is wrong.
 */
PAWL_MUSTCHECK pawl_status tools_add_file(struct tools *tools, const char *path, pawl_error *err);
PAWL_MUSTCHECK pawl_status tools_add_text(struct tools *tools, pawl_str text, const char *path,
                                          pawl_error *err);
PAWL_MUSTCHECK pawl_status tools_add_function(struct tools *tools, const struct tool_function_new *in,
                                              pawl_error *err);

/* What is known of a tool. Lives as long as the registry. */
struct tool_info {
    pawl_str name; /* as `uses` has it */
    enum tool_kind kind;
    pawl_str description;
    const struct schema *input; /* NULL = anything */
    const pawl_str *scopes;     /* that its use requires */
    size_t scope_count;
    char hash[65]; /* MCP: of its description; else empty */
    bool pinned;
};

/* From now on, as long as tools_set says; cancel may be NULL. */
struct stop_limit tools_wait(const struct tools *tools, const stop_flag *cancel);

/* Asks the servers of these tools for their lists, in parallel and only if not asked yet; count 0 = every
 * server. A failure is reported when one of the server's tools is looked up. */
void tools_ask(struct tools *tools, const pawl_str *uses, size_t count, const struct stop_limit *wait);

/* Looks up a tool by name; a server is asked if its tools are not known yet. PAWL_NOT_FOUND: there is none;
 * PAWL_UNAVAILABLE: its server cannot be reached now. */
PAWL_MUSTCHECK pawl_status tools_find(struct tools *tools, pawl_str uses, const struct stop_limit *wait,
                                      struct tool_info *info, pawl_error *err);

/*
 * Calls a tool. PAWL_INVALID, PAWL_NOT_FOUND, PAWL_CONFLICT (it is not the one that was pinned): retrying
 * will not help; PAWL_UNAVAILABLE, PAWL_BUSY: it may; PAWL_STALE: cancelled. Returns at most 3 s after the
 * deadline, whatever the tool does. Any thread.
 */
PAWL_MUSTCHECK pawl_status tools_call(struct tools *tools, const struct tool_call *call, struct arena *arena,
                                      struct tool_answer *answer, pawl_error *err);

/* All tools, servers asked; a server that cannot be asked is one row with its error. */
struct tools_row {
    struct tool_info info; /* of a server that failed: name and kind only */
    const char *server;    /* NULL = none */
    const char *error;     /* NULL = none */
};
PAWL_MUSTCHECK pawl_status tools_list(struct tools *tools, const struct stop_limit *wait, struct arena *arena,
                                      struct tools_row **rows, size_t *count, pawl_error *err);

/* One MCP server: reachable, by which era, how fast. */
struct tools_ping {
    const char *name;
    const char *era;    /* "" = not reached */
    const char *server; /* what it calls itself */
    int64_t elapsed_us;
    size_t tool_count;
    pawl_status status;
    const char *error; /* NULL = none */
};
PAWL_MUSTCHECK pawl_status tools_ping(struct tools *tools, pawl_str server, const struct stop_limit *wait,
                                      struct arena *arena, struct tools_ping **pings, size_t *count,
                                      pawl_error *err);

/* Of the child processes, for the sweep of orphans. */
struct launcher *tools_launcher(struct tools *tools);
/* The kept programs among them; NULL: there are none. */
struct pipes *tools_pipes(struct tools *tools);

#endif
