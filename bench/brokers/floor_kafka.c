/* librdkafka: the idempotent producer, all replicas. */
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <string.h>

#include "floor.h"

enum { WAIT_MS = 60000 };

static void on_report(rd_kafka_t *kafka, const rd_kafka_message_t *message, void *self) {
    (void)kafka;
    *(int64_t *)self += message->err == RD_KAFKA_RESP_ERR_NO_ERROR;
}

static rd_kafka_resp_err_t send_event(rd_kafka_t *kafka, const struct floor *floor,
                                      const struct floor_event *event) {
    struct floor_attribute attributes[FLOOR_ATTRIBUTES];
    floor_attributes(event, attributes);
    rd_kafka_headers_t *headers = rd_kafka_headers_new(FLOOR_ATTRIBUTES);
    for (int i = 0; i < FLOOR_ATTRIBUTES; i++) {
        char name[48];
        snprintf(name, sizeof(name), "ce_%s", attributes[i].name);
        rd_kafka_header_add(headers, name, -1, attributes[i].value, -1);
    }
    const rd_kafka_vu_t fields[] = {
        {.vtype = RD_KAFKA_VTYPE_TOPIC, .u.cstr = floor->destination},
        {.vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY},
        {.vtype = RD_KAFKA_VTYPE_KEY, .u.mem = {(void *)(uintptr_t)event->stream, strlen(event->stream)}},
        {.vtype = RD_KAFKA_VTYPE_VALUE, .u.mem = {(void *)(uintptr_t)event->data, strlen(event->data)}},
        {.vtype = RD_KAFKA_VTYPE_HEADERS, .u.headers = headers},
    };
    rd_kafka_error_t *fault = rd_kafka_produceva(kafka, fields, sizeof(fields) / sizeof(*fields));
    rd_kafka_resp_err_t code = rd_kafka_error_code(fault);
    rd_kafka_error_destroy(fault);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        rd_kafka_headers_destroy(headers);
    return code;
}

bool floor_publish(const struct floor *floor) {
    char servers[128], reason[256] = "";
    int64_t confirmed = 0, sent = 0;
    snprintf(servers, sizeof(servers), "%s:%d", floor->host, floor->port);
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", servers, reason, sizeof(reason));
    rd_kafka_conf_set(conf, "enable.idempotence", "true", reason, sizeof(reason));
    rd_kafka_conf_set(conf, "linger.ms", "0", reason, sizeof(reason));
    rd_kafka_conf_set_opaque(conf, &confirmed);
    rd_kafka_conf_set_dr_msg_cb(conf, on_report);
    rd_kafka_t *kafka = rd_kafka_new(RD_KAFKA_PRODUCER, conf, reason, sizeof(reason));
    bool good = kafka != NULL;
    for (; good && sent < floor->messages; sent++) {
        struct floor_event event;
        floor_event(floor, sent, &event);
        good = send_event(kafka, floor, &event) == RD_KAFKA_RESP_ERR_NO_ERROR;
        for (rd_kafka_poll(kafka, 0); good && sent - confirmed >= FLOOR_WINDOW;)
            rd_kafka_poll(kafka, 1);
    }
    good = good && rd_kafka_flush(kafka, WAIT_MS) == RD_KAFKA_RESP_ERR_NO_ERROR &&
           confirmed == floor->messages;
    if (!good)
        fprintf(stderr, "kafka: %lld of %lld confirmed %s\n", (long long)confirmed,
                (long long)floor->messages, reason);
    if (kafka != NULL)
        rd_kafka_destroy(kafka);
    return good;
}
