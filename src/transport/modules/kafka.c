/* Apache Kafka: the idempotent producer with all acknowledgements, CloudEvents in headers, the stream as key.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "transport/modules/kafka.h"

enum { POLL_MS = 100 };

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

static pawl_status kafka_open(const struct transport_config *config, struct transport **out,
                              pawl_error *err) {
    return kafka_session_open(config, on_report, out, err);
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
