/* Shared by the files of the tool registry only. */
#ifndef HANDLER_TOOLS_INT_H
#define HANDLER_TOOLS_INT_H

#include <pthread.h>

#include "domain/failure/retry.h"
#include "handler/mcp/mcp.h"
#include "handler/tools/tools.h"
#include "http/http.h"
#include "process/pipe.h"

/* A tool that is registered by name. */
struct tool {
    pawl_str name;
    enum tool_kind kind;
    pawl_str description;
    struct schema *input; /* owned; NULL = anything */
    pawl_str *scopes;
    size_t scope_count;
    /* A program. */
    char **argv;
    struct environment_pair *pairs;
    size_t pair_count;
    struct pipe *pipe; /* it is kept; NULL = it is started for every call */
    /* An endpoint. */
    const char *url, *secret;
    struct http_header *headers;
    size_t header_count;
    bool allow_private;
    bool by_query; /* GET, the arguments as the query; else they are posted */
    /* A function. */
    tool_function function;
    void *self;
};

/* The tools of a server, as of one reading of its list. */
struct tool_set {
    struct arena *arena;
    struct mcp_tools tools;
    struct schema **schemas; /* compiled at first use, under the server's lock */
    struct tool_set *next;   /* older ones: they may still be in use */
};

struct tool_pin {
    pawl_str name;
    pawl_str hash;
};

struct tool_server {
    struct tools *tools;
    struct mcp_config config;
    pawl_str *scopes;
    size_t scope_count;
    struct tool_pin *pins;
    size_t pin_count;
    int sessions_max;
    pthread_mutex_t lock;
    struct mcp_session *idle[TOOLS_SESSIONS_MAX];
    int idle_count, open_count; /* open: idle and in use */
    enum mcp_era era;
    struct breaker breaker;
    struct tool_set *sets; /* the newest first */
    int set_count;
};

struct tools {
    struct arena *arena;
    struct launcher *launcher;
    struct pipes *pipes; /* of the programs that are kept; NULL: there are none */
    struct tool *items;
    size_t count;
    struct tool_server *servers;
    size_t server_count;
    pthread_mutex_t lock;                            /* of clients */
    struct http_client *clients[TOOLS_SESSIONS_MAX]; /* idle ones, for endpoints */
    int client_count;
    int64_t list_ms; /* 0 = TOOLS_LIST_MS */
};

/* The server of "server.tool", and the tool's own name; NULL = no such server. */
struct tool_server *tools_server_of(struct tools *tools, pawl_str uses, pawl_str *tool);

PAWL_MUSTCHECK pawl_status tools_process_call(struct tools *tools, const struct tool *tool,
                                              const struct tool_call *call, struct arena *arena,
                                              struct tool_answer *answer, pawl_error *err);
PAWL_MUSTCHECK pawl_status tools_http_call(struct tools *tools, const struct tool *tool,
                                           const struct tool_call *call, struct arena *arena,
                                           struct tool_answer *answer, pawl_error *err);
PAWL_MUSTCHECK pawl_status tools_mcp_call(struct tool_server *server, pawl_str name,
                                          const struct tool_call *call, struct arena *arena,
                                          struct tool_answer *answer, pawl_error *err);
PAWL_MUSTCHECK pawl_status tools_mcp_find(struct tool_server *server, pawl_str name,
                                          const struct stop_limit *wait, struct tool_info *info,
                                          pawl_error *err);
bool tools_mcp_known(struct tool_server *server);
/* Makes sure that the tools are known, and returns the newest set. */
PAWL_MUSTCHECK pawl_status tools_mcp_set(struct tool_server *server, const struct stop_limit *wait,
                                         struct tool_set **set, pawl_error *err);
PAWL_MUSTCHECK pawl_status tools_mcp_ping(struct tool_server *server, const struct stop_limit *wait,
                                          struct tools_ping *ping, struct arena *arena, pawl_error *err);
void tools_mcp_info(struct tool_server *server, struct tool_set *set, size_t at, struct tool_info *info);
void tools_server_close(struct tool_server *server);

/* Output as JSON when the text is, else {"text": …}. */
PAWL_MUSTCHECK pawl_status tools_output(struct arena *arena, pawl_str text, const struct tree **output,
                                        pawl_error *err);

#endif
