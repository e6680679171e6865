/* Kafka: reading a topic from the group's position, with one reader for all partitions. */
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "transport/modules/kafka.h"

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
pawl_status kafka_subscribe(struct transport *session, const struct transport_subscription *in,
                            pawl_error *err) {
    pawl_str group;
    pawl_status status = str_dup(session->arena, in->from, &session->from, err);
    if (status == PAWL_OK)
        status = str_dup(session->arena, in->group, &group, err);
    if (status == PAWL_OK)
        status = kafka_consumer(session, group.ptr, &session->consumer, err);
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

pawl_status kafka_receive(struct transport *session, struct arena *arena, size_t max, int wait_ms,
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

pawl_status kafka_acknowledge(struct transport *session, const uint64_t *tags, size_t count,
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
