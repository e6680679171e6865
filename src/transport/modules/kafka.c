/* Apache Kafka: the idempotent producer with all acknowledgements, CloudEvents in headers, the stream as key.
 */
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "transport/address.h"
#include "transport/transport.h"

#define OWN_OPTION "kafka."

enum { PORT_DEFAULT = 9092, PARTITIONS_MAX = 4096, LOOK_MS = 30000, POLL_MS = 100 };

struct transport {
    rd_kafka_t *producer;
    rd_kafka_t *consumer;
    struct arena *arena; /* of names and of the configuration's texts */
    const struct transport_config *config;
    struct address address;
    int confirm_ms;
    size_t open; /* messages without a report */
    char reason[200];
    pawl_str from;
    int partitions;
    int64_t looked_ms;
    rd_kafka_topic_partition_list_t *ends; /* behind the last receive, per partition */
};

static void on_error(rd_kafka_t *kafka, int code, const char *reason, void *self) {
    struct transport *session = self;
    (void)kafka;
    (void)code;
    snprintf(session->reason, sizeof(session->reason), "%.190s", reason);
}

static void on_report(rd_kafka_t *kafka, const rd_kafka_message_t *message, void *self) {
    struct transport *session = self;
    struct transport_result *result = message->_private;
    (void)kafka;
    session->open--;
    switch (message->err) {
    case RD_KAFKA_RESP_ERR_NO_ERROR:
        transport_result_set(result, FATE_CONFIRMED, "%s", "");
        break;
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
        transport_result_set(result, FATE_REJECTED, "%s", rd_kafka_err2str(message->err));
        break;
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_INVALID_MSG:
        transport_result_set(result, FATE_REFUSED, "%s", rd_kafka_err2str(message->err));
        break;
    default: /* timed out, purged, no broker: nothing is known */
        transport_result_set(result, FATE_UNAVAILABLE, "%s", rd_kafka_err2str(message->err));
        break;
    }
}

static pawl_status set(rd_kafka_conf_t *conf, const char *name, const char *value, pawl_error *err) {
    char reason[200];
    if (value == NULL || rd_kafka_conf_set(conf, name, value, reason, sizeof(reason)) == RD_KAFKA_CONF_OK)
        return PAWL_OK;
    return error_set(err, PAWL_INVALID, "kafka", "%s", reason);
}

static pawl_status set_access(rd_kafka_conf_t *conf, const struct transport *session, pawl_error *err) {
    const struct transport_config *config = session->config;
    const char *user = config->user != NULL ? config->user : session->address.user;
    const char *password = config->password != NULL ? config->password : session->address.password;
    bool tls = session->address.tls, sasl = user != NULL && password != NULL;
    pawl_status status = set(conf, "security.protocol",
                             tls ? (sasl ? "sasl_ssl" : "ssl") : (sasl ? "sasl_plaintext" : "plaintext"),
                             err);
    if (status == PAWL_OK && sasl)
        status = set(conf, "sasl.mechanism", "PLAIN", err);
    if (status == PAWL_OK && sasl)
        status = set(conf, "sasl.username", user, err);
    if (status == PAWL_OK && sasl)
        status = set(conf, "sasl.password", password, err);
    if (status == PAWL_OK && tls)
        status = set(conf, "ssl.ca.location", config->ca_file, err);
    if (status == PAWL_OK && tls)
        status = set(conf, "ssl.certificate.location", config->cert_file, err);
    if (status == PAWL_OK && tls)
        status = set(conf, "ssl.key.location",
                     config->key_file != NULL ? config->key_file : config->cert_file, err);
    if (status == PAWL_OK && tls)
        status = set(conf, "ssl.endpoint.identification.algorithm", "https", err);
    return status;
}

/* What producer and consumer have in common; the user's own kafka.… settings come last and win. */
static pawl_status set_common(rd_kafka_conf_t *conf, const struct transport *session, pawl_error *err) {
    char connect_ms[16];
    snprintf(connect_ms, sizeof(connect_ms), "%d", session->config->connect_ms);
    pawl_status status = set(conf, "bootstrap.servers", session->address.hosts, err);
    if (status == PAWL_OK)
        status = set(conf, "client.id", "pawl", err);
    if (status == PAWL_OK)
        status = set(conf, "socket.connection.setup.timeout.ms", connect_ms, err);
    if (status == PAWL_OK)
        status = set(conf, "reconnect.backoff.max.ms", "1000", err);
    if (status == PAWL_OK)
        status = set_access(conf, session, err);
    return status;
}

static pawl_status set_own(rd_kafka_conf_t *conf, const struct transport *session, pawl_error *err) {
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < session->config->option_count && status == PAWL_OK; i++) {
        const struct transport_option *option = &session->config->options[i];
        if (strncmp(option->name, OWN_OPTION, strlen(OWN_OPTION)) == 0)
            status = set(conf, option->name + strlen(OWN_OPTION), option->value, err);
    }
    return status;
}

static pawl_status make_client(struct transport *session, rd_kafka_type_t type, const char *group,
                               rd_kafka_t **out, pawl_error *err) {
    char confirm_ms[16];
    snprintf(confirm_ms, sizeof(confirm_ms), "%d", session->confirm_ms);
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    bool producer = type == RD_KAFKA_PRODUCER;
    rd_kafka_conf_set_opaque(conf, session);
    rd_kafka_conf_set_log_cb(conf, NULL);
    rd_kafka_conf_set_error_cb(conf, on_error);
    if (producer)
        rd_kafka_conf_set_dr_msg_cb(conf, on_report);
    static const char *const producer_rows[][2] = {{"enable.idempotence", "true"},
                                                   {"acks", "all"},
                                                   {"linger.ms", "0"},
                                                   {"message.max.bytes", "20000000"},
                                                   {"partitioner", "murmur2_random"}};
    static const char *const consumer_rows[][2] = {
        {"enable.auto.commit", "false"}, {"auto.offset.reset", "earliest"}, {"fetch.wait.max.ms", "100"}};
    const char *const(*rows)[2] = producer ? producer_rows : consumer_rows;
    size_t count = producer ? sizeof(producer_rows) / sizeof(*producer_rows)
                            : sizeof(consumer_rows) / sizeof(*consumer_rows);
    pawl_status status = set_common(conf, session, err);
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = set(conf, rows[i][0], rows[i][1], err);
    if (status == PAWL_OK && producer)
        status = set(conf, "message.timeout.ms", confirm_ms, err);
    if (status == PAWL_OK && !producer)
        status = set(conf, "group.id", group, err);
    if (status == PAWL_OK)
        status = set_own(conf, session, err);
    char reason[200] = "";
    *out = status == PAWL_OK ? rd_kafka_new(type, conf, reason, sizeof(reason)) : NULL;
    if (*out == NULL)
        rd_kafka_conf_destroy(conf);
    if (status == PAWL_OK && *out == NULL)
        status = error_set(err, PAWL_INVALID, "kafka", "%s", reason);
    return status;
}

static void kafka_close(struct transport *session) {
    if (session == NULL)
        return;
    if (session->ends != NULL)
        rd_kafka_topic_partition_list_destroy(session->ends);
    if (session->consumer != NULL)
        rd_kafka_destroy(session->consumer);
    if (session->producer != NULL)
        rd_kafka_destroy(session->producer);
    arena_free(session->arena);
    free(session);
}

/* Asks for the brokers, so that a wrong address is told now and not with the first message. */
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

static pawl_status kafka_open(const struct transport_config *config, struct transport **out,
                              pawl_error *err) {
    struct transport *session = calloc(1, sizeof(*session));
    if (session == NULL)
        return error_set(err, PAWL_NO_MEMORY, "kafka", "out of memory");
    session->confirm_ms = config->confirm_ms;
    session->config = config;
    session->arena = arena_create(0);
    pawl_status status = session->arena == NULL
                             ? error_set(err, PAWL_NO_MEMORY, "kafka", "out of memory")
                             : address_parse(session->arena, config->url, &session->address, err);
    if (status == PAWL_OK && session->address.port == 0)
        session->address.hosts = arena_printf(session->arena, "%s:%d", session->address.host, PORT_DEFAULT);
    if (status == PAWL_OK)
        status = make_client(session, RD_KAFKA_PRODUCER, NULL, &session->producer, err);
    if (status == PAWL_OK)
        status = greet(session, session->producer, err);
    if (status != PAWL_OK) {
        kafka_close(session);
        return status;
    }
    *out = session;
    return PAWL_OK;
}

static rd_kafka_headers_t *headers_of(const struct event *event) {
    struct event_attribute attributes[EVENT_ATTRIBUTES_MAX];
    size_t count = event_attributes(event, attributes);
    rd_kafka_headers_t *headers = rd_kafka_headers_new(count);
    for (size_t i = 0; i < count; i++) {
        char name[48];
        bool data_type = strcmp(attributes[i].name, "datacontenttype") == 0;
        snprintf(name, sizeof(name), "%s%s", data_type ? "" : "ce_",
                 data_type ? "content-type" : attributes[i].name);
        rd_kafka_header_add(headers, name, -1, attributes[i].value.ptr, (ssize_t)attributes[i].value.len);
    }
    return headers;
}

static rd_kafka_resp_err_t send_one(struct transport *session, const struct transport_message *message,
                                    struct transport_result *result) {
    char topic[256];
    if (message->destination.len >= sizeof(topic))
        return RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION;
    snprintf(topic, sizeof(topic), "%.*s", STR_ARG(message->destination));
    const struct event *event = &message->event;
    pawl_str key = str_absent(event->stream) ? event->id : event->stream;
    rd_kafka_headers_t *headers = headers_of(event);
    rd_kafka_resp_err_t code =
        rd_kafka_producev(session->producer, RD_KAFKA_V_TOPIC(topic),
                          RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(key.ptr, key.len),
                          RD_KAFKA_V_VALUE((void *)(uintptr_t)event->data.ptr, event->data.len),
                          RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_OPAQUE(result), RD_KAFKA_V_END);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        rd_kafka_headers_destroy(headers);
    return code;
}

/* Reports point at the caller's results: none may come after this call. */
static void await_reports(struct transport *session) {
    int64_t until_ms = clock_boot_ms() + session->confirm_ms + 2 * POLL_MS;
    while (session->open > 0 && clock_boot_ms() < until_ms)
        rd_kafka_poll(session->producer, POLL_MS);
    if (session->open > 0)
        rd_kafka_purge(session->producer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    while (session->open > 0)
        rd_kafka_poll(session->producer, POLL_MS);
}

static pawl_status kafka_publish(struct transport *session, const struct transport_message *messages,
                                 size_t count, struct transport_result *results, pawl_error *err) {
    transport_results_unknown(results, count, "no broker confirmed it");
    for (size_t i = 0; i < count; i++) {
        rd_kafka_resp_err_t code = send_one(session, &messages[i], &results[i]);
        session->open += code == RD_KAFKA_RESP_ERR_NO_ERROR;
        if (code == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE || code == RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION)
            transport_result_set(&results[i], FATE_REJECTED, "%s", rd_kafka_err2str(code));
        else if (code == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC || code == RD_KAFKA_RESP_ERR__INVALID_ARG)
            transport_result_set(&results[i], FATE_REFUSED, "%s", rd_kafka_err2str(code));
    }
    await_reports(session);
    char reason[200];
    if (rd_kafka_fatal_error(session->producer, reason, sizeof(reason)) != RD_KAFKA_RESP_ERR_NO_ERROR)
        return error_set(err, PAWL_UNAVAILABLE, "kafka", "%s", reason);
    for (size_t i = 0; i < count; i++) {
        if (results[i].fate == FATE_UNAVAILABLE)
            return error_set(err, PAWL_UNAVAILABLE, "kafka", "%s", results[i].error);
    }
    return PAWL_OK;
}

static pawl_status count_partitions(struct transport *session, int *count, pawl_error *err) {
    rd_kafka_topic_t *topic = rd_kafka_topic_new(session->consumer, session->from.ptr, NULL);
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_resp_err_t code = topic == NULL ? rd_kafka_last_error()
                                             : rd_kafka_metadata(session->consumer, 0, topic, &metadata,
                                                                 session->config->connect_ms);
    if (topic != NULL)
        rd_kafka_topic_destroy(topic);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        return error_set(err, PAWL_UNAVAILABLE, "kafka", "no broker answers: %s", rd_kafka_err2str(code));
    *count = metadata->topic_cnt > 0 ? metadata->topics[0].partition_cnt : 0;
    code = metadata->topic_cnt > 0 ? metadata->topics[0].err : RD_KAFKA_RESP_ERR_NO_ERROR;
    rd_kafka_metadata_destroy(metadata);
    if (*count == 0)
        return error_set(err, PAWL_NOT_FOUND, "kafka", "the topic %s is not there: %s", session->from.ptr,
                         rd_kafka_err2str(code));
    if (*count > PARTITIONS_MAX)
        *count = PARTITIONS_MAX;
    return PAWL_OK;
}

/* Every partition, from the group's place: a subscription has one reader, so nobody has to agree with
 * anybody. */
static pawl_status kafka_subscribe(struct transport *session, const struct transport_subscription *in,
                                   pawl_error *err) {
    pawl_str group;
    pawl_status status = str_dup(session->arena, in->from, &session->from, err);
    if (status == PAWL_OK)
        status = str_dup(session->arena, in->group, &group, err);
    if (status == PAWL_OK)
        status = make_client(session, RD_KAFKA_CONSUMER, group.ptr, &session->consumer, err);
    if (status == PAWL_OK) {
        rd_kafka_poll_set_consumer(session->consumer);
        status = count_partitions(session, &session->partitions, err);
    }
    if (status != PAWL_OK)
        return status;
    session->looked_ms = clock_boot_ms();
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(session->partitions);
    for (int i = 0; i < session->partitions; i++)
        rd_kafka_topic_partition_list_add(list, session->from.ptr, i)->offset = RD_KAFKA_OFFSET_STORED;
    rd_kafka_resp_err_t code = rd_kafka_assign(session->consumer, list);
    rd_kafka_topic_partition_list_destroy(list);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        return error_set(err, PAWL_UNAVAILABLE, "kafka", "cannot read %s: %s", session->from.ptr,
                         rd_kafka_err2str(code));
    return PAWL_OK;
}

static pawl_status take_headers(struct arena *arena, const rd_kafka_message_t *message, struct event *event,
                                bool *version, pawl_error *err) {
    rd_kafka_headers_t *headers = NULL;
    if (rd_kafka_message_headers(message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR)
        return PAWL_OK;
    const char *name = NULL;
    const void *value = NULL;
    size_t size = 0;
    for (size_t i = 0;
         rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR; i++) {
        pawl_str copy;
        pawl_status status = str_dup(arena, (pawl_str){value != NULL ? value : "", size}, &copy, err);
        if (status != PAWL_OK)
            return status;
        if (strcmp(name, "content-type") == 0)
            event->data_type = copy;
        else if (strncmp(name, "ce_", 3) == 0 && !event_set(event, str_from(name + 3), copy))
            return error_set(err, PAWL_INVALID, "kafka", "specversion is %.*s; 1.0 is understood",
                             STR_ARG(copy));
        *version = *version || strcmp(name, "ce_specversion") == 0;
    }
    return PAWL_OK;
}

static pawl_status take_delivery(struct transport *session, struct arena *arena,
                                 const rd_kafka_message_t *message, struct transport_delivery *delivery,
                                 pawl_error *err) {
    *delivery = (struct transport_delivery){.from = session->from};
    pawl_str body = {message->payload != NULL ? message->payload : "", message->len};
    pawl_status status = str_dup(arena, body, &delivery->raw, err);
    if (status != PAWL_OK)
        return status;
    pawl_error reason = {0};
    bool version = false;
    status = take_headers(arena, message, &delivery->event, &version, &reason);
    transport_delivery_judge(delivery, arena, version, status, &reason);
    return PAWL_OK;
}

static void note_end(struct transport *session, const rd_kafka_message_t *message) {
    rd_kafka_topic_partition_t *end =
        rd_kafka_topic_partition_list_find(session->ends, session->from.ptr, message->partition);
    if (end == NULL)
        end = rd_kafka_topic_partition_list_add(session->ends, session->from.ptr, message->partition);
    end->offset = message->offset + 1;
}

static pawl_status partitions_same(struct transport *session, pawl_error *err) {
    int count = 0;
    session->looked_ms = clock_boot_ms();
    pawl_status status = count_partitions(session, &count, err);
    if (status == PAWL_OK && count != session->partitions)
        return error_set(err, PAWL_UNAVAILABLE, "kafka", "the partitions of %s have changed",
                         session->from.ptr);
    return status;
}

static pawl_status kafka_receive(struct transport *session, struct arena *arena, size_t max, int wait_ms,
                                 struct transport_delivery *deliveries, size_t *count, pawl_error *err) {
    *count = 0;
    if (session->ends != NULL)
        rd_kafka_topic_partition_list_destroy(session->ends);
    session->ends = rd_kafka_topic_partition_list_new(session->partitions);
    int64_t until_ms = clock_boot_ms() + wait_ms;
    while (*count < max) {
        int64_t left_ms = *count == 0 ? until_ms - clock_boot_ms() : 0;
        rd_kafka_message_t *message =
            rd_kafka_consumer_poll(session->consumer, left_ms > 0 ? (int)left_ms : 0);
        if (message == NULL)
            break;
        pawl_status status = PAWL_OK;
        if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
            status = take_delivery(session, arena, message, &deliveries[*count], err);
            deliveries[*count].tag = *count;
            note_end(session, message);
            (*count)++;
        } else if (message->err != RD_KAFKA_RESP_ERR__PARTITION_EOF &&
                   message->err != RD_KAFKA_RESP_ERR__TRANSPORT) {
            status =
                error_set(err, PAWL_UNAVAILABLE, "kafka", "cannot read: %s", rd_kafka_err2str(message->err));
        }
        rd_kafka_message_destroy(message);
        if (status != PAWL_OK)
            return status;
    }
    if (*count == 0 && clock_boot_ms() - session->looked_ms > LOOK_MS)
        return partitions_same(session, err);
    return PAWL_OK;
}

static pawl_status kafka_acknowledge(struct transport *session, const uint64_t *tags, size_t count,
                                     enum transport_verdict verdict, pawl_error *err) {
    (void)tags;
    if (count == 0)
        return PAWL_OK;
    if (verdict == VERDICT_RETURN)
        return error_set(err, PAWL_UNAVAILABLE, "kafka", "the reader begins again at the group's place");
    rd_kafka_resp_err_t code = rd_kafka_commit(session->consumer, session->ends, 0);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        return error_set(err, PAWL_UNAVAILABLE, "kafka", "cannot commit the place: %s",
                         rd_kafka_err2str(code));
    return PAWL_OK;
}

__attribute__((visibility("default"))) const struct transport_module pawl_transport_module = {
    .abi = TRANSPORT_ABI,
    .name = "kafka",
    .library = "librdkafka",
    .keeps_order = false,
    .open = kafka_open,
    .publish = kafka_publish,
    .subscribe = kafka_subscribe,
    .receive = kafka_receive,
    .acknowledge = kafka_acknowledge,
    .close = kafka_close,
};
