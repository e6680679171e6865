/* Server-sent events: the connected clients, and sending frames to them. */
#include "server/http/stream.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "server/access/sessions.h"
#include "server/http/exchange.h"
#include "server/http/outgoing.h"
#include "server/sampler.h"
#include "server/server.h"
#include "server/stats.h"

struct listener {
    struct streams *streams;
    struct listener *next, **before;
    struct outgoing outgoing;
    char session[SESSION_TEXT_BYTES]; /* "": it showed a token */
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
    outgoing_free(&listener->outgoing);
    free(listener);
}

/* When a session ends, its event streams end too. */
static bool signed_out(const struct listener *listener) {
    return listener->session[0] != '\0' && session_find(listener->streams->server->sessions,
                                                        str_from(listener->session), clock_boot_ms()) == NULL;
}

static void wake(struct listener *listener) {
    listener->sent_ms = clock_boot_ms();
    listener->outgoing.ended = listener->streams->ending || signed_out(listener);
    outgoing_wake(&listener->outgoing);
}

/* One frame; data has no line ends. */
static void append(struct listener *listener, const char *event, int64_t id, pawl_str data) {
    struct stats *stats = listener->streams->server->stats;
    if (listener->outgoing.waiting.len + data.len > PAWL_HTTP_STREAM_BYTES_MAX) {
        pthread_mutex_lock(&stats->lock);
        stats->streams_dropped++;
        pthread_mutex_unlock(&stats->lock);
        return;
    }
    buf_printf(&listener->outgoing.waiting, "event: %s\nid: %" PRId64 "\ndata: %.*s\n\n", event, id,
               STR_ARG(data));
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
        if (listener->outgoing.waiting.len == 0)
            buf_append_cstr(&listener->outgoing.waiting, ": still here\n\n");
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
    buf_append_cstr(&listener->outgoing.waiting, "retry: 2000\n\n");
    sampler_replay(listener->streams->server->sampler, after, &listener->outgoing.waiting);
}

pawl_status stream_open(struct streams *streams, struct exchange *exchange, pawl_error *err) {
    if (streams->count >= PAWL_HTTP_STREAMS_MAX)
        return error_set(err, PAWL_BUSY, "stream", "%d others listen already, which is the limit",
                         PAWL_HTTP_STREAMS_MAX);
    struct listener *listener = calloc(1, sizeof *listener);
    if (listener == NULL)
        return error_set(err, PAWL_NO_MEMORY, "stream", "no memory for a listener");
    *listener = (struct listener){.streams = streams,
                                  .sent_ms = clock_boot_ms(),
                                  .next = streams->first,
                                  .before = &streams->first,
                                  .outgoing = {.gone = listener_free, .owner = listener}};
    if (!str_absent(exchange->call.session) && exchange->call.session.len < sizeof listener->session)
        memcpy(listener->session, exchange->call.session.ptr, exchange->call.session.len);
    outgoing_init(&listener->outgoing, exchange, 2 * (size_t)PAWL_HTTP_STREAM_BYTES_MAX);
    if (listener->next != NULL)
        listener->next->before = &listener->next;
    streams->first = listener;
    streams->count++;
    catch_up(listener, exchange->call.last_seen);
    TRY(outgoing_start(&listener->outgoing, exchange, err));
    sampler_wanted(streams->server->sampler);
    return PAWL_OK;
}
