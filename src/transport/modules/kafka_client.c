/* Kafka: configuring clients, and the session that holds them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "transport/modules/kafka.h"

#define OWN_OPTION "kafka."

enum { PORT_DEFAULT = 9092, ANSWER_MS_MIN = 2000 /* longer than a fetch that finds nothing */ };

static void on_error(rd_kafka_t *kafka, int code, const char *reason, void *self) {
    struct transport *session = self;
    (void)kafka;
    (void)code;
    snprintf(session->reason, sizeof(session->reason), "%.190s", reason);
}

static pawl_status set(rd_kafka_conf_t *conf, const char *name, const char *value, pawl_error *err) {
    char reason[200];
    if (value == NULL || rd_kafka_conf_set(conf, name, value, reason, sizeof(reason)) == RD_KAFKA_CONF_OK)
        return PAWL_OK;
    return error_set(err, PAWL_INVALID, "kafka", "%s", reason);
}

/* rows end with a name that is NULL; values that are NULL are left as they are. */
static pawl_status set_all(rd_kafka_conf_t *conf, const char *const rows[][2], pawl_error *err) {
    pawl_status status = PAWL_OK;
    for (size_t i = 0; rows[i][0] != NULL && status == PAWL_OK; i++)
        status = set(conf, rows[i][0], rows[i][1], err);
    return status;
}

/* What producer and consumer have in common. */
static pawl_status set_common(rd_kafka_conf_t *conf, const struct transport *session, pawl_error *err) {
    const struct transport_config *config = session->config;
    const struct address *address = &session->address;
    bool tls = address->tls, sasl = address->user != NULL && address->password != NULL;
    char connect_ms[16];
    snprintf(connect_ms, sizeof(connect_ms), "%d", config->connect_ms);
    const char *const rows[][2] = {
        {"bootstrap.servers", address->hosts},
        {"client.id", "pawl"},
        {"socket.connection.setup.timeout.ms", connect_ms},
        {"reconnect.backoff.max.ms", "1000"},
        {"security.protocol", tls ? (sasl ? "sasl_ssl" : "ssl") : (sasl ? "sasl_plaintext" : "plaintext")},
        {"sasl.mechanism", sasl ? "PLAIN" : NULL},
        {"sasl.username", sasl ? address->user : NULL},
        {"sasl.password", sasl ? address->password : NULL},
        {"ssl.ca.location", tls ? config->ca_file : NULL},
        {"ssl.certificate.location", tls ? config->cert_file : NULL},
        {"ssl.key.location", !tls                       ? NULL
                             : config->key_file != NULL ? config->key_file
                                                        : config->cert_file},
        {"ssl.endpoint.identification.algorithm", tls ? "https" : NULL},
        {NULL, NULL}};
    return set_all(conf, rows, err);
}

/* The user's own kafka.… settings come last and win. */
static pawl_status set_own(rd_kafka_conf_t *conf, const struct transport *session, pawl_error *err) {
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < session->config->option_count && status == PAWL_OK; i++) {
        const struct transport_option *option = &session->config->options[i];
        if (strncmp(option->name, OWN_OPTION, strlen(OWN_OPTION)) == 0)
            status = set(conf, option->name + strlen(OWN_OPTION), option->value, err);
    }
    return status;
}

/* rows: what only this type of client has. */
static pawl_status make_client(struct transport *session, rd_kafka_conf_t *conf, rd_kafka_type_t type,
                               const char *const rows[][2], rd_kafka_t **out, pawl_error *err) {
    rd_kafka_conf_set_opaque(conf, session);
    rd_kafka_conf_set_log_cb(conf, NULL);
    rd_kafka_conf_set_error_cb(conf, on_error);
    pawl_status status = set_common(conf, session, err);
    if (status == PAWL_OK)
        status = set_all(conf, rows, err);
    if (status == PAWL_OK)
        status = set_own(conf, session, err);
    char reason[200] = "";
    *out = status == PAWL_OK ? rd_kafka_new(type, conf, reason, sizeof(reason)) : NULL;
    if (*out == NULL) /* otherwise the client owns it */
        rd_kafka_conf_destroy(conf);
    if (status == PAWL_OK && *out == NULL)
        status = error_set(err, PAWL_INVALID, "kafka", "%s", reason);
    return status;
}

static pawl_status make_producer(struct transport *session,
                                 void (*on_report)(rd_kafka_t *, const rd_kafka_message_t *, void *),
                                 pawl_error *err) {
    char confirm_ms[16], unknown_ms[16];
    snprintf(confirm_ms, sizeof(confirm_ms), "%d", session->confirm_ms);
    /* A missing topic must be noticed before the message times out: it is the message's fault, not the
     * broker's. */
    snprintf(unknown_ms, sizeof(unknown_ms), "%d", session->confirm_ms / 4);
    const char *const rows[][2] = {{"message.timeout.ms", confirm_ms},
                                   {"topic.metadata.propagation.max.ms", unknown_ms},
                                   {"enable.idempotence", "true"},
                                   {"acks", "all"},
                                   {"linger.ms", "0"},
                                   {"message.max.bytes", "20000000"},
                                   {"partitioner", "murmur2_random"},
                                   {NULL, NULL}};
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set_dr_msg_cb(conf, on_report);
    return make_client(session, conf, RD_KAFKA_PRODUCER, rows, &session->producer, err);
}

pawl_status kafka_consumer(struct transport *session, const char *group, rd_kafka_t **out, pawl_error *err) {
    char answer_ms[16];
    snprintf(answer_ms, sizeof(answer_ms), "%d",
             session->confirm_ms > ANSWER_MS_MIN ? session->confirm_ms : ANSWER_MS_MIN);
    const char *const rows[][2] = {{"group.id", group},
                                   {"socket.timeout.ms", answer_ms},
                                   {"enable.auto.commit", "false"},
                                   {"auto.offset.reset", "earliest"},
                                   {"fetch.wait.max.ms", "100"},
                                   {NULL, NULL}};
    return make_client(session, rd_kafka_conf_new(), RD_KAFKA_CONSUMER, rows, out, err);
}

void kafka_close(struct transport *session) {
    if (session == NULL)
        return;
    if (session->ends != NULL)
        rd_kafka_topic_partition_list_destroy(session->ends);
    /* Closing the consumer would wait for the broker; a reader that is in no group need not say goodbye. */
    if (session->consumer != NULL)
        rd_kafka_destroy_flags(session->consumer, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    if (session->producer != NULL)
        rd_kafka_destroy(session->producer);
    arena_free(session->arena);
    free(session);
}

/* Asks for the brokers, so that a wrong address is reported now and not with the first message. */
static pawl_status greet(struct transport *session, rd_kafka_t *client, pawl_error *err) {
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_resp_err_t code = rd_kafka_metadata(client, 0, NULL, &metadata, session->config->connect_ms);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
        rd_kafka_metadata_destroy(metadata);
        return PAWL_OK;
    }
    rd_kafka_poll(client, 0);
    bool wrong = code == RD_KAFKA_RESP_ERR__AUTHENTICATION ||
                 code == RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED ||
                 strstr(session->reason, "SSL handshake failed") != NULL ||
                 strstr(session->reason, "uthentication") != NULL;
    return error_set(err, wrong ? PAWL_INVALID : PAWL_UNAVAILABLE, "kafka", "no broker answers: %s%s%s",
                     rd_kafka_err2str(code), session->reason[0] != '\0' ? ": " : "", session->reason);
}

pawl_status kafka_session_open(const struct transport_config *config,
                               void (*on_report)(rd_kafka_t *, const rd_kafka_message_t *, void *),
                               struct transport **out, pawl_error *err) {
    const char *structured = transport_option(config, "structured");
    struct transport *session = calloc(1, sizeof(*session));
    if (session == NULL)
        return error_no_memory(err, "kafka");
    session->confirm_ms = config->confirm_ms;
    session->config = config;
    session->structured = structured != NULL && strcmp(structured, "true") == 0;
    session->arena = arena_create(0);
    pawl_status status =
        address_of(session->arena, config, (struct address_ports){0, 0}, &session->address, err);
    if (status == PAWL_OK && session->address.port == 0)
        session->address.hosts = arena_printf(session->arena, "%s:%d", session->address.host, PORT_DEFAULT);
    if (status == PAWL_OK)
        status = make_producer(session, on_report, err);
    if (status == PAWL_OK)
        status = greet(session, session->producer, err);
    if (status != PAWL_OK) {
        kafka_close(session);
        return status;
    }
    *out = session;
    return PAWL_OK;
}
