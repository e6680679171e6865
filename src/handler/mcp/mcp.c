/* The MCP client: opening a session, listing tools, calling them. */
#include "handler/mcp/mcp.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json/json.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "handler/mcp/int.h"

static const char *const handshake_versions[] = {MCP_VERSION_HANDSHAKE, "2025-06-18", "2025-03-26",
                                                 "2024-11-05"};

/* Error codes that only servers of the newer era use: a mismatch of headers, an unknown version, a missing
 * capability. */
enum { RPC_HEADER_MISMATCH = -32020, RPC_CAPABILITY_MISSING = -32021, RPC_VERSION_UNSUPPORTED = -32022 };
enum {
    RPC_PARSE = -32700,
    RPC_INVALID_REQUEST = -32600,
    RPC_NO_METHOD = -32601,
    RPC_INVALID_PARAMS = -32602
};

const char *mcp_era_name(enum mcp_era era) {
    static const char *const names[] = {"unknown", MCP_VERSION_HANDSHAKE, MCP_VERSION_STATELESS};
    return names[era];
}

bool mcp_usable(const struct mcp_session *session) {
    if (session->broken || session->config->url != NULL)
        return !session->broken;
    struct pollfd ended = {session->child.pidfd, POLLIN, 0};
    return poll(&ended, 1, 0) == 0;
}

bool mcp_forgotten(const struct mcp_session *session) { return session->forgotten; }
bool mcp_unanswered(const struct mcp_session *session) { return session->unanswered; }

enum mcp_era mcp_era_of(const struct mcp_session *session) { return session->era; }
const char *mcp_server_name(const struct mcp_session *session) { return session->server; }
bool mcp_tools_changed(const struct mcp_session *session) { return session->tools_changed; }

static pawl_status exchange(struct mcp_session *session, struct mcp_exchange *exchange, pawl_error *err) {
    return session->config->url != NULL ? mcp_http_exchange(session, exchange, err)
                                        : mcp_stdio_exchange(session, exchange, err);
}

/* {"jsonrpc":"2.0","id":7,"method":"…","params":{<members>,"_meta":{…}}}; members is JSON without braces. */
static void write_message(struct buf *buf, const struct mcp_session *session, int64_t id, const char *method,
                          pawl_str members, pawl_str traceparent) {
    bool meta = false;
    buf_append_cstr(buf, "{\"jsonrpc\":\"2.0\"");
    if (id != 0)
        buf_printf(buf, ",\"id\":%lld", (long long)id);
    buf_printf(buf, ",\"method\":\"%s\",\"params\":{", method);
    buf_append_str(buf, members);
    if (session->era == MCP_ERA_STATELESS) {
        meta = true;
        buf_printf(buf,
                   "%s\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"%s\","
                   "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"pawl\",\"version\":\"%s\"},"
                   "\"io.modelcontextprotocol/clientCapabilities\":{}",
                   members.len > 0 ? "," : "", MCP_VERSION_STATELESS, PAWL_VERSION);
    }
    if (!str_absent(traceparent)) {
        buf_append_cstr(buf, meta ? "," : members.len > 0 ? ",\"_meta\":{" : "\"_meta\":{");
        meta = true;
        buf_append_cstr(buf, "\"traceparent\":");
        json_quote(buf, traceparent);
    }
    buf_append_cstr(buf, meta ? "}}}" : "}}");
}

struct mcp_question {
    const char *method;
    pawl_str members;
    pawl_str name; /* Mcp-Name */
    pawl_str traceparent;
    const struct http_header *headers;
    size_t header_count;
    bool notification;
};

static pawl_status ask(struct mcp_session *session, const struct mcp_question *question,
                       const struct stop_limit *wait, struct arena *arena, struct mcp_exchange *done,
                       pawl_error *err) {
    struct buf text;
    if (session->broken)
        return error_set(err, PAWL_UNAVAILABLE, "mcp", "the session with the server %s has ended",
                         session->config->name);
    *done = (struct mcp_exchange){.id = question->notification ? 0 : ++session->last_id,
                                  .method = question->method,
                                  .name = question->name,
                                  .headers = question->headers,
                                  .header_count = question->header_count,
                                  .wait = *wait,
                                  .arena = arena};
    buf_init(&text, 0);
    write_message(&text, session, done->id, question->method, question->members, question->traceparent);
    pawl_status status = buf_status(&text, "mcp", err);
    done->text = buf_str(&text);
    if (status == PAWL_OK)
        status = exchange(session, done, err);
    done->text = (pawl_str){NULL, 0};
    buf_free(&text);
    return status;
}

/* After giving up a request: notifies the server, and checks whether it still responds. A server that hangs
 * cannot be used any more, and a late answer must not be mistaken for the answer to another request. */
static void settle(struct mcp_session *session, int64_t id) {
    char members[96];
    struct mcp_exchange done;
    struct stop_limit wait = {clock_boot_ms() + MCP_SETTLE_MS, NULL};
    bool http = session->config->url != NULL;
    /* Over HTTP without sessions, closing the connection is enough. */
    if (session->broken || (http && session->era == MCP_ERA_STATELESS))
        return;
    struct arena *arena = arena_create(0);
    snprintf(members, sizeof(members), "\"requestId\":%lld,\"reason\":\"given up\"", (long long)id);
    struct mcp_question cancel = {
        .method = "notifications/cancelled", .members = str_from(members), .notification = true};
    pawl_status status = ask(session, &cancel, &wait, arena, &done, NULL);
    if (status == PAWL_OK && !http) {
        struct mcp_question alive = {.method = session->era == MCP_ERA_STATELESS ? "server/discover"
                                                                                 : "ping"};
        status = ask(session, &alive, &wait, arena, &done, NULL);
    }
    if (status != PAWL_OK)
        session->broken = true;
    arena_free(arena);
}

/* A JSON-RPC error as a status: an error in the request is permanent. */
static pawl_status rpc_error(const struct mcp_session *session, const struct mcp_exchange *done,
                             const struct tree *error, pawl_error *err) {
    const struct tree *message = tree_get_cstr(error, "message");
    int64_t code = tree_get_i64(error, "code");
    pawl_str text = message != NULL ? message->text : STR("no reason given");
    bool permanent = code == RPC_PARSE || code == RPC_INVALID_REQUEST || code == RPC_NO_METHOD ||
                     code == RPC_INVALID_PARAMS || code == RPC_HEADER_MISMATCH ||
                     code == RPC_CAPABILITY_MISSING || code == RPC_VERSION_UNSUPPORTED;
    return error_set(err, permanent ? PAWL_INVALID : PAWL_UNAVAILABLE, "mcp",
                     "the server %s answered %s with error %lld: %.*s", session->config->name, done->method,
                     (long long)code, text.len > 800 ? 800 : (int)text.len, text.ptr);
}

/* A request that must have a result. */
static pawl_status ask_result(struct mcp_session *session, const struct mcp_question *question,
                              const struct stop_limit *wait, struct arena *arena, const struct tree **result,
                              pawl_error *err) {
    struct mcp_exchange done = {0};
    pawl_status status = ask(session, question, wait, arena, &done, err);
    session->unanswered = status != PAWL_OK && done.answer == NULL && done.sent && !session->forgotten;
    bool over = clock_boot_ms() >= wait->deadline_ms || stop_read(wait->cancel) != STOP_NONE;
    if (status != PAWL_OK && over && done.answer == NULL)
        settle(session, done.id);
    if (status != PAWL_OK)
        return status;
    const struct tree *error = tree_get_cstr(done.answer, "error");
    if (error != NULL)
        return rpc_error(session, &done, error, err);
    *result = tree_get_cstr(done.answer, "result");
    return PAWL_OK;
}

static void keep_server(struct mcp_session *session, const struct tree *info) {
    pawl_str name = tree_get_text(info, "name");
    if (!str_absent(name))
        snprintf(session->server, sizeof(session->server), "%.*s %.*s", STR_ARG(name),
                 STR_ARG(tree_get_text(info, "version")));
}

/* Whether the result of server/discover comes from the newer protocol; servers may answer anything. */
static bool offers_stateless(const struct tree *answer) {
    const struct tree *result = tree_get_cstr(answer, "result");
    const struct tree *versions = tree_get_cstr(result, "supportedVersions");
    for (size_t i = 0; versions != NULL && versions->kind == TREE_ARRAY && i < versions->count; i++) {
        if (versions->items[i]->kind == TREE_STRING &&
            str_equal_cstr(versions->items[i]->text, MCP_VERSION_STATELESS))
            return true;
    }
    return false;
}

/* Tries the newer protocol. It is no failure if the server does not understand it: *understood is then false.
 */
static pawl_status discover(struct mcp_session *session, const struct stop_limit *wait, struct arena *arena,
                            bool *understood, pawl_error *err) {
    struct mcp_exchange done = {0};
    struct mcp_question question = {.method = "server/discover"};
    int64_t soon_ms = clock_boot_ms() + MCP_DISCOVER_MS;
    struct stop_limit shorter = {wait->deadline_ms < soon_ms ? wait->deadline_ms : soon_ms, wait->cancel};
    session->era = MCP_ERA_STATELESS;
    snprintf(session->version, sizeof(session->version), "%s", MCP_VERSION_STATELESS);
    pawl_error why = {0};
    pawl_status status = ask(session, &question, &shorter, arena, &done, &why);
    *understood = false;
    if (status == PAWL_OK) {
        const struct tree *error = tree_get_cstr(done.answer, "error");
        int64_t code = tree_get_i64(error, "code");
        if (error == NULL && offers_stateless(done.answer)) {
            const struct tree *result = tree_get_cstr(done.answer, "result");
            const struct tree *meta = tree_get_cstr(result, "_meta");
            const struct tree *info = tree_get_cstr(meta, "io.modelcontextprotocol/serverInfo");
            keep_server(session, info != NULL ? info : tree_get_cstr(result, "serverInfo"));
            *understood = true;
            return PAWL_OK;
        }
        if (code == RPC_HEADER_MISMATCH || code == RPC_CAPABILITY_MISSING || code == RPC_VERSION_UNSUPPORTED)
            return rpc_error(session, &done, error, err);
    } else if (status == PAWL_STALE || status == PAWL_NO_MEMORY || clock_boot_ms() >= wait->deadline_ms ||
               (session->config->url != NULL && done.http_status == 0 && status == PAWL_UNAVAILABLE &&
                !session->broken && clock_boot_ms() < shorter.deadline_ms)) {
        /* Cancelled, out of time, or never reached: the older protocol would not work either. */
        if (err != NULL)
            *err = why;
        return status;
    }
    session->era = MCP_ERA_HANDSHAKE;
    session->version[0] = '\0';
    return PAWL_OK;
}

static pawl_status handshake(struct mcp_session *session, const struct stop_limit *wait, struct arena *arena,
                             pawl_error *err) {
    static const char members[] =
        "\"protocolVersion\":\"" MCP_VERSION_HANDSHAKE
        "\",\"capabilities\":{},\"clientInfo\":{\"name\":\"pawl\",\"version\":\"" PAWL_VERSION "\"}";
    const struct tree *result = NULL;
    struct mcp_exchange done;
    struct mcp_question question = {.method = "initialize", .members = str_from(members)};
    session->era = MCP_ERA_HANDSHAKE;
    pawl_status status = ask_result(session, &question, wait, arena, &result, err);
    if (status != PAWL_OK)
        return status;
    const struct tree *version = tree_get_cstr(result, "protocolVersion");
    bool known = false;
    for (size_t i = 0; version != NULL && i < sizeof(handshake_versions) / sizeof(*handshake_versions); i++)
        known = known || str_equal_cstr(version->text, handshake_versions[i]);
    if (!known) {
        session->broken = true;
        return error_set(err, PAWL_INVALID, "mcp",
                         "the server %s wants version '%.*s', which pawl does not speak",
                         session->config->name, STR_ARG(version != NULL ? version->text : STR("none")));
    }
    snprintf(session->version, sizeof(session->version), "%.*s", STR_ARG(version->text));
    keep_server(session, tree_get_cstr(result, "serverInfo"));
    struct mcp_question ready = {.method = "notifications/initialized", .notification = true};
    return ask(session, &ready, wait, arena, &done, err);
}

static pawl_status start(struct mcp_session *session, pawl_error *err) {
    return session->config->url != NULL ? mcp_http_open(session, err) : mcp_stdio_open(session, err);
}

static pawl_status agree(struct mcp_session *session, enum mcp_era hint, const struct stop_limit *wait,
                         pawl_error *err) {
    struct arena *arena = arena_create(0);
    bool understood = false;
    pawl_status status = start(session, err);
    if (status == PAWL_OK && hint != MCP_ERA_HANDSHAKE)
        status = discover(session, wait, arena, &understood, err);
    if (status == PAWL_OK && !understood && session->broken && session->config->url == NULL) {
        /* The unknown request broke the session: try again with the older protocol from the start. */
        mcp_stdio_close(session, 0);
        session->broken = false;
        session->last_id = 0;
        status = start(session, err);
    }
    if (status == PAWL_OK && !understood)
        status = handshake(session, wait, arena, err);
    arena_free(arena);
    return status;
}

pawl_status mcp_open(const struct mcp_config *config, enum mcp_era hint, const struct stop_limit *wait,
                     struct mcp_session **session, pawl_error *err) {
    struct mcp_session *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return error_no_memory(err, "mcp");
    made->config = config;
    made->scratch = arena_create(0);
    made->child = (struct child){.pidfd = -1, .in_fd = -1, .out_fd = -1, .err_fd = -1};
    pawl_status status = agree(made, hint, wait, err);
    if (status != PAWL_OK) {
        made->broken = true;
        mcp_close(made, 0);
        return status;
    }
    *session = made;
    return PAWL_OK;
}

void mcp_close(struct mcp_session *session, int64_t grace_ms) {
    if (session == NULL)
        return;
    if (session->config->url != NULL)
        mcp_http_close(session);
    else
        mcp_stdio_close(session, grace_ms);
    arena_free(session->scratch);
    free(session);
}

pawl_status mcp_ping(struct mcp_session *session, const struct stop_limit *wait, pawl_error *err) {
    const struct tree *result = NULL;
    struct arena *arena = arena_create(0);
    struct mcp_question question = {.method = session->era == MCP_ERA_STATELESS ? "server/discover" : "ping"};
    pawl_status status = ask_result(session, &question, wait, arena, &result, err);
    arena_free(arena);
    return status;
}

pawl_status mcp_list_page(struct mcp_session *session, pawl_str cursor, const struct stop_limit *wait,
                          struct arena *arena, const struct tree **result, pawl_error *err) {
    struct buf members;
    buf_init(&members, 0);
    if (!str_absent(cursor)) {
        buf_append_cstr(&members, "\"cursor\":");
        json_quote(&members, cursor);
    }
    struct mcp_question question = {.method = "tools/list", .members = buf_str(&members)};
    pawl_status status = buf_status(&members, "mcp", err);
    if (status == PAWL_OK)
        status = ask_result(session, &question, wait, arena, result, err);
    buf_free(&members);
    return status;
}

pawl_status mcp_call(struct mcp_session *session, const struct mcp_call *call, const struct stop_limit *wait,
                     struct arena *arena, struct mcp_answer *answer, pawl_error *err) {
    struct http_header headers[HTTP_HEADERS_MAX / 2];
    struct mcp_question question = {
        .method = "tools/call", .traceparent = call->traceparent, .headers = headers};
    struct buf members;
    const struct tree *result = NULL;
    buf_init(&members, 0);
    buf_append_cstr(&members, "\"name\":");
    json_quote(&members, call->tool->name);
    buf_append_cstr(&members, ",\"arguments\":");
    tree_write(&members, call->arguments);
    pawl_status status = buf_status(&members, "mcp", err);
    question.members = buf_str(&members);
    if (status == PAWL_OK && session->era == MCP_ERA_STATELESS && session->config->url != NULL) {
        status = mcp_header_value(arena, call->tool->name, &question.name, err);
        if (status == PAWL_OK)
            status = mcp_param_headers(arena, call, headers, &question.header_count, err);
    }
    if (status == PAWL_OK)
        status = ask_result(session, &question, wait, arena, &result, err);
    buf_free(&members);
    if (status != PAWL_OK)
        return status;
    pawl_str type = tree_get_text(result, "resultType");
    if (!str_absent(type) && !str_equal_cstr(type, "complete"))
        return error_set(
            err, PAWL_INVALID, "mcp",
            "the tool %.*s of the server %s answers with '%.*s': it wants input from a person, and "
            "there is none",
            STR_ARG(call->tool->name), session->config->name, STR_ARG(type));
    *answer = (struct mcp_answer){result, tree_get_true(result, "isError")};
    return PAWL_OK;
}
