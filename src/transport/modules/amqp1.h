/* What the parts of the AMQP 1.0 module share: a connection, its session, and waiting for the broker. */
#ifndef TRANSPORT_MODULES_AMQP1_H
#define TRANSPORT_MODULES_AMQP1_H

#include <proton/connection.h>
#include <proton/connection_driver.h>
#include <proton/delivery.h>
#include <proton/link.h>
#include <proton/message.h>
#include <proton/sasl.h>
#include <proton/session.h>
#include <proton/transport.h>

#include "transport/transport.h"

struct wire;

enum { AMQP1_LINKS_MAX = 64 };

struct transport {
    TRANSPORT_SESSION
    pn_connection_driver_t driver;
    bool driver_open;
    pn_connection_t *connection;
    pn_session_t *session;
    struct wire *wire;
    const char *sas_name, *sas_key;
    int64_t token_ms; /* how long a token is good */
    int64_t sas_ms;   /* when the last was put */
    bool broken;      /* the connection */
    bool ended;       /* its session; RabbitMQ ends it if a destination does not exist */
    char reason[200];
    char condition[64]; /* the broker's name of it */
    pn_link_t *senders[AMQP1_LINKS_MAX];
    size_t sender_count;
    uint64_t sent;
    char *encoded;
    size_t encoded_size;
    pn_link_t *receiver;
    pn_delivery_t *deliveries[TRANSPORT_RECEIVE_MAX]; /* of the last receive; the tag is the index */
    size_t delivery_count;
};

pawl_status amqp1_open(struct transport *session, const struct transport_config *config, pawl_error *err);
void amqp1_close(struct transport *session);

/* Writes everything that is pending. */
PAWL_MUSTCHECK pawl_status amqp1_flush(struct transport *session, int64_t until_ms, pawl_error *err);

/* One turn: sends everything that is pending, then receives. PAWL_BUSY: nothing arrived in time;
 * PAWL_INVALID: the broker has ended the session. */
PAWL_MUSTCHECK pawl_status amqp1_turn(struct transport *session, int64_t until_ms, pawl_error *err);

/* Waits until the broker has opened the link (PAWL_INVALID: it refuses), or gives it credit. */
PAWL_MUSTCHECK pawl_status amqp1_await_link(struct transport *session, pn_link_t *link, pawl_error *err);
PAWL_MUSTCHECK pawl_status amqp1_await_credit(struct transport *session, pn_link_t *link, pawl_error *err);

/* The message as bytes in session->encoded; 0: out of memory. Then sends those bytes; NULL: out of memory. */
size_t amqp1_encode(struct transport *session, pn_message_t *message);
pn_delivery_t *amqp1_send_encoded(struct transport *session, pn_link_t *link, size_t size);

void amqp1_put_text(pn_data_t *data, pawl_str text);

/* Service Bus: sends a new token before the last one expires. */
PAWL_MUSTCHECK pawl_status amqp1_put_token(struct transport *session, pawl_error *err);

/* A new session on the same connection; the links of the old one are gone. */
void amqp1_session_again(struct transport *session);

#endif
