/* What the parts of the Kafka module share: a session with its clients. */
#ifndef TRANSPORT_MODULES_KAFKA_H
#define TRANSPORT_MODULES_KAFKA_H

#include <librdkafka/rdkafka.h>

#include "transport/address.h"
#include "transport/transport.h"

struct transport {
    rd_kafka_t *producer;
    rd_kafka_t *consumer;
    struct arena *arena; /* of names and of the configuration's texts */
    const struct transport_config *config;
    struct address address;
    int confirm_ms;
    bool structured; /* the whole event is the value, for brokers without headers */
    size_t open;     /* messages without a report */
    char reason[200];
    pawl_str from;
    int partitions;
    int64_t looked_ms;
    rd_kafka_topic_partition_list_t *ends; /* after the last receive, per partition */
};

/* A session whose producer knows the brokers; deliveries are reported to on_report. */
PAWL_MUSTCHECK pawl_status kafka_session_open(const struct transport_config *config,
                                              void (*on_report)(rd_kafka_t *, const rd_kafka_message_t *,
                                                                void *),
                                              struct transport **out, pawl_error *err);
void kafka_close(struct transport *session); /* takes NULL */

/* A reader inside the group. Free with rd_kafka_destroy. */
PAWL_MUSTCHECK pawl_status kafka_consumer(struct transport *session, const char *group, rd_kafka_t **out,
                                          pawl_error *err);

pawl_status kafka_subscribe(struct transport *session, const struct transport_subscription *in,
                            pawl_error *err);
pawl_status kafka_receive(struct transport *session, struct arena *arena, size_t max, int wait_ms,
                          struct transport_delivery *deliveries, size_t *count, pawl_error *err);
pawl_status kafka_acknowledge(struct transport *session, const uint64_t *tags, size_t count,
                              enum transport_verdict verdict, pawl_error *err);

#endif
