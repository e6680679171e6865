/* NATS JetStream: CloudEvents in headers, the broker's own deduplication by Nats-Msg-Id. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/json/json.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "transport/address.h"
#include "transport/modules/nats.h"

enum { PORT_DEFAULT = 4222, ANSWER_BYTES = 1024 };

pawl_status nats_failed(natsStatus code, const char *what, pawl_error *err) {
    bool wrong = code == NATS_CONNECTION_AUTH_FAILED || code == NATS_NOT_PERMITTED ||
                 code == NATS_SSL_ERROR || code == NATS_SECURE_CONNECTION_REQUIRED ||
                 code == NATS_SECURE_CONNECTION_WANTED;
    natsStatus ignored;
    const char *more = nats_GetLastError(&ignored);
    return error_set(err, wrong ? PAWL_INVALID : PAWL_UNAVAILABLE, "nats", "%s: %s%s%.200s", what,
                     natsStatus_GetText(code), more != NULL && more[0] != '\0' ? ": " : "",
                     more != NULL ? more : "");
}

/* The stream's answer: {"stream":…,"seq":…} or {"error":{"code":…,"description":…}}. */
static void judge(natsMsg *msg, struct transport_result *result) {
    const char *data = natsMsg_GetData(msg);
    int len = natsMsg_GetDataLength(msg);
    char text[ANSWER_BYTES]; /* the name of the stream alone may have 255 */
    snprintf(text, sizeof(text), "%.*s", len, data != NULL ? data : "");
    if (strstr(text, "\"error\":") != NULL) /* a stream may have that name */
        transport_result_set(result, strstr(text, "exceeds maximum") != NULL ? FATE_REJECTED : FATE_REFUSED,
                             "the broker says: %.200s", text);
    else if (strstr(text, "\"seq\":") != NULL)
        transport_result_confirm(result);
    else
        transport_result_set(result, FATE_REFUSED, "the broker's answer is not understood: %.150s", text);
}

static void nats_session_close(struct transport *session) {
    if (session == NULL)
        return;
    natsMsg_Destroy(session->last);
    natsSubscription_Destroy(session->pull);
    natsSubscription_Destroy(session->acks);
    jsCtx_Destroy(session->js);
    natsConnection_Destroy(session->connection);
    arena_free(session->arena);
    free(session);
}

static natsStatus set_options(natsOptions *options, const struct transport_config *config,
                              const struct address *address) {
    char url[NATS_SUBJECT_BYTES];
    snprintf(url, sizeof(url), "nats://%s:%d", address->host, address->port);
    const char *user = address->user, *password = address->password;
    natsStatus code = natsOptions_SetURL(options, url);
    if (code == NATS_OK)
        code = natsOptions_SetTimeout(options, config->connect_ms);
    if (code == NATS_OK) /* a server that stops reading must not hold the caller */
        code = natsOptions_SetWriteDeadline(options, config->confirm_ms);
    if (code == NATS_OK)
        code = natsOptions_SetName(options, "pawl");
    if (code == NATS_OK)
        code = natsOptions_SetAllowReconnect(options, false); /* a broken session reports it */
    if (code == NATS_OK && user != NULL && password != NULL)
        code = natsOptions_SetUserInfo(options, user, password);
    else if (code == NATS_OK && password != NULL)
        code = natsOptions_SetToken(options, password);
    if (code == NATS_OK && address->tls) {
        code = natsOptions_SetSecure(options, true);
        if (code == NATS_OK)
            code = natsOptions_SetExpectedHostname(options, address->host);
        if (code == NATS_OK && config->ca_file != NULL)
            code = natsOptions_LoadCATrustedCertificates(options, config->ca_file);
        if (code == NATS_OK && config->cert_file != NULL)
            code = natsOptions_LoadCertificatesChain(
                options, config->cert_file, config->key_file != NULL ? config->key_file : config->cert_file);
    }
    return code;
}

static pawl_status connect_to(struct transport *session, const struct transport_config *config,
                              const struct address *address, pawl_error *err) {
    natsOptions *options = NULL;
    natsStatus code = natsOptions_Create(&options);
    if (code == NATS_OK)
        code = set_options(options, config, address);
    if (code == NATS_OK)
        code = natsConnection_Connect(&session->connection, options);
    natsOptions_Destroy(options);
    if (code != NATS_OK)
        return nats_failed(code, "cannot connect", err);
    jsOptions js;
    jsOptions_Init(&js);
    js.Wait = config->confirm_ms;
    natsInbox *inbox = NULL;
    code = natsConnection_JetStream(&session->js, session->connection, &js);
    if (code == NATS_OK)
        code = natsInbox_Create(&inbox);
    if (code == NATS_OK) {
        snprintf(session->inbox, sizeof(session->inbox), "%s", inbox);
        char all[NATS_SUBJECT_BYTES + 8];
        snprintf(all, sizeof(all), "%s.>", session->inbox);
        code = natsConnection_SubscribeSync(&session->acks, session->connection, all);
    }
    natsInbox_Destroy(inbox);
    return code == NATS_OK ? PAWL_OK : nats_failed(code, "no JetStream", err);
}

static pawl_status nats_session_open(const struct transport_config *config, struct transport **out,
                                     pawl_error *err) {
    struct transport *session = calloc(1, sizeof(*session));
    if (session == NULL)
        return error_set(err, PAWL_NO_MEMORY, "nats", "out of memory");
    session->confirm_ms = config->confirm_ms;
    session->arena = arena_create(0);
    struct address address;
    pawl_status status =
        address_of(session->arena, config, (struct address_ports){PORT_DEFAULT, PORT_DEFAULT}, &address, err);
    if (status == PAWL_OK)
        status = connect_to(session, config, &address, err);
    if (status != PAWL_OK) {
        nats_session_close(session);
        return status;
    }
    *out = session;
    return PAWL_OK;
}

static natsStatus set_headers(struct arena *arena, natsMsg *msg, const struct event *event) {
    struct event_attribute attributes[EVENT_ATTRIBUTES_MAX];
    size_t count = event_attributes(event, attributes);
    natsStatus code = NATS_OK;
    for (size_t i = 0; i < count && code == NATS_OK; i++) {
        char name[EVENT_HEADER_BYTES];
        char *value = arena_copy(arena, attributes[i].value.ptr, attributes[i].value.len);
        code = value != NULL ? natsMsgHeader_Set(msg, event_header("ce-", attributes[i].name, name), value)
                             : NATS_NO_MEMORY;
        if (code == NATS_OK && strcmp(attributes[i].name, "id") == 0)
            code = natsMsgHeader_Set(msg, "Nats-Msg-Id", value);
    }
    return code;
}

/* One call of publish. The library frees messages in a thread of its own: those that were sent, and the
 * answers to them, are kept and freed together, which wakes it less often. */
struct flight {
    struct arena *arena;
    struct transport_result *results;
    size_t count, open;
    natsMsg **spent;
    size_t spent_count;
};

static void keep_spent(struct flight *flight, natsMsg *msg) {
    if (flight->spent_count < 2 * flight->count)
        flight->spent[flight->spent_count++] = msg;
    else
        natsMsg_Destroy(msg);
}

static natsStatus send_one(struct transport *session, struct flight *flight,
                           const struct transport_message *message, size_t number) {
    char reply[NATS_SUBJECT_BYTES + 48];
    snprintf(reply, sizeof(reply), "%s.%llu.%zu", session->inbox, (unsigned long long)session->call, number);
    natsMsg *msg = NULL;
    const char *subject = arena_copy(flight->arena, message->destination.ptr, message->destination.len);
    if (subject == NULL)
        return NATS_NO_MEMORY;
    natsStatus code =
        natsMsg_Create(&msg, subject, reply, message->event.data.ptr, (int)message->event.data.len);
    if (code == NATS_OK)
        code = set_headers(flight->arena, msg, &message->event);
    if (code == NATS_OK)
        code = natsConnection_PublishMsg(session->connection, msg);
    if (msg != NULL)
        keep_spent(flight, msg);
    return code;
}

static pawl_status send_all(struct transport *session, struct flight *flight,
                            const struct transport_message *messages, pawl_error *err) {
    for (size_t i = 0; i < flight->count; i++) {
        natsStatus code = send_one(session, flight, &messages[i], i);
        flight->open += code == NATS_OK;
        if (code == NATS_MAX_PAYLOAD)
            transport_result_set(&flight->results[i], FATE_REJECTED,
                                 "the message is larger than the broker's limit of %lld bytes",
                                 (long long)natsConnection_GetMaxPayload(session->connection));
        else if (code == NATS_INVALID_SUBJECT || code == NATS_INVALID_ARG)
            transport_result_set(&flight->results[i], FATE_REJECTED, "the destination is not a subject");
        else if (code != NATS_OK)
            return nats_failed(code, "cannot publish", err);
    }
    return PAWL_OK;
}

static void take_answer(const struct transport *session, struct flight *flight, natsMsg *msg) {
    unsigned long long call = 0;
    size_t number = 0, prefix = strlen(session->inbox) + 1;
    const char *subject = natsMsg_GetSubject(msg);
    if (strlen(subject) > prefix && sscanf(subject + prefix, "%llu.%zu", &call, &number) == 2 &&
        call == session->call && number < flight->count && flight->results[number].fate == FATE_UNAVAILABLE) {
        judge(msg, &flight->results[number]);
        flight->open--;
    }
    keep_spent(flight, msg);
}

/* The library does not say for which message there are no responders: it is those that have no answer when
 * all others have theirs. */
static pawl_status await_answers(struct transport *session, struct flight *flight, pawl_error *err) {
    int64_t until_ms = clock_boot_ms() + session->confirm_ms;
    while (flight->open > 0) {
        natsMsg *msg = NULL;
        int64_t left_ms = until_ms - clock_boot_ms();
        natsStatus code = left_ms > 0 ? natsSubscription_NextMsg(&msg, session->acks, left_ms) : NATS_TIMEOUT;
        if (code == NATS_NO_RESPONDERS)
            flight->open--;
        else if (code == NATS_OK)
            take_answer(session, flight, msg);
        else
            return nats_failed(code, "the broker did not confirm", err);
    }
    for (size_t i = 0; i < flight->count; i++) {
        if (flight->results[i].fate == FATE_UNAVAILABLE)
            transport_result_set(&flight->results[i], FATE_REFUSED, "no stream takes this subject");
    }
    return PAWL_OK;
}

static pawl_status nats_session_publish(struct transport *session, const struct transport_message *messages,
                                        size_t count, struct transport_result *results, pawl_error *err) {
    transport_results_unknown(results, count, "the broker did not confirm it");
    struct flight flight = {.arena = arena_create(0), .results = results, .count = count};
    flight.spent = flight.arena != NULL ? arena_array(flight.arena, 2 * count, sizeof(natsMsg *)) : NULL;
    pawl_status status = flight.spent != NULL ? PAWL_OK
                                              : error_set(err, PAWL_NO_MEMORY, "nats", "out of memory");
    session->call++;
    if (status == PAWL_OK)
        status = send_all(session, &flight, messages, err);
    if (status == PAWL_OK)
        status = await_answers(session, &flight, err);
    for (size_t i = 0; i < flight.spent_count; i++)
        natsMsg_Destroy(flight.spent[i]);
    arena_free(flight.arena);
    return status;
}

__attribute__((visibility("default"))) const struct transport_module pawl_transport_module = {
    .abi = TRANSPORT_ABI,
    .name = "nats",
    .library = "libnats " NATS_VERSION_STRING,
    .keeps_order = false,
    .open = nats_session_open,
    .publish = nats_session_publish,
    .subscribe = nats_session_subscribe,
    .receive = nats_session_receive,
    .acknowledge = nats_session_acknowledge,
    .close = nats_session_close,
};
