/* Server-sent events: the connected clients, and sending frames to them. */
#include "server/http/stream.h"

#include <inttypes.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "server/access/sessions.h"
#include "server/http/exchange.h"
#include "server/http/respond.h"
#include "server/sampler.h"
#include "server/server.h"
#include "server/stats.h"

struct listener {
    struct streams *streams;
    struct listener *next, **before;
    struct MHD_Connection *connection;
    char session[SESSION_TEXT_BYTES]; /* "": it showed a token */
    struct buf waiting;
    size_t sent; /* of waiting */
    bool suspended;
    int64_t sent_ms;
};

struct streams {
    struct server *server;
    struct listener *first;
    size_t count;
    bool ending;
};

struct streams *streams_new(struct server *server) {
    struct streams *streams = calloc(1, sizeof *streams);
    if (streams != NULL)
        streams->server = server;
    return streams;
}

void streams_free(struct streams *streams) { free(streams); }

size_t streams_count(const struct streams *streams) { return streams->count; }

static void listener_free(void *self) {
    struct listener *listener = self;
    *listener->before = listener->next;
    if (listener->next != NULL)
        listener->next->before = listener->before;
    listener->streams->count--;
    buf_free(&listener->waiting);
    free(listener);
}

/* When a session ends, its event streams end too. */
static bool signed_out(const struct listener *listener) {
    return listener->session[0] != '\0' && session_find(listener->streams->server->sessions,
                                                        str_from(listener->session), clock_boot_ms()) == NULL;
}

/* Nothing to send: the connection sleeps until there is. */
static ssize_t listener_read(void *self, uint64_t position, char *into, size_t max) {
    struct listener *listener = self;
    (void)position;
    size_t left = listener->waiting.len - listener->sent;
    if (left == 0) {
        if (listener->streams->ending || signed_out(listener))
            return MHD_CONTENT_READER_END_OF_STREAM;
        listener->suspended = true;
        MHD_suspend_connection(listener->connection);
        return 0;
    }
    size_t len = left < max ? left : max;
    memcpy(into, listener->waiting.ptr + listener->sent, len);
    listener->sent += len;
    if (listener->sent == listener->waiting.len) {
        buf_reset(&listener->waiting);
        listener->sent = 0;
    }
    return (ssize_t)len;
}

static void wake(struct listener *listener) {
    listener->sent_ms = clock_boot_ms();
    if (listener->suspended)
        MHD_resume_connection(listener->connection);
    listener->suspended = false;
}

/* One frame; data has no line ends. */
static void append(struct listener *listener, const char *event, int64_t id, pawl_str data) {
    struct stats *stats = listener->streams->server->stats;
    if (listener->waiting.len + data.len > PAWL_HTTP_STREAM_BYTES_MAX) {
        pthread_mutex_lock(&stats->lock);
        stats->streams_dropped++;
        pthread_mutex_unlock(&stats->lock);
        return;
    }
    buf_printf(&listener->waiting, "event: %s\nid: %" PRId64 "\ndata: %.*s\n\n", event, id, STR_ARG(data));
}

void streams_send(struct streams *streams, const char *event, int64_t id, pawl_str data) {
    for (struct listener *listener = streams->first; listener != NULL; listener = listener->next) {
        if (!signed_out(listener))
            append(listener, event, id, data);
        wake(listener);
    }
}

void streams_tick(struct streams *streams, int64_t now_ms) {
    for (struct listener *listener = streams->first; listener != NULL; listener = listener->next) {
        if (now_ms - listener->sent_ms < PAWL_HTTP_STREAM_PING_MS)
            continue;
        if (listener->waiting.len == 0)
            buf_append_cstr(&listener->waiting, ": still here\n\n");
        wake(listener);
    }
}

void streams_sign_out(struct streams *streams) {
    for (struct listener *listener = streams->first; listener != NULL; listener = listener->next)
        if (signed_out(listener))
            wake(listener);
}

void streams_end(struct streams *streams) {
    streams->ending = true;
    for (struct listener *listener = streams->first; listener != NULL; listener = listener->next)
        wake(listener);
}

/* The events the client missed since its last one, then the latest. */
static void catch_up(struct listener *listener, const char *last_seen) {
    int64_t after = INT64_MAX;
    if (last_seen != NULL && !str_to_i64(str_from(last_seen), 0, INT64_MAX, &after))
        after = INT64_MAX;
    buf_append_cstr(&listener->waiting, "retry: 2000\n\n");
    sampler_replay(listener->streams->server->sampler, after, &listener->waiting);
}

pawl_status stream_open(struct streams *streams, struct exchange *exchange, pawl_error *err) {
    if (streams->count >= PAWL_HTTP_STREAMS_MAX)
        return error_set(err, PAWL_BUSY, "stream", "%d others listen already, which is the limit",
                         PAWL_HTTP_STREAMS_MAX);
    struct listener *listener = calloc(1, sizeof *listener);
    if (listener == NULL)
        return error_set(err, PAWL_NO_MEMORY, "stream", "no memory for a listener");
    *listener = (struct listener){.streams = streams,
                                  .connection = exchange->connection,
                                  .sent_ms = clock_boot_ms(),
                                  .next = streams->first,
                                  .before = &streams->first};
    if (!str_absent(exchange->call.session) && exchange->call.session.len < sizeof listener->session)
        memcpy(listener->session, exchange->call.session.ptr, exchange->call.session.len);
    buf_init(&listener->waiting, 2 * (size_t)PAWL_HTTP_STREAM_BYTES_MAX);
    if (listener->next != NULL)
        listener->next->before = &listener->next;
    streams->first = listener;
    streams->count++;
    catch_up(listener, exchange->call.last_seen);
    struct MHD_Response *response = MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, PAWL_HTTP_STREAM_BLOCK_BYTES, listener_read, listener, listener_free);
    if (response == NULL) {
        listener_free(listener);
        return error_set(err, PAWL_NO_MEMORY, "stream", "no memory for a stream");
    }
    respond_headers(exchange, response);
    (void)MHD_add_response_header(response, "Content-Type", "text/event-stream");
    (void)MHD_add_response_header(response, "Cache-Control", "no-store");
    (void)MHD_add_response_header(response, "X-Accel-Buffering", "no");
    exchange->call.status = 200;
    enum MHD_Result result = MHD_queue_response(exchange->connection, 200, response);
    MHD_destroy_response(response); /* frees the listener when it was not queued */
    if (result != MHD_YES)
        return error_set(err, PAWL_INTERNAL, "stream", "the stream could not be started");
    sampler_wanted(streams->server->sampler);
    return PAWL_OK;
}
