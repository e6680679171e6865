/* Tools of MCP servers: a pool of sessions, cached lists, and a breaker for each server. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "handler/tools/int.h"

enum { LOOK_MS = 20 };

static void set_free(struct tool_set *set) {
    for (size_t i = 0; set->schemas != NULL && i < set->tools.count; i++)
        schema_free(set->schemas[i]);
    arena_free(set->arena);
    free(set);
}

void tools_server_close(struct tool_server *server) {
    for (int i = 0; i < server->idle_count; i++)
        mcp_close(server->idle[i], MCP_CLOSE_MS);
    while (server->sets != NULL) {
        struct tool_set *next = server->sets->next;
        set_free(server->sets);
        server->sets = next;
    }
    pthread_mutex_destroy(&server->lock);
}

static bool same_tools(const struct mcp_tools *a, const struct mcp_tools *b) {
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++)
        same = strcmp(a->items[i].hash, b->items[i].hash) == 0;
    return same;
}

/* Asks for the list; unchanged tools are kept, with their schemas. */
static pawl_status refresh(struct tool_server *server, struct mcp_session *session,
                           const struct stop_limit *wait, pawl_error *err) {
    struct tool_set *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return error_no_memory(err, "tools");
    made->arena = arena_create(0);
    pawl_status status = mcp_list(session, wait, made->arena, &made->tools, err);
    if (status == PAWL_OK) {
        made->schemas = arena_array(made->arena, made->tools.count + 1, sizeof(struct schema *));
        if (made->schemas == NULL)
            status = error_no_memory(err, "tools");
    }
    pthread_mutex_lock(&server->lock);
    bool keep = status == PAWL_OK &&
                (server->sets == NULL || !same_tools(&server->sets->tools, &made->tools));
    if (keep && server->set_count == TOOLS_SETS_MAX) {
        status = error_set(err, PAWL_INVALID, "tools",
                           "the server %s has changed its tools %d times; it is not asked again",
                           server->config.name, TOOLS_SETS_MAX);
        keep = false;
    }
    if (keep) {
        made->next = server->sets;
        server->sets = made;
        server->set_count++;
    }
    pthread_mutex_unlock(&server->lock);
    if (!keep)
        set_free(made);
    return status;
}

/* The outcome of an exchange: only failures of the server itself open the breaker. */
static void report(struct tool_server *server, pawl_status status) {
    pthread_mutex_lock(&server->lock);
    if (status == PAWL_STALE || status == PAWL_NO_MEMORY)
        server->breaker.trying = false;
    else
        (void)breaker_report(&server->breaker, &breaker_rule_default, status != PAWL_UNAVAILABLE,
                             clock_boot_ms(), random_bits());
    pthread_mutex_unlock(&server->lock);
}

static void give(struct tool_server *server, struct mcp_session *session) {
    bool usable = session != NULL && mcp_usable(session);
    pthread_mutex_lock(&server->lock);
    if (usable)
        server->idle[server->idle_count++] = session;
    else
        server->open_count--;
    pthread_mutex_unlock(&server->lock);
    if (!usable)
        mcp_close(session, 0);
}

enum turn { TURN_IDLE, TURN_OPEN, TURN_WAIT, TURN_BROKEN };

/* What to do now: use an idle session, open one, wait for one, or leave the server alone. */
static enum turn take_turn(struct tool_server *server, struct mcp_session **session, int64_t *wait_ms) {
    enum turn turn = TURN_WAIT;
    pthread_mutex_lock(&server->lock);
    bool possible = server->idle_count > 0 || server->open_count < server->sessions_max;
    if (possible && !breaker_allows(&server->breaker, clock_boot_ms(), wait_ms)) {
        turn = TURN_BROKEN;
    } else if (server->idle_count > 0) {
        *session = server->idle[--server->idle_count];
        turn = TURN_IDLE;
    } else if (possible) {
        server->open_count++;
        turn = TURN_OPEN;
    }
    pthread_mutex_unlock(&server->lock);
    return turn;
}

static pawl_status open_session(struct tool_server *server, const struct stop_limit *wait,
                                struct mcp_session **session, pawl_error *err) {
    pawl_status status = mcp_open(&server->config, server->era, wait, session, err);
    if (status == PAWL_OK) {
        pthread_mutex_lock(&server->lock);
        server->era = mcp_era_of(*session);
        pthread_mutex_unlock(&server->lock);
        status = refresh(server, *session, wait, err);
    }
    return status;
}

/* A session whose server's tools are known. retry_after_ms: as tool_answer. */
static pawl_status take(struct tool_server *server, const struct stop_limit *wait,
                        struct mcp_session **session, int64_t *retry_after_ms, pawl_error *err) {
    struct mcp_session *found = NULL;
    enum turn turn;
    int64_t wait_ms = 0;
    pawl_status status = PAWL_OK;
    while ((turn = take_turn(server, &found, &wait_ms)) == TURN_WAIT) {
        if (stop_read(wait->cancel) != STOP_NONE)
            return error_set(err, PAWL_STALE, "tools", "the call was cancelled");
        if (clock_boot_ms() >= wait->deadline_ms)
            return error_set(err, PAWL_BUSY, "tools", "all %d sessions with the server %s were busy",
                             server->sessions_max, server->config.name);
        nanosleep(&(struct timespec){0, LOOK_MS * 1000000L}, NULL);
    }
    if (turn == TURN_BROKEN) {
        *retry_after_ms = wait_ms;
        return error_set(err, PAWL_BUSY, "tools",
                         "the server %s failed %d times in a row and is left alone for %lld ms",
                         server->config.name, server->breaker.failures, (long long)wait_ms);
    }
    if (turn == TURN_IDLE && !mcp_usable(found)) {
        mcp_close(found, 0); /* it exited while it was not in use */
        found = NULL;
        turn = TURN_OPEN;
    }
    if (turn == TURN_OPEN)
        status = open_session(server, wait, &found, err);
    else if (mcp_tools_changed(found))
        status = refresh(server, found, wait, err);
    if (status != PAWL_OK) {
        report(server, status);
        give(server, found);
        return status;
    }
    *session = found;
    return PAWL_OK;
}

static struct tool_set *newest(struct tool_server *server) {
    pthread_mutex_lock(&server->lock);
    struct tool_set *set = server->sets;
    pthread_mutex_unlock(&server->lock);
    return set;
}

bool tools_mcp_known(struct tool_server *server) { return newest(server) != NULL; }

pawl_status tools_mcp_set(struct tool_server *server, const struct stop_limit *wait, struct tool_set **set,
                          pawl_error *err) {
    struct mcp_session *session = NULL;
    int64_t retry_after_ms = -1;
    if (newest(server) == NULL) {
        pawl_status status = take(server, wait, &session, &retry_after_ms, err);
        if (status != PAWL_OK)
            return status;
        report(server, PAWL_OK);
        give(server, session);
    }
    *set = newest(server);
    return PAWL_OK;
}

static pawl_status find_tool(const struct tool_server *server, const struct tool_set *set, pawl_str name,
                             size_t *at, pawl_error *err) {
    for (size_t i = 0; i < set->tools.count; i++) {
        if (str_equal(set->tools.items[i].name, name)) {
            *at = i;
            return PAWL_OK;
        }
    }
    return error_set(err, PAWL_NOT_FOUND, "tools", "the server %s has no tool '%.*s' among its %zu",
                     server->config.name, STR_ARG(name), set->tools.count);
}

/* The schema of its arguments, compiled once. */
static pawl_status schema_of(struct tool_server *server, struct tool_set *set, size_t at,
                             const struct schema **schema, pawl_error *err) {
    pawl_error why = {0};
    struct schema_config config = {.ignore_formats = true};
    pthread_mutex_lock(&server->lock);
    pawl_status status = set->schemas[at] != NULL
                             ? PAWL_OK
                             : schema_compile(set->tools.items[at].input, &config, &set->schemas[at], &why);
    *schema = set->schemas[at];
    pthread_mutex_unlock(&server->lock);
    if (status != PAWL_OK)
        return error_set(err, PAWL_INVALID, "tools",
                         "the schema of the tool %.*s of the server %s cannot be used: %s",
                         STR_ARG(set->tools.items[at].name), server->config.name, why.text);
    return PAWL_OK;
}

static const struct tool_pin *pin_of(const struct tool_server *server, pawl_str name) {
    for (size_t i = 0; i < server->pin_count; i++) {
        if (str_equal(server->pins[i].name, name))
            return &server->pins[i];
    }
    return NULL;
}

static pawl_status check_pin(const struct tool_server *server, const struct mcp_tool *tool, pawl_error *err) {
    const struct tool_pin *pin = pin_of(server, tool->name);
    if (pin == NULL || str_equal_cstr(pin->hash, tool->hash))
        return PAWL_OK;
    return error_set(
        err, PAWL_CONFLICT, "tools",
        "the tool %.*s of the server %s is not the one that was pinned: its hash is %s; look at it, "
        "then pin that",
        STR_ARG(tool->name), server->config.name, tool->hash);
}

void tools_mcp_info(struct tool_server *server, struct tool_set *set, size_t at, struct tool_info *info) {
    const struct mcp_tool *tool = &set->tools.items[at];
    *info = (struct tool_info){.name = tool->name,
                               .kind = TOOL_MCP,
                               .description = tool->description,
                               .scopes = server->scopes,
                               .scope_count = server->scope_count,
                               .pinned = pin_of(server, tool->name) != NULL};
    memcpy(info->hash, tool->hash, sizeof(info->hash));
}

pawl_status tools_mcp_find(struct tool_server *server, pawl_str name, const struct stop_limit *wait,
                           struct tool_info *info, pawl_error *err) {
    struct tool_set *set = NULL;
    size_t at = 0;
    const struct schema *schema = NULL;
    pawl_status status = tools_mcp_set(server, wait, &set, err);
    if (status == PAWL_OK)
        status = find_tool(server, set, name, &at, err);
    if (status == PAWL_OK)
        status = check_pin(server, &set->tools.items[at], err);
    if (status == PAWL_OK)
        status = schema_of(server, set, at, &schema, err);
    if (status == PAWL_OK) {
        tools_mcp_info(server, set, at, info);
        info->input = schema;
    }
    return status;
}

pawl_status tools_mcp_ping(struct tool_server *server, const struct stop_limit *wait, struct tools_ping *ping,
                           struct arena *arena, pawl_error *err) {
    struct mcp_session *session = NULL;
    int64_t retry_after_ms = -1;
    pawl_status status = take(server, wait, &session, &retry_after_ms, err);
    if (status != PAWL_OK)
        return status;
    int64_t began_us = clock_boot_us();
    status = mcp_ping(session, wait, err);
    ping->elapsed_us = clock_boot_us() - began_us;
    ping->era = mcp_era_name(mcp_era_of(session));
    ping->server = arena_strdup(arena, mcp_server_name(session));
    ping->tool_count = newest(server)->tools.count;
    report(server, status);
    give(server, session);
    return status;
}

/* All its text, one piece after the other. */
static pawl_str text_of(struct arena *arena, const struct tree *content) {
    struct buf text;
    pawl_str copy = {NULL, 0};
    buf_init(&text, MCP_LINE_BYTES_MAX);
    for (size_t i = 0; content != NULL && content->kind == TREE_ARRAY && i < content->count; i++) {
        const struct tree *piece = tree_get_cstr(content->items[i], "text");
        if (piece == NULL || piece->kind != TREE_STRING)
            continue;
        if (text.len > 0)
            buf_append_char(&text, '\n');
        buf_append_str(&text, piece->text);
    }
    if (!text.failed)
        copy = (pawl_str){arena_copy(arena, text.ptr != NULL ? text.ptr : "", text.len), text.len};
    buf_free(&text);
    return copy;
}

/* {"text": …, "structured": …, "content": […]} */
static pawl_status output_of(struct arena *arena, const struct tree *result, pawl_str text,
                             const struct tree **output, pawl_error *err) {
    const struct tree_pair pairs[] = {{"text", tree_scalar(arena, TREE_STRING, text)},
                                      {"structured", tree_get_cstr(result, "structuredContent")},
                                      {"content", tree_get_cstr(result, "content")}};
    *output = pairs[0].value != NULL ? tree_of_pairs(arena, pairs, 3) : NULL;
    return *output != NULL ? PAWL_OK : error_no_memory(err, "tools");
}

static pawl_status judge(const struct tool_call *call, const struct mcp_answer *said, struct arena *arena,
                         struct tool_answer *answer, pawl_error *err) {
    pawl_str text = text_of(arena, tree_get_cstr(said->result, "content"));
    if (text.ptr == NULL)
        return error_no_memory(err, "tools");
    if (said->is_error) {
        if (text.len > 1000)
            text.len = 1000;
        return error_set(err, PAWL_INVALID, "tools", "the tool %.*s failed: %.*s", STR_ARG(call->uses),
                         STR_ARG(text));
    }
    return output_of(arena, said->result, text, &answer->output, err);
}

/* One exchange over one session. */
static pawl_status converse(struct tool_server *server, struct mcp_session *session, pawl_str name,
                            const struct tool_call *call, struct arena *arena, struct tool_answer *answer,
                            pawl_error *err) {
    struct tool_set *set = newest(server);
    const struct schema *schema = NULL;
    struct mcp_answer said = {0};
    pawl_error why = {0};
    size_t at = 0;
    pawl_status status = find_tool(server, set, name, &at, err);
    if (status == PAWL_OK)
        status = check_pin(server, &set->tools.items[at], err);
    if (status == PAWL_OK)
        status = schema_of(server, set, at, &schema, err);
    if (status == PAWL_OK && schema_validate(schema, call->arguments, &why) != PAWL_OK)
        status = error_set(err, PAWL_INVALID, "tools", "the arguments of %.*s are wrong: %s",
                           STR_ARG(call->uses), why.text);
    struct mcp_call request = {&set->tools.items[at], call->arguments, call->traceparent};
    struct stop_limit limit = {call->deadline_ms, call->cancel};
    if (status == PAWL_OK) {
        status = mcp_call(session, &request, &limit, arena, &said, err);
        answer->begun = status == PAWL_UNAVAILABLE && mcp_unanswered(session);
    }
    return status == PAWL_OK ? judge(call, &said, arena, answer, err) : status;
}

pawl_status tools_mcp_call(struct tool_server *server, pawl_str name, const struct tool_call *call,
                           struct arena *arena, struct tool_answer *answer, pawl_error *err) {
    struct stop_limit wait = {call->deadline_ms, call->cancel};
    pawl_status status = PAWL_OK;
    for (int try = 0; try < 2; try++) {
        struct mcp_session *session = NULL;
        status = take(server, &wait, &session, &answer->retry_after_ms, err);
        if (status != PAWL_OK)
            return status;
        status = converse(server, session, name, call, arena, answer, err);
        bool again = status == PAWL_UNAVAILABLE && mcp_forgotten(session);
        report(server, again ? PAWL_STALE : status);
        give(server, session);
        if (!again)
            break;
    }
    return status;
}
