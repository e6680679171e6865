/* Apache Kafka: the idempotent producer with all acknowledgements, CloudEvents in headers, the stream as key.
 */
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "transport/address.h"
#include "transport/transport.h"

struct transport {
    TRANSPORT_SESSION
    rd_kafka_t *producer;
    rd_kafka_t *consumer;
    const struct transport_config *config;
    bool structured; /* the whole event is the value, for brokers without headers */
    size_t open;     /* messages without a report */
    char reason[200];
    int partitions;
    int64_t looked_ms;
    rd_kafka_topic_partition_list_t *ends; /* after the last receive, per partition */
};

#define OWN_OPTION "kafka."

enum { ANSWER_MS_MIN = 2000 /* longer than a fetch that finds nothing */ };

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
        transport_result_confirm(result);
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
    default: /* timed out, purged, no broker: the outcome is unknown */
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

static pawl_status make_producer(struct transport *session, pawl_error *err) {
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

/* A reader inside the group. */
static pawl_status make_consumer(struct transport *session, pawl_error *err) {
    char answer_ms[16];
    snprintf(answer_ms, sizeof(answer_ms), "%d",
             session->confirm_ms > ANSWER_MS_MIN ? session->confirm_ms : ANSWER_MS_MIN);
    const char *const rows[][2] = {{"group.id", session->group.ptr}, {"socket.timeout.ms", answer_ms},
                                   {"enable.auto.commit", "false"},  {"auto.offset.reset", "earliest"},
                                   {"fetch.wait.max.ms", "100"},     {NULL, NULL}};
    return make_client(session, rd_kafka_conf_new(), RD_KAFKA_CONSUMER, rows, &session->consumer, err);
}

static void kafka_close(struct transport *session) {
    if (session->ends != NULL)
        rd_kafka_topic_partition_list_destroy(session->ends);
    /* Closing the consumer would wait for the broker; a reader that is in no group need not say goodbye. */
    if (session->consumer != NULL)
        rd_kafka_destroy_flags(session->consumer, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    if (session->producer != NULL)
        rd_kafka_destroy(session->producer);
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

static pawl_status kafka_open(struct transport *session, const struct transport_config *config,
                              pawl_error *err) {
    const char *structured = transport_option(config, "structured");
    session->config = config;
    session->structured = structured != NULL && strcmp(structured, "true") == 0;
    pawl_status status = make_producer(session, err);
    return status == PAWL_OK ? greet(session, session->producer, err) : status;
}

enum { LOOK_MS = 30000 };

static pawl_status count_partitions(struct transport *session, int *count, pawl_error *err) {
    rd_kafka_topic_t *topic = rd_kafka_topic_new(session->consumer, session->from.ptr, NULL);
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_resp_err_t code = topic == NULL ? rd_kafka_last_error()
                                             : rd_kafka_metadata(session->consumer, 0, topic, &metadata,
                                                                 session->config->connect_ms);
    if (topic != NULL)
        rd_kafka_topic_destroy(topic);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR || metadata == NULL)
        return error_set(err, PAWL_UNAVAILABLE, "kafka", "no broker answers: %s", rd_kafka_err2str(code));
    *count = metadata->topic_cnt > 0 ? metadata->topics[0].partition_cnt : 0;
    code = metadata->topic_cnt > 0 ? metadata->topics[0].err : RD_KAFKA_RESP_ERR_NO_ERROR;
    rd_kafka_metadata_destroy(metadata);
    if (*count == 0)
        return error_set(err, PAWL_NOT_FOUND, "kafka", "the topic %s does not exist: %s", session->from.ptr,
                         rd_kafka_err2str(code));
    return PAWL_OK;
}

/* Every partition, from the group's position: a subscription has one reader, so there is nothing to
 * coordinate. */
static pawl_status kafka_subscribe(struct transport *session, pawl_error *err) {
    pawl_status status = make_consumer(session, err);
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

static pawl_status take_delivery(struct transport *session, struct arena *arena,
                                 const rd_kafka_message_t *message, struct transport_delivery *delivery,
                                 pawl_error *err) {
    rd_kafka_headers_t *headers = NULL;
    struct transport_attributes attributes = {.binary = false};
    const char *name = NULL;
    const void *value = NULL;
    size_t size = 0;
    *delivery = (struct transport_delivery){.from = session->from};
    bool more = rd_kafka_message_headers(message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR;
    for (size_t i = 0; more; i++) {
        more = rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR;
        if (more)
            transport_header(delivery, arena, "ce_", str_from(name),
                             (pawl_str){value != NULL ? value : "", size}, &attributes);
    }
    return transport_delivery_take(delivery, arena, (pawl_str){message->payload, message->len}, &attributes,
                                   err);
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

/* The library's own commit waits for as long as the broker is away. */
static rd_kafka_resp_err_t commit(struct transport *session) {
    rd_kafka_queue_t *answers = rd_kafka_queue_new(session->consumer);
    rd_kafka_resp_err_t code = rd_kafka_commit_queue(session->consumer, session->ends, answers, NULL, NULL);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
        rd_kafka_event_t *answer = rd_kafka_queue_poll(answers, session->confirm_ms);
        code = answer != NULL ? rd_kafka_event_error(answer) : RD_KAFKA_RESP_ERR__TIMED_OUT;
        rd_kafka_event_destroy(answer);
    }
    rd_kafka_queue_destroy(answers);
    return code;
}

static pawl_status kafka_acknowledge(struct transport *session, const uint64_t *tags, size_t count,
                                     enum transport_verdict verdict, pawl_error *err) {
    (void)tags;
    if (count == 0)
        return PAWL_OK;
    if (verdict == VERDICT_RETURN)
        return error_set(err, PAWL_UNAVAILABLE, "kafka", "the reader begins again at the group's place");
    rd_kafka_resp_err_t code = commit(session);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        return error_set(err, PAWL_UNAVAILABLE, "kafka", "cannot commit the place: %s",
                         rd_kafka_err2str(code));
    return PAWL_OK;
}

enum { POLL_MS = 100 };

static rd_kafka_headers_t *headers_of(const struct event *event) {
    struct event_attribute attributes[EVENT_ATTRIBUTES_MAX];
    size_t count = event_attributes(event, attributes);
    rd_kafka_headers_t *headers = rd_kafka_headers_new(count);
    for (size_t i = 0; i < count; i++) {
        char name[EVENT_HEADER_BYTES];
        rd_kafka_header_add(headers, event_header("ce_", attributes[i].name, name), -1,
                            attributes[i].value.ptr, (ssize_t)attributes[i].value.len);
    }
    return headers;
}

static rd_kafka_resp_err_t produce(struct transport *session, const char *topic, const struct event *event,
                                   pawl_str value, struct transport_result *result) {
    pawl_str key = str_absent(event->stream) ? event->id : event->stream;
    rd_kafka_headers_t *headers = session->structured ? rd_kafka_headers_new(1) : headers_of(event);
    if (session->structured)
        rd_kafka_header_add(headers, "content-type", -1, EVENT_CONTENT_TYPE, -1);
    const rd_kafka_vu_t fields[] = {
        {.vtype = RD_KAFKA_VTYPE_TOPIC, .u.cstr = topic},
        {.vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY},
        {.vtype = RD_KAFKA_VTYPE_KEY, .u.mem = {(void *)(uintptr_t)key.ptr, key.len}},
        {.vtype = RD_KAFKA_VTYPE_VALUE, .u.mem = {(void *)(uintptr_t)value.ptr, value.len}},
        {.vtype = RD_KAFKA_VTYPE_HEADERS, .u.headers = headers},
        {.vtype = RD_KAFKA_VTYPE_OPAQUE, .u.ptr = result},
    };
    rd_kafka_error_t *fault = rd_kafka_produceva(session->producer, fields, sizeof(fields) / sizeof(*fields));
    rd_kafka_resp_err_t code = rd_kafka_error_code(fault);
    rd_kafka_error_destroy(fault);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        rd_kafka_headers_destroy(headers);
    return code;
}

static rd_kafka_resp_err_t send_one(struct transport *session, const struct transport_message *message,
                                    struct transport_result *result) {
    char topic[256];
    if (message->destination.len >= sizeof(topic))
        return RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION;
    snprintf(topic, sizeof(topic), "%.*s", STR_ARG(message->destination));
    if (!session->structured)
        return produce(session, topic, &message->event, message->event.data, result);
    struct buf whole;
    buf_init(&whole, 0);
    event_json(&whole, &message->event);
    rd_kafka_resp_err_t code = whole.failed
                                   ? RD_KAFKA_RESP_ERR__FAIL
                                   : produce(session, topic, &message->event, buf_str(&whole), result);
    buf_free(&whole);
    return code;
}

/* Reports point at the caller's results, so none may arrive after this call. */
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

__attribute__((visibility("default"))) const struct transport_module pawl_transport_module = {
    .abi = TRANSPORT_ABI,
    .name = "kafka",
    .library = "librdkafka",
    .keeps_order = false,
    .session_bytes = sizeof(struct transport),
    .port = 9092,
    .tls_port = 9092,
    .open = kafka_open,
    .publish = kafka_publish,
    .subscribe = kafka_subscribe,
    .receive = kafka_receive,
    .acknowledge = kafka_acknowledge,
    .close = kafka_close,
};
