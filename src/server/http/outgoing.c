/* Sending to a connection bit by bit. */
#include "server/http/outgoing.h"

#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "server/http/exchange.h"
#include "server/http/respond.h"

void outgoing_init(struct outgoing *outgoing, struct exchange *exchange, size_t bytes_max) {
    outgoing->connection = exchange->connection;
    buf_init(&outgoing->waiting, bytes_max);
}

void outgoing_free(struct outgoing *outgoing) { buf_free(&outgoing->waiting); }

void outgoing_wake(struct outgoing *outgoing) {
    if (outgoing->suspended)
        MHD_resume_connection(outgoing->connection);
    outgoing->suspended = false;
}

/* Nothing to send: the connection sleeps until there is. */
static ssize_t take(void *self, uint64_t position, char *into, size_t max) {
    struct outgoing *outgoing = self;
    (void)position;
    size_t left = outgoing->waiting.len - outgoing->sent;
    if (left == 0 && outgoing->ended)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (left == 0) {
        outgoing->suspended = true;
        MHD_suspend_connection(outgoing->connection);
        return 0;
    }
    size_t len = left < max ? left : max;
    memcpy(into, outgoing->waiting.ptr + outgoing->sent, len);
    outgoing->sent += len;
    if (outgoing->sent == outgoing->waiting.len) {
        buf_reset(&outgoing->waiting);
        outgoing->sent = 0;
    }
    return (ssize_t)len;
}

static void gone(void *self) {
    struct outgoing *outgoing = self;
    if (outgoing->gone != NULL)
        outgoing->gone(outgoing->owner);
}

pawl_status outgoing_start(struct outgoing *outgoing, struct exchange *exchange, pawl_error *err) {
    struct MHD_Response *response = MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, PAWL_HTTP_STREAM_BLOCK_BYTES, take, outgoing,
        /* What has no owner to tell may be in the exchange's memory, which is freed before the response. */
        outgoing->gone != NULL ? gone : NULL);
    if (response == NULL) {
        gone(outgoing);
        return error_set(err, PAWL_NO_MEMORY, "stream", "no memory for a stream");
    }
    respond_headers(exchange, response);
    (void)MHD_add_response_header(response, "Content-Type", "text/event-stream");
    (void)MHD_add_response_header(response, "Cache-Control", "no-store");
    (void)MHD_add_response_header(response, "X-Accel-Buffering", "no");
    exchange->call.status = 200;
    enum MHD_Result result = MHD_queue_response(exchange->connection, 200, response);
    MHD_destroy_response(response); /* calls gone when it was not queued */
    return result == MHD_YES ? PAWL_OK
                             : error_set(err, PAWL_INTERNAL, "stream", "the stream could not be started");
}
