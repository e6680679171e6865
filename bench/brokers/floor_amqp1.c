/* qpid-proton's proactor: unsettled transfers, confirmed by their dispositions. */
#include <proton/connection.h>
#include <proton/delivery.h>
#include <proton/link.h>
#include <proton/message.h>
#include <proton/proactor.h>
#include <proton/sasl.h>
#include <proton/session.h>
#include <proton/transport.h>
#include <stdio.h>
#include <string.h>

#include "floor.h"

struct run {
    const struct floor *floor;
    int64_t sent, confirmed;
    bool failed;
};

static void put_text(pn_data_t *data, const char *text) {
    pn_data_put_string(data, pn_bytes(strlen(text), text));
}

static bool send_event(pn_link_t *link, const struct floor_event *event, int64_t number) {
    char bytes[2 * FLOOR_EVENT_BYTES];
    size_t size = sizeof(bytes);
    struct floor_attribute attributes[FLOOR_ATTRIBUTES];
    floor_attributes(event, attributes);
    pn_message_t *message = pn_message();
    pn_message_set_durable(message, true);
    pn_message_set_id(message,
                      (pn_atom_t){.type = PN_STRING, .u.as_bytes = pn_bytes(strlen(event->id), event->id)});
    pn_message_set_content_type(message, "application/json");
    pn_data_t *properties = pn_message_properties(message);
    pn_data_put_map(properties);
    pn_data_enter(properties);
    for (int i = 0; i < FLOOR_ATTRIBUTES; i++) {
        char name[48];
        snprintf(name, sizeof(name), "cloudEvents_%s", attributes[i].name);
        put_text(properties, name);
        put_text(properties, attributes[i].value);
    }
    pn_data_exit(properties);
    pn_data_put_binary(pn_message_body(message), pn_bytes(strlen(event->data), event->data));
    pn_message_set_inferred(message, true);
    pn_delivery(link, pn_dtag((const char *)&number, sizeof(number)));
    bool good = pn_message_encode(message, bytes, &size) == 0 &&
                pn_link_send(link, bytes, size) == (ssize_t)size;
    pn_link_advance(link);
    pn_message_free(message);
    return good;
}

static void send_more(struct run *run, pn_link_t *link) {
    while (!run->failed && run->sent < run->floor->messages && run->sent - run->confirmed < FLOOR_WINDOW &&
           pn_link_credit(link) > 0) {
        struct floor_event event;
        floor_event(run->floor, run->sent, &event);
        run->failed = !send_event(link, &event, run->sent++);
    }
}

static void open_link(pn_connection_t *connection, const struct floor *floor) {
    pn_session_t *session = pn_session(connection);
    pn_connection_open(connection);
    pn_session_open(session);
    pn_link_t *link = pn_sender(session, "floor");
    pn_terminus_set_address(pn_link_target(link), floor->destination);
    pn_link_open(link);
}

/* False: it is over. */
static bool take_event(struct run *run, pn_event_t *event) {
    pn_delivery_t *delivery = pn_event_delivery(event);
    switch (pn_event_type(event)) {
    case PN_CONNECTION_INIT:
        open_link(pn_event_connection(event), run->floor);
        break;
    case PN_LINK_FLOW:
        send_more(run, pn_event_link(event));
        break;
    case PN_DELIVERY:
        run->failed = pn_delivery_remote_state(delivery) != PN_ACCEPTED;
        pn_delivery_settle(delivery);
        run->confirmed++;
        send_more(run, pn_event_link(event));
        break;
    case PN_TRANSPORT_CLOSED:
    case PN_LINK_REMOTE_CLOSE:
    case PN_SESSION_REMOTE_CLOSE:
        run->failed = true;
        break;
    default:
        break;
    }
    return !run->failed && run->confirmed < run->floor->messages;
}

bool floor_publish(const struct floor *floor) {
    struct run run = {.floor = floor};
    char address[PN_MAX_ADDR], port[16];
    snprintf(port, sizeof(port), "%d", floor->port);
    pn_proactor_addr(address, sizeof(address), floor->host, port);
    pn_proactor_t *proactor = pn_proactor();
    pn_connection_t *connection = pn_connection();
    pn_connection_set_user(connection, "guest");
    pn_connection_set_password(connection, "guest");
    pn_transport_t *transport = pn_transport();
    pn_sasl_allowed_mechs(pn_sasl(transport), "PLAIN");
    pn_sasl_set_allow_insecure_mechs(pn_sasl(transport), true);
    pn_proactor_connect2(proactor, connection, transport, address);
    for (bool more = true; more;) {
        pn_event_batch_t *batch = pn_proactor_wait(proactor);
        pn_event_t *event = NULL;
        while (more && (event = pn_event_batch_next(batch)) != NULL)
            more = take_event(&run, event);
        pn_proactor_done(proactor, batch);
    }
    pn_proactor_free(proactor);
    if (run.failed)
        fprintf(stderr, "amqp1: %lld of %lld confirmed\n", (long long)run.confirmed,
                (long long)floor->messages);
    return !run.failed;
}
