/* Makes the messages that are put. */
#include "feed.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/str.h"
#include "base/uuid.h"

struct feed *feed_create(const struct bench_options *options, int index, int count) {
    struct feed *feed = calloc(1, sizeof(*feed));
    if (feed == NULL)
        return NULL;
    feed->next = feed->index = index;
    feed->group = 1;
    feed->step = count;
    feed->streams = options->streams > 0 ? options->streams : 1;
    return feed;
}

pawl_status feed_next(struct feed *feed, size_t count, pawl_error *err) {
    for (size_t i = 0; i < count; i++) {
        pawl_outgoing *message = &feed->messages[i];
        char *stream = feed->stream_text[i];
        char *payload = feed->payload_text[i];
        int64_t turn = feed->made++ / feed->group * feed->step + feed->index;
        int stream_len =
            snprintf(stream, sizeof(feed->stream_text[i]), "order-%" PRId64, turn % feed->streams);
        int payload_len = snprintf(
            payload, sizeof(feed->payload_text[i]),
            "{\"n\":%" PRId64 ",\"sku\":\"A-1009\",\"quantity\":3,\"note\":\"as agreed\"}", feed->next);
        *message = (pawl_outgoing){
            .stream = {stream, (size_t)stream_len},
            .topic = STR("orders"),
            .type = STR("order.placed"),
            .payload = {payload, (size_t)payload_len},
        };
        pawl_status status = uuid_next(&message->id, err);
        if (status != PAWL_OK)
            return status;
        feed->next += feed->step;
    }
    return PAWL_OK;
}

pawl_status feed_fill(struct side *side, const struct side_ops *ops, struct feed *feed, int64_t total,
                      int batch, pawl_error *err) {
    pawl_status status = PAWL_OK;
    for (int64_t left = total; status == PAWL_OK && left > 0;) {
        size_t count = left < batch ? (size_t)left : (size_t)batch;
        status = feed_next(feed, count, err);
        if (status == PAWL_OK)
            status = ops->put(side, feed->messages, count, err);
        left -= (int64_t)count;
    }
    return status;
}
