/* The registry of tools. */
#include "handler/tools/tools.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "base/utf8.h"
#include "handler/tools/int.h"

const char *tool_kind_name(enum tool_kind kind) {
    static const char *const names[] = {"", "process", "http", "function", "mcp"};
    return names[kind];
}

pawl_status tools_create(const char *name, struct tools **tools, pawl_error *err) {
    struct tools *made = calloc(1, sizeof(*made));
    if (made != NULL) {
        pthread_mutex_init(&made->lock, NULL);
        made->arena = arena_create(0);
        made->items = calloc(TOOLS_MAX, sizeof(*made->items));
        made->servers = calloc(TOOLS_SERVERS_MAX, sizeof(*made->servers));
    }
    if (made == NULL || made->arena == NULL || made->items == NULL || made->servers == NULL) {
        tools_free(made);
        return error_no_memory(err, "tools");
    }
    pawl_status status = launcher_create(name, LAUNCHER_OWN_THREAD, &made->launcher, err);
    if (status != PAWL_OK) {
        tools_free(made);
        return status;
    }
    *tools = made;
    return PAWL_OK;
}

void tools_free(struct tools *tools) {
    if (tools == NULL)
        return;
    for (size_t i = 0; i < tools->server_count; i++)
        tools_server_close(&tools->servers[i]);
    for (size_t i = 0; tools->items != NULL && i < tools->count; i++)
        schema_free(tools->items[i].input);
    for (int i = 0; i < tools->client_count; i++)
        http_client_free(tools->clients[i]);
    pipes_free(tools->pipes);
    launcher_free(tools->launcher);
    arena_free(tools->arena);
    free(tools->items);
    free(tools->servers);
    pthread_mutex_destroy(&tools->lock);
    free(tools);
}

struct launcher *tools_launcher(struct tools *tools) {
    return tools->launcher;
}

struct pipes *tools_pipes(struct tools *tools) {
    return tools->pipes;
}

struct tool_server *tools_server_of(struct tools *tools, pawl_str uses, pawl_str *tool) {
    for (size_t i = 0; i < tools->server_count; i++) {
        pawl_str name = str_from(tools->servers[i].config.name);
        if (uses.len > name.len + 1 && str_starts_with(uses, name) && uses.ptr[name.len] == '.') {
            *tool = (pawl_str){uses.ptr + name.len + 1, uses.len - name.len - 1};
            return &tools->servers[i];
        }
    }
    return NULL;
}

static struct tool *find(struct tools *tools, pawl_str name) {
    for (size_t i = 0; i < tools->count; i++) {
        if (str_equal(tools->items[i].name, name))
            return &tools->items[i];
    }
    return NULL;
}

static pawl_status unknown(const struct tools *tools, pawl_str uses, pawl_error *err) {
    return error_set(err, PAWL_NOT_FOUND, "tools",
                     "there is no tool '%.*s'; %zu tools and %zu MCP servers are registered: pawl tool list "
                     "shows them",
                     STR_ARG(uses), tools->count, tools->server_count);
}

pawl_status tools_add_function(struct tools *tools, const struct tool_function_new *in, pawl_error *err) {
    struct tool tool = {.kind = TOOL_FUNCTION, .function = in->function, .self = in->self};
    if (tools->count == TOOLS_MAX)
        return error_set(err, PAWL_INVALID, "tools", "there are %d tools already, which is the most",
                         TOOLS_MAX);
    if (find(tools, str_from(in->name)) != NULL)
        return error_set(err, PAWL_CONFLICT, "tools", "the tool %s is registered already", in->name);
    pawl_status status = str_dup(tools->arena, str_from(in->name), &tool.name, err);
    if (status == PAWL_OK)
        status = str_dup(tools->arena, str_from(in->description), &tool.description, err);
    if (status == PAWL_OK && in->input != NULL)
        status = schema_compile_text(str_from(in->input), NULL, &tool.input, err);
    if (status == PAWL_OK)
        tools->items[tools->count++] = tool;
    return status;
}

static void info_of(const struct tool *tool, struct tool_info *info) {
    *info = (struct tool_info){.name = tool->name,
                               .kind = tool->kind,
                               .description = tool->description,
                               .input = tool->input,
                               .scopes = tool->scopes,
                               .scope_count = tool->scope_count};
}

pawl_status tools_find(struct tools *tools, pawl_str uses, const struct stop_limit *wait,
                       struct tool_info *info, pawl_error *err) {
    const struct tool *tool = find(tools, uses);
    pawl_str name = {NULL, 0};
    if (tool != NULL) {
        info_of(tool, info);
        return PAWL_OK;
    }
    struct tool_server *server = tools_server_of(tools, uses, &name);
    return server != NULL ? tools_mcp_find(server, name, wait, info, err) : unknown(tools, uses, err);
}

pawl_status tools_call(struct tools *tools, const struct tool_call *call, struct arena *arena,
                       struct tool_answer *answer, pawl_error *err) {
    const struct tool *tool = find(tools, call->uses);
    pawl_str name = {NULL, 0};
    answer->retry_after_ms = -1;
    answer->throttled = false;
    if (stop_read(call->cancel) != STOP_NONE)
        return error_set(err, PAWL_STALE, "tools", "the call of %.*s was cancelled", STR_ARG(call->uses));
    if (tool == NULL) {
        struct tool_server *server = tools_server_of(tools, call->uses, &name);
        return server != NULL ? tools_mcp_call(server, name, call, arena, answer, err)
                              : unknown(tools, call->uses, err);
    }
    if (tool->input != NULL) {
        pawl_error why = {0};
        pawl_status status = schema_validate(tool->input, call->arguments, &why);
        if (status != PAWL_OK)
            return error_set(err, status, "tools", "the arguments of %.*s are wrong: %s", STR_ARG(call->uses),
                             why.text);
    }
    switch (tool->kind) {
    case TOOL_PROCESS:
        return tools_process_call(tools, tool, call, arena, answer, err);
    case TOOL_HTTP:
        return tools_http_call(tools, tool, call, arena, answer, err);
    case TOOL_FUNCTION:
    case TOOL_MCP:
        break;
    }
    return tool->function(tool->self, call, arena, &answer->output, err);
}

pawl_status tools_output(struct arena *arena, pawl_str text, const struct tree **output, pawl_error *err) {
    const struct tree *made = NULL;
    text = str_trim(text);
    if (text.len == 0)
        made = tree_scalar(arena, TREE_NULL, (pawl_str){NULL, 0});
    else if (tree_parse(arena, text, NULL, &made, NULL) != PAWL_OK) {
        char *clean = arena_copy(arena, text.ptr, text.len);
        for (size_t i = 0; clean != NULL && i < text.len; i++) {
            if (clean[i] == '\0')
                clean[i] = ' '; /* no database takes it */
        }
        if (clean != NULL && !utf8_valid((pawl_str){clean, text.len}, false, NULL))
            return error_set(err, PAWL_INVALID, "tools", "the output is neither JSON nor UTF-8 text");
        struct tree *string = clean != NULL ? tree_scalar(arena, TREE_STRING, (pawl_str){clean, text.len})
                                            : NULL;
        made = string != NULL ? tree_of_pairs(arena, &(struct tree_pair){"text", string}, 1) : NULL;
    }
    if (made == NULL)
        return error_no_memory(err, "tools");
    *output = made;
    return PAWL_OK;
}

/* A server's rows, or one row that says why there are none. */
static pawl_status list_server(struct tool_server *server, const struct stop_limit *wait, struct arena *arena,
                               struct tools_row *rows, size_t *count, pawl_error *err) {
    struct tool_set *set = NULL;
    pawl_error why = {0};
    pawl_status status = tools_mcp_set(server, wait, &set, &why);
    if (status == PAWL_OK) {
        for (size_t i = 0; i < set->tools.count; i++) {
            struct tools_row *row = &rows[(*count)++];
            *row = (struct tools_row){.server = server->config.name};
            tools_mcp_info(server, set, i, &row->info);
            char *name = arena_printf(arena, "%s.%.*s", server->config.name, STR_ARG(row->info.name));
            if (name == NULL)
                return error_no_memory(err, "tools");
            row->info.name = str_from(name);
        }
        return PAWL_OK;
    }
    struct tools_row *row = &rows[(*count)++];
    *row = (struct tools_row){.server = server->config.name, .error = arena_strdup(arena, why.text)};
    row->info.name = str_from(server->config.name);
    row->info.kind = TOOL_MCP;
    return row->error != NULL ? PAWL_OK : error_no_memory(err, "tools");
}

pawl_status tools_list(struct tools *tools, const struct stop_limit *wait, struct arena *arena,
                       struct tools_row **rows, size_t *count, pawl_error *err) {
    size_t most = tools->count + tools->server_count * MCP_TOOLS_MAX, made = 0;
    struct tools_row *list = arena_array(arena, most + 1, sizeof(*list));
    if (list == NULL)
        return error_no_memory(err, "tools");
    for (size_t i = 0; i < tools->count; i++)
        info_of(&tools->items[i], &list[made++].info);
    pawl_status status = PAWL_OK;
    tools_ask(tools, NULL, 0, wait);
    for (size_t i = 0; status == PAWL_OK && i < tools->server_count; i++)
        status = list_server(&tools->servers[i], wait, arena, list, &made, err);
    if (status == PAWL_OK) {
        *rows = list;
        *count = made;
    }
    return status;
}

pawl_status tools_ping(struct tools *tools, pawl_str server, const struct stop_limit *wait,
                       struct arena *arena, struct tools_ping **pings, size_t *count, pawl_error *err) {
    struct tools_ping *list = arena_array(arena, tools->server_count + 1, sizeof(*list));
    size_t made = 0;
    if (list == NULL)
        return error_no_memory(err, "tools");
    tools_ask(tools, &server, str_absent(server) ? 0 : 1, wait);
    for (size_t i = 0; i < tools->server_count; i++) {
        struct tool_server *one = &tools->servers[i];
        if (!str_absent(server) && !str_equal(server, str_from(one->config.name)))
            continue;
        pawl_error why = {0};
        list[made] = (struct tools_ping){.name = one->config.name, .era = "", .server = ""};
        list[made].status = tools_mcp_ping(one, wait, &list[made], arena, &why);
        if (list[made].status != PAWL_OK)
            list[made].error = arena_strdup(arena, why.text);
        made++;
    }
    if (made == 0 && !str_absent(server))
        return error_set(err, PAWL_NOT_FOUND, "tools", "there is no MCP server '%.*s'", STR_ARG(server));
    *pings = list;
    *count = made;
    return PAWL_OK;
}

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
