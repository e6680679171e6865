/* Converting deliveries from a broker to inbox messages, and rejecting bad ones. */
#ifndef WORK_BROKER_RECEIVED_H
#define WORK_BROKER_RECEIVED_H

#include "store/relay.h"
#include "transport/transport.h"

struct received {
    pawl_outgoing *messages;
    size_t count;
    struct malformed *malformed;
    size_t malformed_count;
};

/* Classifies the deliveries; texts are borrowed from them or in the arena. */
PAWL_MUSTCHECK pawl_status received_sort(struct arena *arena, pawl_str topic,
                                         const struct transport_delivery *deliveries, size_t count,
                                         struct received *out, pawl_error *err);

#endif
