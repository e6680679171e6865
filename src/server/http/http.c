/* The callbacks of libmicrohttpd: receiving requests, checking them, and sending responses. */
#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "server/claim_waits.h"
#include "server/http/assets.h"
#include "server/http/exchange.h"
#include "server/http/framing.h"
#include "server/http/idempotency.h"
#include "server/http/outgoing.h"
#include "server/http/respond.h"
#include "server/http/stream.h"
#include "server/server.h"
#include "server/stats.h"

/* ---- Connections */

static void link_set(struct link *link, enum link_state state) {
    if (link == NULL)
        return;
    link->state = state;
    link->since_ms = clock_boot_ms();
    if (state == LINK_READING)
        link->headers = false;
}

static void link_notify(void *self, struct MHD_Connection *connection, void **context,
                        enum MHD_ConnectionNotificationCode code) {
    struct links *links = ((struct server *)self)->links;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        struct link *link = calloc(1, sizeof *link);
        *context = link;
        if (link == NULL)
            return;
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        link->fd = info != NULL ? info->connect_fd : -1;
        link->next = links->first;
        link->before = &links->first;
        if (link->next != NULL)
            link->next->before = &link->next;
        links->first = link;
        links->count++;
        link_set(link, LINK_READING);
        return;
    }
    struct link *link = *context;
    if (link == NULL)
        return;
    *link->before = link->next;
    if (link->next != NULL)
        link->next->before = link->before;
    links->count--;
    free(link);
    *context = NULL;
}

/* libmicrohttpd ends only idle connections; one byte now and then would keep them open. */
void http_tick(struct server *server, int64_t now_ms) {
    for (struct link *link = server->links->first; link != NULL; link = link->next) {
        int64_t most_ms = link->state == LINK_READING && !link->headers ? PAWL_HTTP_HEADER_MS
                          : link->state == LINK_READING                 ? PAWL_HTTP_BODY_MS
                          : link->state == LINK_WRITING                 ? PAWL_HTTP_ANSWER_MS
                                                                        : INT64_MAX;
        if (now_ms - link->since_ms > most_ms && link->fd >= 0)
            shutdown(link->fd, SHUT_RDWR);
    }
}

/* ---- Requests */

static const char *header(struct exchange *exchange, const char *name) {
    return MHD_lookup_connection_value(exchange->connection, MHD_HEADER_KIND, name);
}

static void http_done(struct pool_task *pool_task);

static struct exchange *exchange_new(struct server *server, struct MHD_Connection *connection) {
    struct exchange *exchange = calloc(1, sizeof *exchange);
    struct arena *arena = arena_create(PAWL_HTTP_ARENA_BYTES_MAX);
    if (exchange == NULL || arena == NULL) {
        free(exchange);
        arena_free(arena);
        return NULL;
    }
    exchange->server = server;
    exchange->connection = connection;
    exchange->began_us = clock_boot_us();
    exchange->pool_task.run = exchange_work;
    exchange->pool_task.done = http_done;
    exchange->call = (struct call){.server = server, .arena = arena};
    buf_init(&exchange->body, PAWL_HTTP_BODY_BYTES_MAX);
    buf_init(&exchange->call.out, PAWL_HTTP_ANSWER_BYTES_MAX);
    buf_init(&exchange->call.news, 0);
    json_writer_init(&exchange->call.json, &exchange->call.out);
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    exchange->link = info != NULL ? info->socket_context : NULL;
    return exchange;
}

static void exchange_free(struct exchange *exchange) {
    if (exchange == NULL)
        return;
    keys_release(exchange->server->keys, exchange->key);
    buf_free(&exchange->body);
    buf_free(&exchange->call.out);
    buf_free(&exchange->call.news);
    call_mcp_free(&exchange->call);
    if (exchange->flow != NULL)
        outgoing_free(exchange->flow);
    arena_free(exchange->call.arena);
    free(exchange);
}

static void request_completed(void *self, struct MHD_Connection *connection, void **context,
                              enum MHD_RequestTerminationCode code) {
    struct exchange *exchange = *context;
    (void)self;
    (void)connection;
    (void)code;
    if (exchange == NULL)
        return;
    stats_count(exchange->server->stats, exchange);
    link_set(exchange->link, LINK_READING);
    *context = NULL;
    claim_waits_drop(exchange->server->claim_waits, exchange);
    exchange->orphan = exchange->wait.trying;
    if (!exchange->orphan)
        exchange_free(exchange);
}

static enum MHD_Result answer(struct exchange *exchange) {
    link_set(exchange->link, LINK_WRITING);
    exchange->state = EXCHANGE_ANSWERED;
    return exchange->asset != NULL ? respond_asset(exchange) : respond(exchange);
}

/* Before the body: libmicrohttpd then closes the connection, which is right unless there is no body. */
static enum MHD_Result answer_early(struct exchange *exchange) {
    if (!exchange->reads)
        return answer(exchange);
    exchange->state = EXCHANGE_ANSWER;
    return MHD_YES;
}

static enum MHD_Result refuse(struct exchange *exchange, int status, const char *detail) {
    exchange_problem(exchange, status, detail);
    exchange->asset = NULL;
    return exchange->state == EXCHANGE_NEW ? answer_early(exchange) : answer(exchange);
}

/* The values of an Allow header. */
static const char *methods_of(struct exchange *exchange, unsigned methods) {
    AUTO_BUF(buf, 0);
    for (int method = 0; method < METHOD_COUNT; method++)
        if ((methods & 1u << method) != 0)
            buf_printf(&buf, "%s%s%s", buf.len > 0 ? ", " : "", method_name((enum http_method)method),
                       method == METHOD_GET ? ", HEAD" : "");
    const char *text = buf.failed ? NULL : arena_strdup(exchange->call.arena, buf.ptr);
    return text;
}

static enum MHD_Result judge(struct exchange *exchange) {
    const struct operation *route = exchange->match.route;
    struct auth_question question = {
        .reads = exchange->reads,
        .page = exchange->asset != NULL,
        .needs = route != NULL ? route->role : ROLE_NONE,
        .host = header(exchange, "Host"),
        .origin = header(exchange, "Origin"),
        .fetch_site = header(exchange, "Sec-Fetch-Site"),
        .fetch_mode = header(exchange, "Sec-Fetch-Mode"),
        .authorization = header(exchange, "Authorization"),
        .cookie = header(exchange, "Cookie"),
        .own_header = header(exchange, OWN_HEADER),
        .now_ms = clock_boot_ms(),
    };
    struct server *server = exchange->server;
    struct auth_verdict verdict = auth_decide(&server->tokens, server->sessions, &server->origins, &question);
    exchange->call.as = verdict.as;
    exchange->call.session = verdict.session;
    if (verdict.status != 0)
        return refuse(exchange, verdict.status, verdict.why);
    if (exchange->asset != NULL && exchange->reads)
        return answer_early(exchange);
    if (exchange->asset != NULL) {
        exchange->allow = "GET, HEAD";
        return refuse(exchange, 405, "A file can only be read.");
    }
    if (exchange->match.methods == 0)
        return refuse(exchange, 404, "There is no such route; GET /v1/openapi.json lists them.");
    if (route == NULL) {
        exchange->allow = methods_of(exchange, exchange->match.methods);
        return refuse(exchange, 405, "The route does not take this method; see the Allow header.");
    }
    return MHD_YES;
}

/* Checks a body's type and size before it arrives. */
static enum MHD_Result judge_body(struct exchange *exchange) {
    const char *length = header(exchange, "Content-Length"), *type = header(exchange, "Content-Type");
    int64_t bytes = 0;
    if (length != NULL && !str_to_i64(str_from(length), 0, INT64_MAX, &bytes))
        return refuse(exchange, 400, "The Content-Length is not a number.");
    if (bytes > PAWL_HTTP_BODY_BYTES_MAX)
        return refuse(exchange, 413, "The body is bigger than 1 MiB; send less at once.");
    if (bytes > 0 && type != NULL && strncasecmp(type, "application/json", 16) != 0)
        return refuse(exchange, 415, "The body must be application/json.");
    return MHD_YES;
}

/* The request line has arrived. The raw path is kept, because libmicrohttpd decodes it, including slashes. */
static void *request_line(void *self, const char *uri, struct MHD_Connection *connection) {
    struct exchange *exchange = exchange_new(self, connection);
    if (exchange == NULL)
        return NULL;
    size_t len = strcspn(uri, "?");
    exchange->path = arena_copy(exchange->call.arena, uri, len);
    exchange->query = uri[len] == '?' ? arena_strdup(exchange->call.arena, uri + len + 1) : "";
    if (exchange->path != NULL && exchange->query != NULL)
        return exchange;
    exchange_free(exchange);
    return NULL;
}

/* The first call for a request: its headers have arrived. */
static enum MHD_Result begin(struct exchange *exchange, const char *method) {
    if (exchange->link != NULL)
        exchange->link->headers = true;
    const char *fault = framing_fault(exchange->connection);
    if (fault != NULL) {
        exchange->close = true;
        exchange_problem(exchange, 400, fault);
        return answer(exchange);
    }
    exchange->reads = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    exchange->match = route_find(method, str_from(exchange->path), exchange->server->config.lease_api);
    exchange->call.route = exchange->match.route;
    exchange->call.accept = header(exchange, "Accept");
    exchange->call.traceparent = header(exchange, "traceparent");
    exchange->call.tracestate = header(exchange, "tracestate");
    exchange->call.last_seen = header(exchange, "Last-Event-ID");
    exchange->call.person = header(exchange, "Pawl-Actor");
    exchange->call.about.agent = header(exchange, "Pawl-Agent");
    exchange->call.about.mcp_version = header(exchange, "MCP-Protocol-Version");
    exchange->call.about.mcp_method = header(exchange, "Mcp-Method");
    exchange->call.about.mcp_name = header(exchange, "Mcp-Name");
    exchange->asset = exchange->match.methods == 0 ? asset_find(exchange->path) : NULL;
    enum MHD_Result result = judge(exchange);
    if (exchange->state == EXCHANGE_NEW && result == MHD_YES)
        result = judge_body(exchange);
    if (exchange->state == EXCHANGE_NEW)
        exchange->state = EXCHANGE_BODY;
    return result;
}

static enum MHD_Result take_body(struct exchange *exchange, const char *data, size_t *size) {
    if (exchange->body.len + *size > PAWL_HTTP_BODY_BYTES_MAX)
        exchange->too_big = true;
    else
        buf_append(&exchange->body, data, *size);
    *size = 0;
    return MHD_YES;
}

struct store_pool *exchange_pool(const struct exchange *exchange) {
    struct server *server = exchange->server;
    return exchange->match.route->pool == POOL_LEASE ? &server->lease_pool : &server->query_pool;
}

/* The request is complete: pass it to a thread, or handle it here if it needs no store. */
static enum MHD_Result dispatch(struct exchange *exchange) {
    const struct operation *route = exchange->match.route;
    struct server *server = exchange->server;
    if (exchange->too_big || exchange->body.failed)
        return refuse(exchange, 413, "The body is bigger than 1 MiB; send less at once.");
    if (server->stopping) { /* the pools are closed, or about to be */
        exchange->close = true;
        return refuse(exchange, 503, "The server is stopping; ask again.");
    }
    const char *key = header(exchange, "Idempotency-Key");
    if (route->method == METHOD_POST && key != NULL) {
        exchange->call.key = str_from(key);
        if (!keys_take(server->keys, exchange, key))
            return answer(exchange);
    }
    if (route->shape == ANSWER_STREAM) {
        pawl_error err;
        link_set(exchange->link, LINK_STREAMING);
        exchange->state = EXCHANGE_ANSWERED;
        if (stream_open(server->streams, exchange, &err) == PAWL_OK)
            return MHD_YES;
        exchange_failure(exchange, &err);
        return answer(exchange);
    }
    if (route->pool == POOL_LOOP) {
        exchange_run(exchange, NULL, NULL);
        keys_finish(server->keys, exchange);
        return answer(exchange);
    }
    exchange->state = EXCHANGE_WORKING;
    link_set(exchange->link, LINK_WORKING);
    MHD_suspend_connection(exchange->connection);
    store_pool_put(exchange_pool(exchange), &exchange->pool_task);
    return MHD_YES;
}

/* The request waits, and there is something to tell. */
static enum MHD_Result start_flow(struct exchange *exchange) {
    pawl_error err;
    link_set(exchange->link, LINK_STREAMING);
    exchange->state = EXCHANGE_ANSWERED;
    return outgoing_start(exchange->flow, exchange, &err) == PAWL_OK ? MHD_YES
                                                                     : MHD_NO; /* which ends the connection */
}

/* A frame of the answer; data has no line ends. False: there was no memory for the first one. */
static bool send_frame(struct exchange *exchange, pawl_str data) {
    if (exchange->flow == NULL) {
        exchange->flow = arena_alloc(exchange->call.arena, sizeof *exchange->flow);
        if (exchange->flow == NULL)
            return false;
        *exchange->flow = (struct outgoing){.sent = 0};
        outgoing_init(exchange->flow, exchange, PAWL_HTTP_ANSWER_BYTES_MAX);
    }
    struct outgoing *flow = exchange->flow;
    buf_append_cstr(&flow->waiting, "data: ");
    buf_append_str(&flow->waiting, data);
    buf_append_cstr(&flow->waiting, "\n\n");
    flow->ended = flow->ended || flow->waiting.failed; /* a client that does not read */
    outgoing_wake(flow);
    return true;
}

static void tell_news(struct exchange *exchange) {
    struct buf *news = &exchange->call.news;
    bool first = exchange->flow == NULL;
    if (news->len > 0 && send_frame(exchange, buf_str(news)) && first) {
        exchange->state = EXCHANGE_FLOW;
        MHD_resume_connection(exchange->connection);
    }
    buf_reset(news);
}

/* NOLINTNEXTLINE(readability-function-size): libmicrohttpd decides how many parameters this has */
static enum MHD_Result handle(void *self, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data, size_t *size,
                              void **context) {
    struct exchange *exchange = *context;
    (void)self;
    (void)connection;
    (void)url;
    (void)version;
    if (exchange == NULL)
        return MHD_NO; /* there was no memory for it */
    if (exchange->state == EXCHANGE_NEW)
        return begin(exchange, method);
    if (exchange->state == EXCHANGE_ANSWERED)
        return MHD_YES;
    if (exchange->state == EXCHANGE_ANSWER)
        return answer(exchange);
    if (exchange->state == EXCHANGE_FLOW)
        return start_flow(exchange);
    if (*size > 0)
        return take_body(exchange, data, size);
    return exchange->state == EXCHANGE_BODY ? dispatch(exchange) : MHD_YES;
}

/* A request whose handler has ended. */
static void http_done(struct pool_task *pool_task) {
    struct exchange *exchange = (struct exchange *)pool_task;
    if (exchange->orphan)
        exchange_free(exchange);
    else if (claim_waits_keep(exchange->server->claim_waits, exchange))
        tell_news(exchange);
    else
        http_answer(exchange);
}

void http_answer(struct exchange *exchange) {
    struct call *call = &exchange->call;
    keys_finish(exchange->server->keys, exchange);
    if (exchange->flow == NULL) {
        exchange->state = EXCHANGE_ANSWER;
        MHD_resume_connection(exchange->connection);
        return;
    }
    if (call->type == NULL) /* no problem document */
        (void)send_frame(exchange, buf_str(&call->out));
    exchange->flow->ended = true;
    outgoing_wake(exchange->flow);
}

/* ---- The daemon */

pawl_status http_start(struct server *server, pawl_error *err) {
    pawl_str cert = {NULL, 0}, key = {NULL, 0};
    if (server->tls) {
        TRY(file_read(server->arena, server->config.tls_cert, PAWL_CONFIG_FILE_BYTES_MAX, &cert, err));
        TRY(file_read(server->arena, server->config.tls_key, PAWL_CONFIG_FILE_BYTES_MAX, &key, err));
    }
    server->links = arena_alloc(server->arena, sizeof *server->links);
    if (server->links == NULL)
        return error_set(err, PAWL_NO_MEMORY, "server", "no memory for the server");
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | (server->tls ? MHD_USE_TLS : 0u);
    struct MHD_OptionItem tls[] = {{MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)cert.ptr},
                                   {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)key.ptr},
                                   {MHD_OPTION_END, 0, NULL}};
    struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
    server->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, handle, server, MHD_OPTION_LISTEN_SOCKET, server->listen_fd,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)PAWL_HTTP_CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)(PAWL_HTTP_IDLE_MS / 1000), MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)PAWL_HTTP_CONNECTION_BYTES, MHD_OPTION_NOTIFY_COMPLETED, request_completed, server,
        MHD_OPTION_NOTIFY_CONNECTION, link_notify, server, MHD_OPTION_URI_LOG_CALLBACK, request_line, server,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_ARRAY, server->tls ? tls : none, MHD_OPTION_END);
    if (server->daemon == NULL)
        return error_set(err, PAWL_UNAVAILABLE, "server", "%s",
                         server->tls ? "cannot start: are certificate and key PEM files that fit together?"
                                     : "cannot start libmicrohttpd");
    server->listen_fd = -1; /* the daemon's now */
    return PAWL_OK;
}

void http_stop(struct server *server) {
    if (server->daemon != NULL)
        MHD_stop_daemon(server->daemon);
    server->daemon = NULL;
}
