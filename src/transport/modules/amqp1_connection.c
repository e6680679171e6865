/* AMQP 1.0: the connection, its session, and waiting for the broker. */
#include "transport/modules/amqp1.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "transport/wire.h"

enum {
    ENCODED_BYTES_MIN = 4096,
    IDLE_MS = 60000,
    GOODBYE_MS = 1000,
    TOKEN_MS_MIN = 4000,
    TOKEN_MS_DEFAULT = 60 * 60 * 1000,
    TOKEN_MS_MAX = 24 * 60 * 60 * 1000
};

static void note_condition(struct transport *session, pn_condition_t *condition, const char *what) {
    const char *name = condition != NULL ? pn_condition_get_name(condition) : NULL;
    const char *text = condition != NULL ? pn_condition_get_description(condition) : NULL;
    snprintf(session->condition, sizeof(session->condition), "%s", name != NULL ? name : "");
    snprintf(session->reason, sizeof(session->reason), "%s%s%s%s%.120s", what, name != NULL ? ": " : "",
             name != NULL ? name : "", text != NULL ? ": " : "", text != NULL ? text : "");
}

/* Service Bus ends a link whose token has run out or was revoked. Only a new connection with a new token
 * helps; the message is not at fault. */
static bool claim_gone(const struct transport *session, pn_link_t *link) {
    const char *name = pn_condition_get_name(pn_link_remote_condition(link));
    return session->sas_key != NULL && name != NULL && strcmp(name, "amqp:unauthorized-access") == 0;
}

static void take_event(struct transport *session, pn_event_t *event) {
    switch (pn_event_type(event)) {
    case PN_CONNECTION_REMOTE_CLOSE:
        note_condition(session, pn_connection_remote_condition(session->connection),
                       "the broker ended the connection");
        session->broken = true;
        break;
    case PN_SESSION_REMOTE_CLOSE:
        if (pn_event_session(event) != session->session)
            break;
        note_condition(session, pn_session_remote_condition(session->session),
                       "the broker ended the session");
        session->ended = true;
        break;
    case PN_LINK_REMOTE_CLOSE:
    case PN_LINK_REMOTE_DETACH:
        note_condition(session, pn_link_remote_condition(pn_event_link(event)), "the broker ended the link");
        session->broken = session->broken || claim_gone(session, pn_event_link(event));
        break;
    case PN_TRANSPORT_ERROR:
        note_condition(session, pn_transport_condition(session->driver.transport), "the connection failed");
        session->broken = true;
        break;
    case PN_TRANSPORT_CLOSED:
        if (session->reason[0] == '\0')
            snprintf(session->reason, sizeof(session->reason), "the connection is closed");
        session->broken = true;
        break;
    default:
        break;
    }
}

pawl_status amqp1_flush(struct transport *session, int64_t until_ms, pawl_error *err) {
    pn_event_t *event;
    while ((event = pn_connection_driver_next_event(&session->driver)) != NULL)
        take_event(session, event);
    pn_bytes_t out = pn_connection_driver_write_buffer(&session->driver);
    while (out.size > 0) {
        pawl_status status = wire_write(session->wire, out.start, out.size, until_ms, err);
        if (status != PAWL_OK) {
            session->broken = true;
            return status;
        }
        pn_connection_driver_write_done(&session->driver, out.size);
        while ((event = pn_connection_driver_next_event(&session->driver)) != NULL)
            take_event(session, event);
        out = pn_connection_driver_write_buffer(&session->driver);
    }
    return PAWL_OK;
}

/* One turn: sends everything that is pending, then receives. PAWL_BUSY: nothing arrived in time. */
pawl_status amqp1_turn(struct transport *session, int64_t until_ms, pawl_error *err) {
    pawl_status status = amqp1_flush(session, clock_boot_ms() + session->confirm_ms, err);
    if (status != PAWL_OK)
        return status;
    if (session->broken)
        return error_set(err, PAWL_UNAVAILABLE, "amqp1", "%s", session->reason);
    if (session->ended)
        return error_set(err, PAWL_INVALID, "amqp1", "%s", session->reason);
    pn_transport_tick(session->driver.transport, clock_boot_ms());
    pn_rwbytes_t in = pn_connection_driver_read_buffer(&session->driver);
    if (in.size == 0)
        return error_set(err, PAWL_UNAVAILABLE, "amqp1", "%s",
                         session->reason[0] != '\0' ? session->reason : "the connection is closed");
    size_t got = 0;
    status = wire_read(session->wire, in.start, in.size, until_ms, &got, err);
    if (status == PAWL_OK)
        pn_connection_driver_read_done(&session->driver, got);
    else if (status != PAWL_BUSY)
        session->broken = true;
    pn_event_t *event;
    while ((event = pn_connection_driver_next_event(&session->driver)) != NULL)
        take_event(session, event);
    return status;
}

/* Closes the connection and waits for the answer: cutting it may lose the last dispositions. */
static void say_goodbye(struct transport *session) {
    int64_t until_ms = clock_boot_ms() + GOODBYE_MS;
    pawl_error ignored;
    pn_connection_close(session->connection);
    while (!session->broken && amqp1_turn(session, until_ms, &ignored) == PAWL_OK)
        ;
}

void amqp1_close(struct transport *session) {
    if (session->driver_open && session->wire != NULL && !session->broken && session->session != NULL) {
        session->ended = false;
        say_goodbye(session);
    }
    if (session->driver_open)
        pn_connection_driver_destroy(&session->driver);
    wire_close(session->wire);
    free(session->encoded);
}

/* Waits until the broker has opened what we opened. */
static pawl_status await_open(struct transport *session, int64_t until_ms, pawl_error *err) {
    while ((pn_connection_state(session->connection) & PN_REMOTE_ACTIVE) == 0) {
        pawl_status status = amqp1_turn(session, until_ms, err);
        if (status == PAWL_BUSY)
            return error_set(err, PAWL_UNAVAILABLE, "amqp1", "the broker does not answer");
        bool refused = pn_transport_head_closed(session->driver.transport) ||
                       pn_sasl_outcome(pn_sasl(session->driver.transport)) == PN_SASL_AUTH;
        if (refused && pn_sasl_outcome(pn_sasl(session->driver.transport)) == PN_SASL_AUTH)
            return error_set(err, PAWL_INVALID, "amqp1", "the broker refuses user or password");
        if (status != PAWL_OK)
            return status;
    }
    return PAWL_OK;
}

pawl_status amqp1_await_link(struct transport *session, pn_link_t *link, pawl_error *err) {
    int64_t until_ms = clock_boot_ms() + session->confirm_ms;
    session->reason[0] = '\0';
    while ((pn_link_state(link) & PN_REMOTE_ACTIVE) == 0 && (pn_link_state(link) & PN_REMOTE_CLOSED) == 0) {
        pawl_status status = amqp1_turn(session, until_ms, err);
        if (status != PAWL_OK)
            return transport_late(status, "amqp1", "the broker does not open the link", err);
    }
    if ((pn_link_state(link) & PN_REMOTE_CLOSED) != 0)
        return error_set(err, session->broken ? PAWL_UNAVAILABLE : PAWL_INVALID, "amqp1", "%s",
                         session->reason[0] != '\0' ? session->reason : "the broker refuses the link");
    return PAWL_OK;
}

size_t amqp1_encode(struct transport *session, pn_message_t *message) {
    while (true) {
        size_t size = session->encoded_size;
        int code = size > 0 ? pn_message_encode(message, session->encoded, &size) : PN_OVERFLOW;
        if (code == 0)
            return size;
        if (code != PN_OVERFLOW)
            return 0;
        size_t larger = session->encoded_size > 0 ? session->encoded_size * 2 : ENCODED_BYTES_MIN;
        char *bytes = realloc(session->encoded, larger);
        if (bytes == NULL)
            return 0;
        session->encoded = bytes;
        session->encoded_size = larger;
    }
}

pn_delivery_t *amqp1_send_encoded(struct transport *session, pn_link_t *link, size_t size) {
    char tag[24];
    int len = snprintf(tag, sizeof(tag), "%llu", (unsigned long long)++session->sent);
    pn_delivery_t *delivery = pn_delivery(link, pn_dtag(tag, (size_t)len));
    if (delivery == NULL || pn_link_send(link, session->encoded, size) != (ssize_t)size)
        return NULL;
    pn_link_advance(link);
    return delivery;
}

pawl_status amqp1_await_credit(struct transport *session, pn_link_t *link, pawl_error *err) {
    int64_t until_ms = clock_boot_ms() + session->confirm_ms;
    while (pn_link_credit(link) <= 0) {
        if ((pn_link_state(link) & PN_REMOTE_CLOSED) != 0)
            return error_set(err, session->broken ? PAWL_UNAVAILABLE : PAWL_INVALID, "amqp1", "%s",
                             session->reason);
        pawl_status status = amqp1_turn(session, until_ms, err);
        if (status != PAWL_OK)
            return transport_late(status, "amqp1", "the broker gives no credit", err);
    }
    return PAWL_OK;
}

void amqp1_put_text(pn_data_t *data, pawl_str text) {
    pn_data_put_string(data, pn_bytes(text.len, text.ptr));
}

static bool wants_sas(const struct transport_config *config) {
    const char *word = transport_option(config, "sas");
    return word != NULL && strcmp(word, "false") != 0 && strcmp(word, "no") != 0;
}

static pawl_status use_shared_access(struct transport *session, const struct transport_config *config,
                                     const char *user, const char *password, pawl_error *err) {
    const char *lifetime = transport_option(config, "token-lifetime");
    if (user == NULL || password == NULL)
        return error_set(
            err, PAWL_INVALID, "amqp1",
            "the name and the value of the shared access key are missing: set user and password");
    session->token_ms = TOKEN_MS_DEFAULT;
    if (lifetime != NULL && (!clock_parse_duration(str_from(lifetime), &session->token_ms) ||
                             session->token_ms < TOKEN_MS_MIN || session->token_ms > TOKEN_MS_MAX))
        return error_set(err, PAWL_INVALID, "amqp1",
                         "token-lifetime '%.40s' is not a duration from 4s to 24h", lifetime);
    session->sas_name = arena_strdup(session->arena, user);
    session->sas_key = arena_strdup(session->arena, password);
    if (session->sas_name == NULL || session->sas_key == NULL)
        return error_no_memory(err, "amqp1");
    return PAWL_OK;
}

static pawl_status start(struct transport *session, const struct transport_config *config, pawl_error *err) {
    const struct address *address = &session->address;
    const char *user = address->user, *password = address->password;
    bool sas = strcmp(address->scheme, "sb") == 0 || wants_sas(config);
    session->connection = pn_connection();
    if (session->connection == NULL ||
        pn_connection_driver_init(&session->driver, session->connection, NULL) != 0)
        return error_no_memory(err, "amqp1");
    session->driver_open = true;
    pn_connection_set_container(session->connection, "pawl");
    pn_connection_set_hostname(session->connection, address->host);
    pn_transport_set_idle_timeout(session->driver.transport, IDLE_MS);
    pn_sasl_t *sasl = pn_sasl(session->driver.transport);
    pn_sasl_set_allow_insecure_mechs(sasl, true); /* PLAIN without TLS is the user's choice of address */
    if (sas) {
        pawl_status status = use_shared_access(session, config, user, password, err);
        if (status != PAWL_OK)
            return status;
        pn_sasl_allowed_mechs(sasl, "ANONYMOUS");
    } else if (user != NULL && password != NULL) {
        pn_connection_set_user(session->connection, user);
        pn_connection_set_password(session->connection, password);
        pn_sasl_allowed_mechs(sasl, "PLAIN");
    } else {
        pn_sasl_allowed_mechs(sasl, "ANONYMOUS");
    }
    pn_connection_open(session->connection);
    session->session = pn_session(session->connection);
    pn_session_open(session->session);
    pawl_status status = await_open(session, clock_boot_ms() + config->connect_ms, err);
    return status == PAWL_OK ? amqp1_put_token(session, err) : status;
}

pawl_status amqp1_open(struct transport *session, const struct transport_config *config, pawl_error *err) {
    pawl_status status = wire_open(config, &session->address, &session->wire, err);
    return status == PAWL_OK ? start(session, config, err) : status;
}

/* A new session on the same connection; the links of the old one are gone. */
void amqp1_session_again(struct transport *session) {
    pn_session_close(session->session);
    session->sender_count = 0;
    session->receiver = NULL;
    session->session = pn_session(session->connection);
    pn_session_open(session->session);
    session->ended = false;
}
