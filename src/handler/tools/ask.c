/* Asking several MCP servers in parallel for their tools. */
#include "base/str.h"
#include "base/time/clock.h"
#include "handler/tools/int.h"

enum { ASK_MAX = 16 /* servers at the same time */ };

/* One server that is asked. */
struct asked {
    struct tool_server *server;
    const struct stop_limit *wait;
    pthread_t thread;
};

void tools_limit(struct tools *tools, int64_t list_ms) { tools->list_ms = list_ms; }

void tools_log(struct tools *tools, struct log *log) {
    for (size_t i = 0; i < tools->server_count; i++)
        tools->servers[i].config.log = log;
    if (tools->pipes != NULL)
        pipes_log(tools->pipes, log);
}

struct stop_limit tools_wait(const struct tools *tools, const stop_flag *cancel) {
    int64_t list_ms = tools != NULL && tools->list_ms > 0 ? tools->list_ms : TOOLS_LIST_MS;
    return (struct stop_limit){clock_boot_ms() + list_ms, cancel};
}

static void *ask_main(void *self) {
    struct asked *asked = self;
    struct tool_set *set = NULL;
    pawl_error why = {0};
    pawl_status status = tools_mcp_set(asked->server, asked->wait, &set, &why);
    (void)status; /* looking up one of its tools reports it */
    return NULL;
}

static bool is_wanted(struct tools *tools, const struct tool_server *server, const pawl_str *uses,
                      size_t count) {
    bool wanted = count == 0;
    for (size_t i = 0; !wanted && i < count; i++) {
        pawl_str name;
        wanted = tools_server_of(tools, uses[i], &name) == server;
    }
    return wanted;
}

void tools_ask(struct tools *tools, const pawl_str *uses, size_t count, const struct stop_limit *wait) {
    struct asked asked[ASK_MAX];
    size_t at = 0;
    while (at < tools->server_count) {
        size_t running = 0;
        for (; at < tools->server_count && running < ASK_MAX; at++) {
            struct tool_server *server = &tools->servers[at];
            asked[running] = (struct asked){.server = server, .wait = wait};
            if (!tools_mcp_known(server) && is_wanted(tools, server, uses, count) &&
                pthread_create(&asked[running].thread, NULL, ask_main, &asked[running]) == 0)
                running++;
        }
        while (running > 0) /* each returns by the deadline */
            pthread_join(asked[--running].thread, NULL);
    }
}
