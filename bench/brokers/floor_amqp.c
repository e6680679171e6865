/* librabbitmq: mandatory publishes to a durable queue with publisher confirms. */
#include <amqp.h>
#include <amqp_tcp_socket.h>
#include <stdio.h>

#include "floor.h"

enum { CHANNEL = 1, FRAME_BYTES = 131072 };

static bool send_event(amqp_connection_state_t rabbit, const struct floor *floor, struct floor_event *event) {
    amqp_basic_properties_t properties = {._flags = AMQP_BASIC_CONTENT_TYPE_FLAG |
                                                    AMQP_BASIC_DELIVERY_MODE_FLAG |
                                                    AMQP_BASIC_MESSAGE_ID_FLAG | AMQP_BASIC_TYPE_FLAG,
                                          .content_type = amqp_cstring_bytes("application/cloudevents+json"),
                                          .delivery_mode = 2,
                                          .message_id = amqp_cstring_bytes(event->id),
                                          .type = amqp_cstring_bytes(FLOOR_TYPE)};
    amqp_bytes_t body = {event->json_len, event->json};
    return amqp_basic_publish(rabbit, CHANNEL, amqp_empty_bytes, amqp_cstring_bytes(floor->destination), 1, 0,
                              &properties, body) == AMQP_STATUS_OK;
}

/* Waits until every tag from first to last is confirmed, in whatever order; one answer may stand for many. */
static bool await(amqp_connection_state_t rabbit, uint64_t first, uint64_t last) {
    bool confirmed[FLOOR_WINDOW] = {false};
    for (uint64_t left = last - first + 1; left > 0;) {
        amqp_frame_t frame;
        amqp_maybe_release_buffers(rabbit);
        if (amqp_simple_wait_frame(rabbit, &frame) != AMQP_STATUS_OK ||
            frame.frame_type != AMQP_FRAME_METHOD || frame.payload.method.id != AMQP_BASIC_ACK_METHOD) {
            fprintf(stderr, "amqp: not confirmed\n");
            return false;
        }
        const amqp_basic_ack_t *ack = frame.payload.method.decoded;
        for (uint64_t tag = ack->multiple ? first : ack->delivery_tag; tag <= ack->delivery_tag; tag++) {
            left -= !confirmed[tag - first];
            confirmed[tag - first] = true;
        }
    }
    return true;
}

bool floor_publish(const struct floor *floor) {
    amqp_connection_state_t rabbit = amqp_new_connection();
    amqp_socket_t *socket = amqp_tcp_socket_new(rabbit);
    bool good =
        amqp_socket_open(socket, floor->host, floor->port) == AMQP_STATUS_OK &&
        amqp_login(rabbit, "/", 0, FRAME_BYTES, 0, AMQP_SASL_METHOD_PLAIN, "guest", "guest").reply_type ==
            AMQP_RESPONSE_NORMAL &&
        amqp_channel_open(rabbit, CHANNEL) != NULL && amqp_confirm_select(rabbit, CHANNEL) != NULL;
    for (int64_t at = 0; good && at < floor->messages; at += FLOOR_WINDOW) {
        int64_t end = floor->messages - at < FLOOR_WINDOW ? floor->messages : at + FLOOR_WINDOW;
        for (int64_t i = at; good && i < end; i++) {
            struct floor_event event;
            floor_event(floor, i, &event);
            good = send_event(rabbit, floor, &event);
        }
        good = good && await(rabbit, (uint64_t)at + 1, (uint64_t)end);
    }
    amqp_destroy_connection(rabbit);
    return good;
}
