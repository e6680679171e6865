/* AMQP 0-9-1 as RabbitMQ speaks it: publisher confirms, mandatory returns, structured CloudEvents. */
#include <amqp.h>
#include <amqp_ssl_socket.h>
#include <amqp_tcp_socket.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "transport/transport.h"

enum { AMQP_CHANNEL = 1 };

struct transport {
    TRANSPORT_SESSION
    amqp_connection_state_t connection;
    struct buf json;
    const char *exchange;
    uint64_t published; /* on this channel: the broker counts the same */
    int closed_code;    /* why the broker closed the channel; 0 = it is open */
    char closed_text[160];
};

static inline amqp_bytes_t amqp_bytes(pawl_str text) {
    return (amqp_bytes_t){text.len, (void *)(uintptr_t)text.ptr};
}
static inline pawl_str amqp_text(amqp_bytes_t bytes) { return (pawl_str){bytes.bytes, bytes.len}; }

enum { FRAME_BYTES = 131072, HEARTBEAT_SECONDS = 30 };

/* what is negative is 0 */
static struct timeval amqp_timeval(int64_t ms) {
    ms = ms < 0 ? 0 : ms;
    return (struct timeval){.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
}

/* The library's code of a connection that is gone: PAWL_UNAVAILABLE. */
static pawl_status amqp_lost(int code, pawl_error *err) {
    return error_set(err, PAWL_UNAVAILABLE, "amqp", "the connection failed: %s", amqp_error_string2(code));
}

/* What the broker said when it closed the channel or the connection. */
static pawl_status amqp_exception(const amqp_method_t *method, int *code, pawl_error *err) {
    pawl_str text = STR("?");
    uint16_t number = 0;
    if (method->id == AMQP_CHANNEL_CLOSE_METHOD) {
        const amqp_channel_close_t *close = method->decoded;
        text = amqp_text(close->reply_text);
        number = close->reply_code;
    } else if (method->id == AMQP_CONNECTION_CLOSE_METHOD) {
        const amqp_connection_close_t *close = method->decoded;
        text = amqp_text(close->reply_text);
        number = close->reply_code;
    }
    *code = number;
    bool wrong = number == AMQP_ACCESS_REFUSED || number == AMQP_NOT_FOUND || number == AMQP_NOT_ALLOWED ||
                 number == AMQP_PRECONDITION_FAILED;
    return error_set(err, wrong ? PAWL_INVALID : PAWL_UNAVAILABLE, "amqp", "the broker says: %u %.*s", number,
                     STR_ARG(text));
}

static pawl_status amqp_reply_status(struct transport *session, amqp_rpc_reply_t reply, pawl_error *err) {
    if (reply.reply_type == AMQP_RESPONSE_NORMAL)
        return PAWL_OK;
    if (reply.reply_type == AMQP_RESPONSE_SERVER_EXCEPTION) {
        pawl_status status = amqp_exception(&reply.reply, &session->closed_code, err);
        snprintf(session->closed_text, sizeof(session->closed_text), "%.150s", err->text);
        return status;
    }
    return amqp_lost(reply.library_error, err);
}

static pawl_status channel_open(struct transport *session, pawl_error *err) {
    session->closed_code = 0;
    session->published = 0;
    amqp_channel_open(session->connection, AMQP_CHANNEL);
    return amqp_reply_status(session, amqp_get_rpc_reply(session->connection), err);
}

static pawl_status confirms_on(struct transport *session, pawl_error *err) {
    amqp_confirm_select(session->connection, AMQP_CHANNEL);
    return amqp_reply_status(session, amqp_get_rpc_reply(session->connection), err);
}

/* After the broker has closed the channel for one message, the others get a new one. */
static pawl_status amqp_channel_again(struct transport *session, pawl_error *err) {
    amqp_channel_close_ok_t ok = {0};
    int code = amqp_send_method(session->connection, AMQP_CHANNEL, AMQP_CHANNEL_CLOSE_OK_METHOD, &ok);
    if (code != AMQP_STATUS_OK)
        return amqp_lost(code, err);
    amqp_maybe_release_buffers(session->connection);
    pawl_status status = channel_open(session, err);
    return status == PAWL_OK ? confirms_on(session, err) : status;
}

static void amqp_session_close(struct transport *session) {
    if (session->connection != NULL)
        amqp_destroy_connection(session->connection);
    buf_free(&session->json);
}

static pawl_status open_socket(struct transport *session, const struct transport_config *config,
                               pawl_error *err) {
    const struct address *address = &session->address;
    amqp_socket_t *socket = NULL;
    int port = address->port;
    if (address->tls) {
        socket = amqp_ssl_socket_new(session->connection);
        if (socket == NULL)
            return error_set(err, PAWL_NO_MEMORY, "amqp", "no TLS socket");
        amqp_ssl_socket_set_verify_peer(socket, 1);
        amqp_ssl_socket_set_verify_hostname(socket, 1);
        amqp_ssl_socket_set_ssl_versions(socket, AMQP_TLSv1_2, AMQP_TLSvLATEST);
        const char *authorities = config->ca_file != NULL ? config->ca_file
                                                          : "/etc/ssl/certs/ca-certificates.crt";
        if (amqp_ssl_socket_set_cacert(socket, authorities) != AMQP_STATUS_OK)
            return error_set(err, PAWL_INVALID, "amqp", "the authorities in %s cannot be read", authorities);
        if (config->cert_file != NULL &&
            amqp_ssl_socket_set_key(socket, config->cert_file,
                                    config->key_file != NULL ? config->key_file : config->cert_file) !=
                AMQP_STATUS_OK)
            return error_set(err, PAWL_INVALID, "amqp", "the client certificate %s cannot be used",
                             config->cert_file);
    } else {
        socket = amqp_tcp_socket_new(session->connection);
        if (socket == NULL)
            return error_set(err, PAWL_NO_MEMORY, "amqp", "no socket");
    }
    struct timeval limit = amqp_timeval(config->connect_ms);
    int code = amqp_socket_open_noblock(socket, address->host, port, &limit);
    if (code == AMQP_STATUS_SSL_PEER_VERIFY_FAILED || code == AMQP_STATUS_SSL_HOSTNAME_VERIFY_FAILED)
        return error_set(err, PAWL_INVALID, "amqp", "TLS with %s:%d failed: %s", address->host, port,
                         amqp_error_string2(code));
    if (code != AMQP_STATUS_OK)
        return error_set(err, PAWL_UNAVAILABLE, "amqp", "%s:%d cannot be reached: %s", address->host, port,
                         amqp_error_string2(code));
    /* The library sends without a deadline; a broker that stops reading must not hold the caller. */
    unsigned unread_ms = (unsigned)config->confirm_ms;
    if (setsockopt(amqp_get_sockfd(session->connection), IPPROTO_TCP, TCP_USER_TIMEOUT, &unread_ms,
                   sizeof(unread_ms)) != 0)
        return error_errno(err, PAWL_UNAVAILABLE, "amqp", errno, "no deadline for sending");
    return PAWL_OK;
}

static pawl_status login(struct transport *session, const struct transport_config *config, pawl_error *err) {
    const struct address *address = &session->address;
    const char *user = address->user != NULL ? address->user : "guest";
    const char *password = address->password != NULL ? address->password : "guest";
    struct timeval limit = amqp_timeval(config->connect_ms);
    amqp_set_handshake_timeout(session->connection, &limit);
    struct timeval answer = amqp_timeval(config->confirm_ms);
    amqp_set_rpc_timeout(session->connection, &answer);
    amqp_rpc_reply_t reply = amqp_login(session->connection, address->path != NULL ? address->path : "/", 0,
                                        FRAME_BYTES, HEARTBEAT_SECONDS, AMQP_SASL_METHOD_PLAIN, user,
                                        password);
    /* If the broker closes the connection during the login, it has refused it. */
    if (reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION &&
        (reply.library_error == AMQP_STATUS_CONNECTION_CLOSED ||
         reply.library_error == AMQP_STATUS_SOCKET_ERROR))
        return error_set(err, PAWL_UNAVAILABLE, "amqp", "the broker ended the connection during the login");
    return amqp_reply_status(session, reply, err);
}

static pawl_status amqp_session_open(struct transport *session, const struct transport_config *config,
                                     pawl_error *err) {
    const char *exchange = transport_option(config, "exchange");
    buf_init(&session->json, 0);
    session->exchange = arena_strdup(session->arena, exchange != NULL ? exchange : "");
    session->connection = amqp_new_connection();
    if (session->exchange == NULL || session->connection == NULL)
        return error_no_memory(err, "amqp");
    pawl_status status = open_socket(session, config, err);
    if (status == PAWL_OK)
        status = login(session, config, err);
    if (status == PAWL_OK)
        status = channel_open(session, err);
    return status == PAWL_OK ? confirms_on(session, err) : status;
}

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

static pawl_status amqp_session_subscribe(struct transport *session, pawl_error *err) {
    pawl_status status = declare_queue(session, session->from, true, err);
    if (session->closed_code == AMQP_NOT_FOUND) {
        status = amqp_channel_again(session, err);
        if (status == PAWL_OK)
            status = declare_queue(session, session->from, false, err);
    }
    if (status == PAWL_OK) {
        amqp_basic_qos(session->connection, AMQP_CHANNEL, 0, TRANSPORT_RECEIVE_MAX, 0);
        status = amqp_reply_status(session, amqp_get_rpc_reply(session->connection), err);
    }
    if (status == PAWL_OK) {
        amqp_basic_consume(session->connection, AMQP_CHANNEL, amqp_bytes(session->from), amqp_empty_bytes, 0,
                           0, 0, amqp_empty_table);
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
    .session_bytes = sizeof(struct transport),
    .port = 5672,
    .tls_port = 5671,
    .open = amqp_session_open,
    .publish = amqp_session_publish,
    .subscribe = amqp_session_subscribe,
    .receive = amqp_session_receive,
    .acknowledge = amqp_session_acknowledge,
    .close = amqp_session_close,
};
