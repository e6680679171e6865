/* MCP over HTTP: a request per message, the answer as JSON or as a stream of events. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "handler/mcp/events.h"
#include "handler/mcp/int.h"

enum { LOOK_MS = 50, SIDE_MS = 2000 };

pawl_status mcp_http_open(struct mcp_session *session, pawl_error *err) {
    pawl_status status = http_client_create(&session->client, err);
    if (status == PAWL_OK)
        status = http_client_create(&session->side, err);
    return status;
}

/* One answer while it arrives. */
struct mcp_stream {
    struct mcp_session *session;
    struct mcp_exchange *exchange;
    struct events events;
    struct buf body; /* of an answer that is no stream */
    bool mine;
    pawl_status status; /* why a message was rejected */
    pawl_error error;
};

static size_t make_headers(const struct mcp_session *session, const struct mcp_exchange *exchange,
                           struct http_header *headers) {
    const struct mcp_config *config = session->config;
    size_t count = 0;
    headers[count++] = (struct http_header){"Content-Type", STR("application/json")};
    headers[count++] = (struct http_header){"Accept", STR("application/json, text/event-stream")};
    if (session->version[0] != '\0')
        headers[count++] = (struct http_header){"MCP-Protocol-Version", str_from(session->version)};
    if (session->session_id[0] != '\0')
        headers[count++] = (struct http_header){"Mcp-Session-Id", str_from(session->session_id)};
    if (session->era == MCP_ERA_STATELESS) {
        headers[count++] = (struct http_header){"Mcp-Method", str_from(exchange->method)};
        if (!str_absent(exchange->name))
            headers[count++] = (struct http_header){"Mcp-Name", exchange->name};
    }
    for (size_t i = 0; i < exchange->header_count && count < HTTP_HEADERS_MAX; i++)
        headers[count++] = exchange->headers[i];
    for (size_t i = 0; i < config->header_count && count < HTTP_HEADERS_MAX; i++)
        headers[count++] = config->headers[i];
    return count;
}

static struct http_request request_of(struct mcp_session *session, const struct mcp_exchange *exchange,
                                      const struct http_header *headers, size_t count) {
    return (struct http_request){.url = session->config->url,
                                 .headers = headers,
                                 .header_count = count,
                                 .body = exchange->text,
                                 .deadline_ms = exchange->wait.deadline_ms,
                                 .cancel = exchange->wait.cancel,
                                 .allow_private = session->config->allow_private};
}

/* Sends a message while the answer is still streaming in, over the second client and with a short timeout. */
static pawl_status say_aside(struct mcp_session *session, pawl_str text, pawl_error *err) {
    struct http_header headers[HTTP_HEADERS_MAX];
    struct http_response response;
    struct mcp_exchange exchange = {
        .method = "reply", .text = text, .wait = {clock_boot_ms() + SIDE_MS, NULL}};
    size_t count = make_headers(session, &exchange, headers);
    struct http_request request = request_of(session, &exchange, headers, count);
    struct arena *arena = arena_create(0);
    request.body_bytes_max = MCP_LINE_BYTES_MAX;
    pawl_status status = http_call(session->side, &request, arena, &response, err);
    arena_free(arena);
    return status;
}

static bool take_event(void *self, pawl_str data) {
    struct mcp_stream *stream = self;
    struct buf reply;
    buf_init(&reply, 0);
    stream->status = mcp_take(stream->session, stream->exchange, data, &reply, &stream->mine, &stream->error);
    if (stream->status == PAWL_OK && reply.len > 0)
        stream->status = say_aside(stream->session, buf_str(&reply), &stream->error);
    buf_free(&reply);
    return stream->status == PAWL_OK && !stream->mine;
}

static bool take_piece(void *self, int http_status, pawl_str content_type, pawl_str piece) {
    struct mcp_stream *stream = self;
    stream->status = mcp_count(stream->session, stream->exchange, piece.len, &stream->error);
    if (stream->status != PAWL_OK)
        return false;
    if (http_status == 200 && str_equal_cstr(content_type, "text/event-stream")) {
        bool goes_on = events_feed(&stream->events, piece, take_event, stream);
        if (!goes_on && stream->status == PAWL_OK && !stream->mine)
            stream->status = mcp_fault(stream->session, "an event is larger than 8 MiB", &stream->error);
        return goes_on;
    }
    buf_append(&stream->body, piece.ptr, piece.len);
    if (stream->body.failed)
        stream->status = mcp_fault(stream->session, "an answer is larger than 8 MiB", &stream->error);
    return stream->status == PAWL_OK;
}

static pawl_status refused(struct mcp_session *session, const struct http_response *response,
                           pawl_error *err) {
    int code = response->status;
    if (code == 404 && session->session_id[0] != '\0') {
        session->broken = true;
        session->forgotten = true;
        return error_set(err, PAWL_UNAVAILABLE, "mcp", "the server %s has forgotten the session",
                         session->config->name);
    }
    return error_set(err, http_meaning(code), "mcp", "the server %s answered with HTTP status %d",
                     session->config->name, code);
}

/* A single JSON document; even with an error status it may be an answer. */
static pawl_status take_body(struct mcp_stream *stream, const struct http_response *response,
                             pawl_error *err) {
    struct mcp_session *session = stream->session;
    struct buf reply;
    bool ok = http_judge(response->status) == HTTP_DONE;
    if (stream->exchange->id == 0)
        return ok ? PAWL_OK : refused(session, response, err);
    if (!str_equal_cstr(response->content_type, "application/json") || stream->body.len == 0) {
        if (!ok)
            return refused(session, response, err);
        return mcp_fault(session, "an answer is neither JSON nor a stream of events", err);
    }
    buf_init(&reply, 0);
    pawl_status status =
        mcp_take(session, stream->exchange, buf_str(&stream->body), &reply, &stream->mine, err);
    buf_free(&reply);
    if (!ok && !stream->mine) {
        session->broken = false; /* an error outside the protocol says nothing about the session */
        return refused(session, response, err);
    }
    if (status == PAWL_OK && !stream->mine)
        status = mcp_fault(session, "the answer to a request is something else", err);
    return status;
}

static pawl_status pause_ms(const struct mcp_exchange *exchange, int64_t wait_ms, pawl_error *err) {
    int64_t until_ms = clock_boot_ms() + wait_ms;
    for (int64_t now_ms; (now_ms = clock_boot_ms()) < until_ms;) {
        if (stop_read(exchange->wait.cancel) != STOP_NONE)
            return error_set(err, PAWL_STALE, "mcp", "the request was cancelled");
        if (now_ms >= exchange->wait.deadline_ms)
            return error_set(err, PAWL_UNAVAILABLE, "mcp", "the deadline has passed");
        int64_t step_ms = until_ms - now_ms < LOOK_MS ? until_ms - now_ms : LOOK_MS;
        nanosleep(&(struct timespec){0, (long)step_ms * 1000000}, NULL);
    }
    return PAWL_OK;
}

/* An interrupted stream is resumed after the last event, if the server gave that an id. */
static pawl_status resume(struct mcp_stream *stream, struct http_request request, struct http_header *headers,
                          size_t count, struct http_response *response, pawl_error *err) {
    struct mcp_session *session = stream->session;
    pawl_status status = PAWL_OK;
    for (int i = 0; status == PAWL_OK && !stream->mine; i++) {
        if (!stream->events.has_id || session->era != MCP_ERA_HANDSHAKE || i == MCP_RESUMES_MAX)
            return error_set(err, PAWL_UNAVAILABLE, "mcp", "the server %s ended the stream without an answer",
                             session->config->name);
        int64_t wait_ms = stream->events.retry_ms >= 0 ? stream->events.retry_ms : MCP_RESUME_MS_DEFAULT;
        status = pause_ms(stream->exchange, wait_ms, err);
        if (status != PAWL_OK)
            break;
        headers[count] = (struct http_header){"Last-Event-ID", str_from(stream->events.id)};
        request.method = "GET";
        request.body = (pawl_str){NULL, 0};
        request.header_count = count + 1;
        request.headers = headers;
        status = http_call(session->client, &request, stream->exchange->arena, response, err);
        if (stream->status != PAWL_OK) {
            *err = stream->error;
            return stream->status;
        }
        if (status == PAWL_OK && response->status != 200)
            status = refused(session, response, err);
    }
    return status;
}

/* The session id, if it is safe in a header. */
static void keep_session(struct mcp_session *session, const struct http_response *response) {
    pawl_str id = http_header_of(response, "mcp-session-id");
    if (session->session_id[0] == '\0' && id.len > 0 && id.len < sizeof(session->session_id))
        memcpy(session->session_id, id.ptr, id.len + 1);
}

pawl_status mcp_http_exchange(struct mcp_session *session, struct mcp_exchange *exchange, pawl_error *err) {
    struct http_header headers[HTTP_HEADERS_MAX + 1];
    struct http_response response = {0};
    struct mcp_stream stream = {.session = session, .exchange = exchange};
    pawl_error local = {0};
    if (err == NULL)
        err = &local;
    size_t count = make_headers(session, exchange, headers);
    struct http_request request = request_of(session, exchange, headers, count);
    request.on_piece = take_piece;
    request.self = &stream;
    events_init(&stream.events, MCP_LINE_BYTES_MAX);
    buf_init(&stream.body, MCP_LINE_BYTES_MAX);
    pawl_status status = http_call(session->client, &request, exchange->arena, &response, err);
    exchange->sent = status == PAWL_OK ? response.status < 300 : http_client_sent(session->client);
    if (stream.status != PAWL_OK) {
        status = stream.status;
        *err = stream.error;
        goto done;
    }
    if (status != PAWL_OK)
        goto done;
    exchange->http_status = response.status;
    if (response.status < 300 && exchange->id != 0 && strcmp(exchange->method, "initialize") == 0)
        keep_session(session, &response);
    if (stream.mine)
        goto done;
    if (response.status == 200 && str_equal_cstr(response.content_type, "text/event-stream") &&
        exchange->id != 0)
        status = resume(&stream, request, headers, count, &response, err);
    else
        status = take_body(&stream, &response, err);
done:
    events_free(&stream.events);
    buf_free(&stream.body);
    return status;
}

void mcp_http_close(struct mcp_session *session) {
    if (session->client != NULL && session->session_id[0] != '\0' && !session->broken) {
        struct http_header headers[HTTP_HEADERS_MAX];
        struct http_response response;
        struct mcp_exchange exchange = {.method = "end", .wait = {clock_boot_ms() + MCP_CLOSE_MS, NULL}};
        size_t count = make_headers(session, &exchange, headers);
        struct http_request request = request_of(session, &exchange, headers, count);
        struct arena *arena = arena_create(0);
        request.method = "DELETE";
        if (http_call(session->client, &request, arena, &response, NULL) != PAWL_OK)
            session->broken = true; /* the server will notice by itself */
        arena_free(arena);
    }
    http_client_free(session->client);
    http_client_free(session->side);
}
