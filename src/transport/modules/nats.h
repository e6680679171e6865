/* What the parts of the NATS module share: a session with its connection. */
#ifndef TRANSPORT_MODULES_NATS_H
#define TRANSPORT_MODULES_NATS_H

#include <nats/nats.h>

#include "transport/transport.h"

enum { NATS_SUBJECT_BYTES = 256 };

struct transport {
    natsConnection *connection;
    jsCtx *js;
    natsSubscription *acks; /* answers of the streams to what was published */
    char inbox[NATS_SUBJECT_BYTES];
    uint64_t call; /* answers to an earlier call are not ours */
    int confirm_ms;
    struct arena *arena; /* of names */
    pawl_str from;
    const char *group, *group_too; /* the two names of the group's consumer, used alternately */
    const char *stream;
    uint64_t next; /* the consumer's number of the next expected message */
    natsSubscription *pull;
    natsMsg *last; /* of the last receive; acknowledging it acknowledges all */
};

/* The library's code as a status: PAWL_INVALID if it is about our credentials, otherwise PAWL_UNAVAILABLE. */
pawl_status nats_failed(natsStatus code, const char *what, pawl_error *err);

pawl_status nats_session_subscribe(struct transport *session, const struct transport_subscription *in,
                                   pawl_error *err);
pawl_status nats_session_receive(struct transport *session, struct arena *arena, size_t max, int wait_ms,
                                 struct transport_delivery *deliveries, size_t *count, pawl_error *err);
pawl_status nats_session_acknowledge(struct transport *session, const uint64_t *tags, size_t count,
                                     enum transport_verdict verdict, pawl_error *err);

#endif
