/* AMQP 0-9-1: the connection, its channel, and the broker's reasons for closing them. */
#include <amqp_ssl_socket.h>
#include <amqp_tcp_socket.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/error.h"
#include "base/str.h"
#include "transport/address.h"
#include "transport/modules/amqp_connection.h"

enum { PORT_DEFAULT = 5672, PORT_TLS_DEFAULT = 5671, FRAME_BYTES = 131072, HEARTBEAT_SECONDS = 30 };

struct timeval amqp_timeval(int64_t ms) {
    ms = ms < 0 ? 0 : ms;
    return (struct timeval){.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
}

pawl_status amqp_lost(int code, pawl_error *err) {
    return error_set(err, PAWL_UNAVAILABLE, "amqp", "the connection failed: %s", amqp_error_string2(code));
}

/* What the broker said when it closed the channel or the connection. */
pawl_status amqp_exception(const amqp_method_t *method, int *code, pawl_error *err) {
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

pawl_status amqp_reply_status(struct transport *session, amqp_rpc_reply_t reply, pawl_error *err) {
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
pawl_status amqp_channel_again(struct transport *session, pawl_error *err) {
    amqp_channel_close_ok_t ok = {0};
    int code = amqp_send_method(session->connection, AMQP_CHANNEL, AMQP_CHANNEL_CLOSE_OK_METHOD, &ok);
    if (code != AMQP_STATUS_OK)
        return amqp_lost(code, err);
    amqp_maybe_release_buffers(session->connection);
    pawl_status status = channel_open(session, err);
    return status == PAWL_OK ? confirms_on(session, err) : status;
}

void amqp_session_close(struct transport *session) {
    if (session == NULL)
        return;
    if (session->connection != NULL)
        amqp_destroy_connection(session->connection);
    buf_free(&session->json);
    arena_free(session->arena);
    free(session);
}

static pawl_status open_socket(struct transport *session, const struct transport_config *config,
                               const struct address *address, pawl_error *err) {
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

static pawl_status login(struct transport *session, const struct transport_config *config,
                         const struct address *address, pawl_error *err) {
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

pawl_status amqp_session_open(const struct transport_config *config, struct transport **out,
                              pawl_error *err) {
    struct transport *session = calloc(1, sizeof(*session));
    if (session == NULL)
        return error_no_memory(err, "amqp");
    buf_init(&session->json, 0);
    session->confirm_ms = config->confirm_ms;
    session->arena = arena_create(0);
    session->connection = amqp_new_connection();
    struct address address;
    pawl_status status = session->connection != NULL ? PAWL_OK : error_no_memory(err, "amqp");
    if (status == PAWL_OK)
        status = address_of(session->arena, config, (struct address_ports){PORT_DEFAULT, PORT_TLS_DEFAULT},
                            &address, err);
    if (status == PAWL_OK) {
        const char *exchange = transport_option(config, "exchange");
        session->exchange = arena_strdup(session->arena, exchange != NULL ? exchange : "");
        status = open_socket(session, config, &address, err);
    }
    if (status == PAWL_OK)
        status = login(session, config, &address, err);
    if (status == PAWL_OK)
        status = channel_open(session, err);
    if (status == PAWL_OK)
        status = confirms_on(session, err);
    if (status != PAWL_OK) {
        amqp_session_close(session);
        return status;
    }
    *out = session;
    return PAWL_OK;
}
