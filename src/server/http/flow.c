/* An answer that is sent piece by piece. */
#include "server/http/flow.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "server/http/exchange.h"
#include "server/http/respond.h"

struct flow {
    struct MHD_Connection *connection;
    struct buf waiting;
    size_t sent; /* of waiting */
    bool suspended, ended;
};

void flow_free(struct flow *flow) {
    if (flow == NULL)
        return;
    buf_free(&flow->waiting);
    free(flow);
}

static void wake(struct flow *flow) {
    if (flow->suspended)
        MHD_resume_connection(flow->connection);
    flow->suspended = false;
}

pawl_status flow_send(struct exchange *exchange, pawl_str data, pawl_error *err) {
    struct flow *flow = exchange->flow;
    if (flow == NULL) {
        if ((flow = calloc(1, sizeof *flow)) == NULL)
            return error_set(err, PAWL_NO_MEMORY, "flow", "no memory for a stream");
        flow->connection = exchange->connection;
        buf_init(&flow->waiting, PAWL_HTTP_ANSWER_BYTES_MAX);
        exchange->flow = flow;
    }
    buf_append_cstr(&flow->waiting, "data: ");
    buf_append_str(&flow->waiting, data);
    buf_append_cstr(&flow->waiting, "\n\n");
    flow->ended = flow->ended || flow->waiting.failed; /* a client that does not read */
    wake(flow);
    return PAWL_OK;
}

void flow_end(struct exchange *exchange) {
    exchange->flow->ended = true;
    wake(exchange->flow);
}

/* Nothing to send: the connection sleeps until there is. */
static ssize_t flow_read(void *self, uint64_t position, char *into, size_t max) {
    struct flow *flow = self;
    (void)position;
    size_t left = flow->waiting.len - flow->sent;
    if (left == 0 && flow->ended)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (left == 0) {
        flow->suspended = true;
        MHD_suspend_connection(flow->connection);
        return 0;
    }
    size_t len = left < max ? left : max;
    memcpy(into, flow->waiting.ptr + flow->sent, len);
    flow->sent += len;
    if (flow->sent == flow->waiting.len) {
        buf_reset(&flow->waiting);
        flow->sent = 0;
    }
    return (ssize_t)len;
}

pawl_status flow_start(struct exchange *exchange, pawl_error *err) {
    struct MHD_Response *response = MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, PAWL_HTTP_STREAM_BLOCK_BYTES, flow_read, exchange->flow, NULL);
    if (response == NULL)
        return error_set(err, PAWL_NO_MEMORY, "flow", "no memory for a stream");
    respond_headers(exchange, response);
    (void)MHD_add_response_header(response, "Content-Type", "text/event-stream");
    (void)MHD_add_response_header(response, "Cache-Control", "no-store");
    (void)MHD_add_response_header(response, "X-Accel-Buffering", "no");
    exchange->call.status = 200;
    enum MHD_Result result = MHD_queue_response(exchange->connection, 200, response);
    MHD_destroy_response(response);
    return result == MHD_YES ? PAWL_OK
                             : error_set(err, PAWL_INTERNAL, "flow", "the stream could not be started");
}
