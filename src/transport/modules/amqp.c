/* AMQP 0-9-1 as RabbitMQ speaks it: publisher confirms, mandatory returns, structured CloudEvents. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "transport/modules/amqp_connection.h"

static int send_one(struct transport *session, const struct transport_message *message) {
    const struct event *event = &message->event;
    buf_reset(&session->json);
    event_json(&session->json, event);
    if (session->json.failed)
        return AMQP_STATUS_NO_MEMORY;
    amqp_table_entry_t trace = {
        .key = amqp_cstring_bytes("traceparent"),
        .value = {.kind = AMQP_FIELD_KIND_UTF8, .value.bytes = amqp_bytes(event->traceparent)}};
    amqp_basic_properties_t properties = {
        ._flags = AMQP_BASIC_CONTENT_TYPE_FLAG | AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_MESSAGE_ID_FLAG |
                  AMQP_BASIC_TYPE_FLAG,
        .content_type = amqp_cstring_bytes(EVENT_CONTENT_TYPE "; charset=utf-8"),
        .delivery_mode = AMQP_DELIVERY_PERSISTENT,
        .message_id = amqp_bytes(event->id),
        .type = amqp_bytes(event->type),
        .correlation_id = amqp_bytes(event->correlation_id),
        .headers = {1, &trace},
    };
    if (!str_absent(event->correlation_id))
        properties._flags |= AMQP_BASIC_CORRELATION_ID_FLAG;
    if (!str_absent(event->traceparent))
        properties._flags |= AMQP_BASIC_HEADERS_FLAG;
    int code = amqp_basic_publish(session->connection, AMQP_CHANNEL, amqp_cstring_bytes(session->exchange),
                                  amqp_bytes(message->destination), 1, 0, &properties,
                                  amqp_bytes(buf_str(&session->json)));
    session->published += code == AMQP_STATUS_OK;
    return code;
}

/* A set of published messages, and the broker's numbers for them. */
struct flight {
    const struct transport_message *messages;
    struct transport_result *results;
    size_t count, open;
    uint64_t first; /* the broker's number of messages[0] */
};

static void settle(struct flight *flight, uint64_t number, bool multiple, bool good) {
    for (uint64_t own = multiple ? flight->first : number; own <= number; own++) {
        if (own < flight->first || own - flight->first >= flight->count)
            continue;
        struct transport_result *result = &flight->results[own - flight->first];
        if (result->fate == FATE_UNAVAILABLE) {
            if (good)
                transport_result_confirm(result);
            else
                transport_result_set(result, FATE_REFUSED, "the broker could not store it");
            flight->open--;
        } else if (result->fate == FATE_REFUSED && result->error[0] == '\x01') {
            memmove(result->error, result->error + 1, sizeof(result->error) - 1); /* returned before */
            flight->open--;
        }
    }
}

/* A message that no queue accepts is returned before its confirm. */
static pawl_status take_return(struct transport *session, struct flight *flight,
                               const amqp_basic_return_t *ret, pawl_error *err) {
    char reason[96];
    snprintf(reason, sizeof(reason), "%.*s", STR_ARG(amqp_text(ret->reply_text)));
    amqp_message_t message;
    amqp_rpc_reply_t reply = amqp_read_message(session->connection, AMQP_CHANNEL, &message, 0);
    if (reply.reply_type != AMQP_RESPONSE_NORMAL)
        return amqp_reply_status(session, reply, err);
    for (size_t i = 0; i < flight->count; i++) {
        struct transport_result *result = &flight->results[i];
        if (result->fate == FATE_UNAVAILABLE &&
            str_equal(amqp_text(message.properties.message_id), flight->messages[i].event.id)) {
            transport_result_set(result, FATE_REFUSED,
                                 "\x01"
                                 "no queue takes it: %s",
                                 reason);
            break;
        }
    }
    amqp_destroy_message(&message);
    return PAWL_OK;
}

static pawl_status take_frame(struct transport *session, struct flight *flight, const amqp_frame_t *frame,
                              pawl_error *err) {
    if (frame->frame_type != AMQP_FRAME_METHOD)
        return PAWL_OK;
    const amqp_method_t *method = &frame->payload.method;
    switch (method->id) {
    case AMQP_BASIC_ACK_METHOD: {
        const amqp_basic_ack_t *ack = method->decoded;
        settle(flight, ack->delivery_tag, ack->multiple != 0, true);
        return PAWL_OK;
    }
    case AMQP_BASIC_NACK_METHOD: {
        const amqp_basic_nack_t *nack = method->decoded;
        settle(flight, nack->delivery_tag, nack->multiple != 0, false);
        return PAWL_OK;
    }
    case AMQP_BASIC_RETURN_METHOD:
        return take_return(session, flight, method->decoded, err);
    case AMQP_CHANNEL_CLOSE_METHOD: {
        pawl_status status = amqp_exception(method, &session->closed_code, err);
        snprintf(session->closed_text, sizeof(session->closed_text), "%.150s", err->text);
        return status;
    }
    case AMQP_CONNECTION_CLOSE_METHOD: {
        int code;
        (void)amqp_exception(method, &code, err);
        return PAWL_UNAVAILABLE;
    }
    default:
        return PAWL_OK;
    }
}

static pawl_status publish_set(struct transport *session, struct flight *flight, pawl_error *err) {
    int64_t until_ms = clock_boot_ms() + session->confirm_ms;
    flight->first = session->published + 1;
    flight->open = flight->count;
    for (size_t i = 0; i < flight->count; i++) {
        int code = send_one(session, &flight->messages[i]);
        if (code != AMQP_STATUS_OK)
            return amqp_lost(code, err);
    }
    while (flight->open > 0) {
        amqp_frame_t frame;
        struct timeval limit = amqp_timeval(until_ms - clock_boot_ms());
        amqp_maybe_release_buffers(session->connection);
        int code = amqp_simple_wait_frame_noblock(session->connection, &frame, &limit);
        if (code == AMQP_STATUS_TIMEOUT)
            return error_set(err, PAWL_UNAVAILABLE, "amqp", "the broker did not confirm in time");
        if (code != AMQP_STATUS_OK)
            return amqp_lost(code, err);
        pawl_status status = take_frame(session, flight, &frame, err);
        if (status != PAWL_OK)
            return status;
    }
    return PAWL_OK;
}

/* The broker closed the channel and does not say for which message, so each is tried alone. */
static pawl_status publish_singly(struct transport *session, const struct transport_message *messages,
                                  size_t count, struct transport_result *results, pawl_error *err) {
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        if (session->closed_code != 0)
            status = amqp_channel_again(session, err);
        if (status != PAWL_OK || results[i].fate == FATE_CONFIRMED)
            continue;
        struct flight flight = {&messages[i], &results[i], 1, 0, 0};
        status = publish_set(session, &flight, err);
        if (session->closed_code == 0)
            continue;
        enum transport_fate fate = session->closed_code == AMQP_PRECONDITION_FAILED ? FATE_REJECTED
                                                                                    : FATE_REFUSED;
        transport_result_set(&results[i], fate, "%s", session->closed_text);
        status = PAWL_OK;
    }
    if (status == PAWL_OK && session->closed_code != 0)
        status = amqp_channel_again(session, err);
    return status;
}

static pawl_status amqp_session_publish(struct transport *session, const struct transport_message *messages,
                                        size_t count, struct transport_result *results, pawl_error *err) {
    transport_results_unknown(results, count, "the broker did not confirm it");
    struct flight flight = {messages, results, count, 0, 0};
    pawl_status status = publish_set(session, &flight, err);
    for (size_t i = 0; i < count; i++) { /* returned, but the confirm is missing */
        if (results[i].fate == FATE_REFUSED && results[i].error[0] == '\x01')
            transport_results_unknown(&results[i], 1, "the broker did not confirm it");
    }
    if (session->closed_code != 0)
        status = publish_singly(session, messages, count, results, err);
    return status;
}

static pawl_status declare_queue(struct transport *session, pawl_str name, bool passive, pawl_error *err) {
    amqp_queue_declare(session->connection, AMQP_CHANNEL, amqp_bytes(name), passive, !passive, 0, 0,
                       amqp_empty_table);
    return amqp_reply_status(session, amqp_get_rpc_reply(session->connection), err);
}

static pawl_status amqp_session_subscribe(struct transport *session, const struct transport_subscription *in,
                                          pawl_error *err) {
    pawl_status status = str_dup(session->arena, in->from, &session->from, err);
    if (status == PAWL_OK)
        status = declare_queue(session, in->from, true, err);
    if (session->closed_code == AMQP_NOT_FOUND) {
        status = amqp_channel_again(session, err);
        if (status == PAWL_OK)
            status = declare_queue(session, in->from, false, err);
    }
    if (status == PAWL_OK) {
        amqp_basic_qos(session->connection, AMQP_CHANNEL, 0, TRANSPORT_RECEIVE_MAX, 0);
        status = amqp_reply_status(session, amqp_get_rpc_reply(session->connection), err);
    }
    if (status == PAWL_OK) {
        amqp_basic_consume(session->connection, AMQP_CHANNEL, amqp_bytes(in->from), amqp_empty_bytes, 0, 0, 0,
                           amqp_empty_table);
        status = amqp_reply_status(session, amqp_get_rpc_reply(session->connection), err);
    }
    return status;
}

static pawl_status amqp_session_receive(struct transport *session, struct arena *arena, size_t max,
                                        int wait_ms, struct transport_delivery *deliveries, size_t *count,
                                        pawl_error *err) {
    *count = 0;
    while (*count < max) {
        amqp_envelope_t envelope;
        struct timeval limit = amqp_timeval(*count == 0 ? wait_ms : 0);
        amqp_maybe_release_buffers(session->connection);
        amqp_rpc_reply_t reply = amqp_consume_message(session->connection, &envelope, &limit, 0);
        if (reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION && reply.library_error == AMQP_STATUS_TIMEOUT)
            return PAWL_OK;
        if (reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION &&
            reply.library_error == AMQP_STATUS_UNEXPECTED_STATE)
            return error_set(err, PAWL_UNAVAILABLE, "amqp", "the broker ended the subscription to %.*s",
                             STR_ARG(session->from));
        pawl_status status = amqp_reply_status(session, reply, err);
        if (status != PAWL_OK)
            return status;
        deliveries[*count] = (struct transport_delivery){.tag = envelope.delivery_tag, .from = session->from};
        status =
            transport_delivery_take(&deliveries[*count], arena, amqp_text(envelope.message.body), NULL, err);
        amqp_destroy_envelope(&envelope);
        if (status != PAWL_OK)
            return status;
        (*count)++;
    }
    return PAWL_OK;
}

/* Tags grow, and everything received before has been answered: the last one acknowledges all. */
static pawl_status amqp_session_acknowledge(struct transport *session, const uint64_t *tags, size_t count,
                                            enum transport_verdict verdict, pawl_error *err) {
    if (count == 0)
        return PAWL_OK;
    int code = verdict == VERDICT_ACCEPT
                   ? amqp_basic_ack(session->connection, AMQP_CHANNEL, tags[count - 1], 1)
                   : amqp_basic_nack(session->connection, AMQP_CHANNEL, tags[count - 1], 1, 1);
    return code == AMQP_STATUS_OK ? PAWL_OK : amqp_lost(code, err);
}

__attribute__((visibility("default"))) const struct transport_module pawl_transport_module = {
    .abi = TRANSPORT_ABI,
    .name = "amqp",
    .library = "librabbitmq " AMQP_VERSION_STRING,
    .keeps_order = false,
    .open = amqp_session_open,
    .publish = amqp_session_publish,
    .subscribe = amqp_session_subscribe,
    .receive = amqp_session_receive,
    .acknowledge = amqp_session_acknowledge,
    .close = amqp_session_close,
};
