/* AMQP 1.0 as Azure Service Bus and RabbitMQ speak it: a link per destination, dispositions as confirms. */
#include "transport/modules/amqp1.h"

#include <proton/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"

static bool link_usable(pn_link_t *link) { return (pn_link_state(link) & PN_REMOTE_CLOSED) == 0; }

/* The link to a destination, opened at first use. PAWL_INVALID: the broker does not have it. */
static pawl_status sender_for(struct transport *session, pawl_str destination, pn_link_t **out,
                              pawl_error *err) {
    for (size_t i = 0; i < session->sender_count; i++) {
        pn_link_t *link = session->senders[i];
        if (!str_equal(destination, str_from(pn_terminus_get_address(pn_link_target(link)))))
            continue;
        if (link_usable(link)) {
            *out = link;
            return PAWL_OK;
        }
        pn_link_close(link);
        pn_link_free(link);
        session->senders[i] = session->senders[--session->sender_count];
        break;
    }
    char address[1025], name[48];
    if (destination.len >= sizeof(address))
        return error_set(err, PAWL_INVALID, "amqp1", "the destination is too long");
    snprintf(address, sizeof(address), "%.*s", STR_ARG(destination));
    snprintf(name, sizeof(name), "pawl-%llu", (unsigned long long)++session->sent);
    if (session->sender_count == AMQP1_LINKS_MAX) {
        pn_link_close(session->senders[0]);
        pn_link_free(session->senders[0]);
        session->senders[0] = session->senders[--session->sender_count];
    }
    pn_link_t *link = pn_sender(session->session, name);
    pn_terminus_set_address(pn_link_target(link), address);
    pn_terminus_set_address(pn_link_source(link), name);
    pn_link_set_snd_settle_mode(link, PN_SND_UNSETTLED);
    pn_link_open(link);
    pawl_status status = amqp1_await_link(session, link, err);
    if (status == PAWL_OK) {
        session->senders[session->sender_count++] = link;
        *out = link;
    } else if (!session->broken && !session->ended) {
        pn_link_close(link);
        pn_link_free(link);
    }
    return status;
}

/* Opens the link of every message before the first is sent, so that an unreachable destination cannot end the
 * session for messages in flight. */
static pawl_status open_links(struct transport *session, const struct transport_message *messages,
                              size_t count, struct transport_result *results, pawl_error *err) {
    for (size_t i = 0; i < count; i++) {
        pn_link_t *link = NULL;
        if (results[i].fate != FATE_UNAVAILABLE)
            continue;
        pawl_status status = sender_for(session, messages[i].destination, &link, err);
        if (status != PAWL_OK && (status != PAWL_INVALID || session->broken))
            return status;
        if (status == PAWL_INVALID)
            transport_result_set(&results[i], FATE_REFUSED, "%.200s", err->text);
        if (session->ended) {
            amqp1_session_again(session);
            return open_links(session, messages, count, results, err);
        }
    }
    return PAWL_OK;
}

static pn_message_t *message_of(const struct event *event) {
    struct event_attribute attributes[EVENT_ATTRIBUTES_MAX];
    size_t count = event_attributes(event, attributes);
    pn_message_t *message = pn_message();
    pn_data_t *properties = pn_message_properties(message);
    pn_message_set_durable(message, true);
    pn_atom_t id = {.type = PN_STRING, .u.as_bytes = pn_bytes(event->id.len, event->id.ptr)};
    pn_message_set_id(message, id);
    pn_message_set_content_type(message, EVENT_DATA_TYPE);
    if (!str_absent(event->correlation_id)) {
        pn_atom_t correlation = {
            .type = PN_STRING, .u.as_bytes = pn_bytes(event->correlation_id.len, event->correlation_id.ptr)};
        pn_message_set_correlation_id(message, correlation);
    }
    pn_data_put_map(properties);
    pn_data_enter(properties);
    for (size_t i = 0; i < count; i++) {
        char name[48];
        if (strcmp(attributes[i].name, "datacontenttype") == 0)
            continue;
        snprintf(name, sizeof(name), "cloudEvents_%s", attributes[i].name);
        amqp1_put_text(properties, str_from(name));
        amqp1_put_text(properties, attributes[i].value);
    }
    pn_data_exit(properties);
    pn_data_put_binary(pn_message_body(message), pn_bytes(event->data.len, event->data.ptr));
    pn_message_set_inferred(message, true);
    return message;
}

/* Whether the broker would refuse this message again, because of its size or form. */
static bool for_good(const char *condition) {
    static const char *const conditions[] = {"amqp:link:message-size-exceeded", "amqp:decode-error",
                                             "amqp:invalid-field", "amqp:not-implemented",
                                             "amqp:precondition-failed"};
    bool found = false;
    for (size_t i = 0; condition != NULL && i < sizeof(conditions) / sizeof(*conditions); i++)
        found = found || strcmp(condition, conditions[i]) == 0;
    return found;
}

static void judge(pn_delivery_t *delivery, struct transport_result *result) {
    pn_condition_t *condition = pn_disposition_condition(pn_delivery_remote(delivery));
    const char *name = condition != NULL ? pn_condition_get_name(condition) : NULL;
    const char *text = condition != NULL ? pn_condition_get_description(condition) : NULL;
    switch (pn_delivery_remote_state(delivery)) {
    case PN_ACCEPTED:
        transport_result_confirm(result);
        break;
    case PN_REJECTED:
        transport_result_set(result, for_good(name) ? FATE_REJECTED : FATE_REFUSED,
                             "the broker rejected it: %s %.150s", name != NULL ? name : "no reason given",
                             text != NULL ? text : "");
        break;
    default:
        transport_result_set(result, FATE_REFUSED, "the broker gave it back");
        break;
    }
}

/* Sends one message; *delivery stays NULL if its result is already known. */
static pawl_status send_one(struct transport *session, const struct transport_message *message,
                            struct transport_result *result, pn_delivery_t **delivery, pawl_error *err) {
    pn_link_t *link = NULL;
    pawl_status status = sender_for(session, message->destination, &link, err);
    if (status == PAWL_OK)
        status = amqp1_await_credit(session, link, err);
    if (status == PAWL_INVALID && !session->broken && !session->ended) {
        transport_result_set(result, FATE_REFUSED, "%.200s", err->text);
        return PAWL_OK;
    }
    if (status != PAWL_OK)
        return status;
    pn_message_t *encoded = message_of(&message->event);
    size_t size = amqp1_encode(session, encoded);
    pn_message_free(encoded);
    uint64_t limit = pn_link_remote_max_message_size(link);
    if (limit > 0 && size > limit) {
        transport_result_set(result, FATE_REJECTED, "the message has %zu bytes, the broker takes %llu", size,
                             (unsigned long long)limit);
        return PAWL_OK;
    }
    *delivery = size > 0 ? amqp1_send_encoded(session, link, size) : NULL;
    return *delivery != NULL ? PAWL_OK : error_no_memory(err, "amqp1");
}

static pawl_status await_fates(struct transport *session, pn_delivery_t **deliveries, size_t count,
                               struct transport_result *results, pawl_error *err) {
    int64_t until_ms = clock_boot_ms() + session->confirm_ms;
    while (true) {
        size_t open = 0;
        for (size_t i = 0; i < count; i++) {
            if (deliveries[i] == NULL)
                continue;
            pn_link_t *link = pn_delivery_link(deliveries[i]);
            if (pn_delivery_remote_state(deliveries[i]) != 0) {
                judge(deliveries[i], &results[i]);
                pn_delivery_settle(deliveries[i]);
                deliveries[i] = NULL;
            } else if (!session->broken && !link_usable(link)) {
                transport_result_set(&results[i], FATE_REFUSED, "%s", session->reason);
                deliveries[i] = NULL;
            } else {
                open++;
            }
        }
        if (session->broken)
            return error_set(err, PAWL_UNAVAILABLE, "amqp1", "%s", session->reason);
        if (open == 0)
            return amqp1_flush(session, until_ms, err);
        pawl_status status = amqp1_turn(session, until_ms, err);
        if (status != PAWL_OK)
            return transport_late(status, "amqp1", "the broker did not confirm in time", err);
    }
}

static pawl_status publish_set(struct transport *session, const struct transport_message *messages,
                               size_t count, struct transport_result *results, pawl_error *err) {
    pn_delivery_t **deliveries = calloc(count, sizeof(*deliveries));
    if (deliveries == NULL)
        return error_no_memory(err, "amqp1");
    pawl_status status = open_links(session, messages, count, results, err);
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        if (results[i].fate == FATE_UNAVAILABLE)
            status = send_one(session, &messages[i], &results[i], &deliveries[i], err);
    }
    if (status == PAWL_OK)
        status = await_fates(session, deliveries, count, results, err);
    free(deliveries);
    return status;
}

/* The broker ended the session and does not say for which message, so each is tried alone. */
static pawl_status publish_singly(struct transport *session, const struct transport_message *messages,
                                  size_t count, struct transport_result *results, pawl_error *err) {
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        if (results[i].fate != FATE_UNAVAILABLE)
            continue;
        if (session->ended)
            amqp1_session_again(session);
        status = publish_set(session, &messages[i], 1, &results[i], err);
        if (!session->ended)
            continue;
        transport_result_set(&results[i], for_good(session->condition) ? FATE_REJECTED : FATE_REFUSED, "%s",
                             session->reason);
        status = PAWL_OK;
    }
    if (session->ended)
        amqp1_session_again(session);
    return status;
}

static pawl_status amqp1_publish(struct transport *session, const struct transport_message *messages,
                                 size_t count, struct transport_result *results, pawl_error *err) {
    transport_results_unknown(results, count, "the broker did not confirm it");
    pawl_status status = amqp1_put_token(session, err);
    if (status == PAWL_OK)
        status = publish_set(session, messages, count, results, err);
    if (session->ended && !session->broken)
        status = publish_singly(session, messages, count, results, err);
    return status;
}

static pawl_status amqp1_subscribe(struct transport *session, pawl_error *err) {
    session->receiver = pn_receiver(session->session, "pawl-receiver");
    pn_terminus_set_address(pn_link_source(session->receiver), session->from.ptr);
    pn_link_open(session->receiver);
    pawl_status status = amqp1_await_link(session, session->receiver, err);
    if (status == PAWL_OK && pn_terminus_get_type(pn_link_remote_source(session->receiver)) == PN_UNSPECIFIED)
        return error_set(err, PAWL_NOT_FOUND, "amqp1", "the broker has no source %s", session->from.ptr);
    return status;
}

static void take_properties(struct arena *arena, pn_message_t *message, struct transport_delivery *out,
                            struct transport_attributes *attributes) {
    pn_data_t *properties = pn_message_properties(message);
    pn_data_rewind(properties);
    if (!pn_data_next(properties) || pn_data_type(properties) != PN_MAP || !pn_data_enter(properties))
        return;
    while (pn_data_next(properties)) {
        pn_bytes_t name = pn_data_type(properties) == PN_STRING ? pn_data_get_string(properties)
                                                                : pn_bytes(0, "");
        if (!pn_data_next(properties))
            return;
        if (pn_data_type(properties) != PN_STRING)
            continue;
        pn_bytes_t value = pn_data_get_string(properties);
        bool colon = name.size > 11 && name.start[11] == ':';
        transport_header(out, arena, colon ? "cloudEvents:" : "cloudEvents_",
                         (pawl_str){name.start, name.size}, (pawl_str){value.start, value.size}, attributes);
    }
}

static pawl_str body_of(pn_message_t *message) {
    pn_data_t *data = pn_message_body(message);
    pn_data_rewind(data);
    pn_bytes_t bytes = pn_bytes(0, "");
    if (pn_data_next(data)) {
        if (pn_data_type(data) == PN_BINARY)
            bytes = pn_data_get_binary(data);
        else if (pn_data_type(data) == PN_STRING)
            bytes = pn_data_get_string(data);
    }
    return (pawl_str){bytes.start, bytes.size};
}

static pawl_status take_delivery(struct transport *session, struct arena *arena, pn_delivery_t *delivery,
                                 struct transport_delivery *out, pawl_error *err) {
    *out = (struct transport_delivery){.tag = session->delivery_count, .from = session->from};
    size_t size = pn_delivery_pending(delivery);
    char *bytes = arena_alloc(arena, size + 1);
    if (bytes == NULL)
        return error_no_memory(err, "amqp1");
    ssize_t got = pn_link_recv(session->receiver, bytes, size);
    pn_link_advance(session->receiver);
    pn_message_t *message = pn_message();
    struct transport_attributes attributes = {.binary = false};
    pawl_status status = PAWL_OK;
    if (got < 0 || pn_message_decode(message, bytes, (size_t)got) != 0) {
        out->malformed = true;
        out->raw = STR("");
        snprintf(out->reason, sizeof(out->reason), "not an AMQP message");
    } else {
        take_properties(arena, message, out, &attributes);
        status = transport_delivery_take(out, arena, body_of(message), &attributes, err);
    }
    pn_message_free(message);
    return status;
}

static pawl_status amqp1_receive(struct transport *session, struct arena *arena, size_t max, int wait_ms,
                                 struct transport_delivery *deliveries, size_t *count, pawl_error *err) {
    *count = 0;
    session->delivery_count = 0;
    if (max > TRANSPORT_RECEIVE_MAX)
        max = TRANSPORT_RECEIVE_MAX;
    pawl_status status = amqp1_put_token(session, err);
    int64_t until_ms = clock_boot_ms() + wait_ms;
    int wanted = (int)max - pn_link_credit(session->receiver);
    if (status == PAWL_OK && wanted > 0)
        pn_link_flow(session->receiver, wanted);
    while (status == PAWL_OK && *count < max) {
        pn_delivery_t *delivery = pn_link_current(session->receiver);
        if (delivery != NULL && pn_delivery_readable(delivery) && !pn_delivery_partial(delivery)) {
            session->deliveries[session->delivery_count] = delivery;
            status = take_delivery(session, arena, delivery, &deliveries[*count], err);
            session->delivery_count++;
            (*count)++;
            continue;
        }
        if (!link_usable(session->receiver))
            return error_set(err, PAWL_UNAVAILABLE, "amqp1", "%s", session->reason);
        if (*count > 0)
            break;
        status = amqp1_turn(session, until_ms, err);
        if (status == PAWL_BUSY)
            return PAWL_OK;
    }
    return status;
}

static pawl_status amqp1_acknowledge(struct transport *session, const uint64_t *tags, size_t count,
                                     enum transport_verdict verdict, pawl_error *err) {
    for (size_t i = 0; i < count; i++) {
        if (tags[i] >= session->delivery_count || session->deliveries[tags[i]] == NULL)
            continue;
        pn_delivery_update(session->deliveries[tags[i]],
                           verdict == VERDICT_ACCEPT ? PN_ACCEPTED : PN_RELEASED);
        pn_delivery_settle(session->deliveries[tags[i]]);
        session->deliveries[tags[i]] = NULL;
    }
    return amqp1_flush(session, clock_boot_ms() + session->confirm_ms, err);
}

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

__attribute__((visibility("default"))) const struct transport_module pawl_transport_module = {
    .abi = TRANSPORT_ABI,
    .name = "amqp1",
    .library = "qpid-proton " TEXT(PN_VERSION_MAJOR) "." TEXT(PN_VERSION_MINOR) "." TEXT(PN_VERSION_POINT),
    .keeps_order = false,
    .session_bytes = sizeof(struct transport),
    .port = 5672,
    .tls_port = 5671,
    .open = amqp1_open,
    .publish = amqp1_publish,
    .subscribe = amqp1_subscribe,
    .receive = amqp1_receive,
    .acknowledge = amqp1_acknowledge,
    .close = amqp1_close,
};
