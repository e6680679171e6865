/* The relay interface of the stores: duties, deliveries from brokers, pauses, and the audit of actions. */
#ifndef STORE_RELAY_H
#define STORE_RELAY_H

#include "store/types.h"

struct store;

/* A duty: something that exactly one live instance does at a time, such as reading one subscription. */
struct duty_take {
    pawl_str name;
    pawl_uuid instance; /* must be active */
    int64_t lease_ms;
};

struct duty_grant {
    bool held; /* by the caller; otherwise `instance` has it until lease_until_ms */
    int64_t token;
    pawl_uuid instance;
    int64_t now_ms, lease_until_ms;
};

struct duty_row {
    pawl_str name;
    pawl_uuid instance;
    int64_t token, lease_until_ms;
};

ROW_LIST(duty_rows, struct duty_row, rows);

/* A delivery from a broker that cannot be an inbox message. */
struct malformed {
    pawl_str message_id; /* what the broker calls it; may be absent */
    pawl_str detail;     /* why */
    pawl_str payload;    /* text; other bytes as base64 */
};

/* What a subscription's reader stores in one transaction. */
struct messages_receive {
    pawl_str duty;
    pawl_uuid instance;
    int64_t token; /* of the duty; no longer valid: PAWL_STALE, nothing is stored */
    pawl_str consumer;
    pawl_str topic; /* of the malformed ones */
    const pawl_outgoing *messages;
    size_t count;
    const struct malformed *malformed;
    size_t malformed_count;
    size_t payload_bytes_max; /* 0 = PAWL_PAYLOAD_BYTES_DEFAULT */
};

enum refused_reason { REFUSED_CONFLICT = 1, REFUSED_MALFORMED };

/* A refused delivery: a known id with a different payload, or not a CloudEvent. */
struct refused_row {
    int64_t number;
    enum refused_reason reason;
    pawl_str consumer, topic, message_id, detail, payload;
    int64_t received_ms;
};

ROW_LIST(refused_rows, struct refused_row, rows);

enum pause_scope {
    PAUSE_TOPIC = 1,
    PAUSE_STREAM,
    PAUSE_HANDLER,
    PAUSE_QUEUE,  /* no job of the queue with this name begins */
    PAUSE_MESSAGE /* the message with this id is cancelled: its holder ends it, and removes this */
};

/* A pause: messages of a topic, of a stream or for a handler (by its pattern), or jobs of a queue, wait until
 * it is removed. */
struct pause_row {
    enum pause_scope scope;
    pawl_str name;
    pawl_str reason; /* may be absent */
    pawl_str actor;
    int64_t since_ms;
};

ROW_LIST(pause_rows, struct pause_row, rows);

/* A recorded action of a person. */
struct audit_row {
    int64_t number; /* out only */
    int64_t at_ms;  /* out only */
    pawl_str actor, action, detail;
};

ROW_LIST(audit_rows, struct audit_row, rows);

struct store_relay_ops {
#define OPERATION(name, ...) pawl_status (*name)(struct store * store, __VA_ARGS__);
#include "store/operations/relay.h"
#undef OPERATION
};

/* Input checks shared by all stores. */
PAWL_MUSTCHECK pawl_status check_duty(const struct duty_take *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_receive(const struct messages_receive *in, pawl_error *err);
/* The error of a message that was cancelled; reason may be absent. At most PAWL_ERROR_BYTES_MAX. */
pawl_str pause_error_text(struct arena *arena, pawl_str actor, pawl_str reason);
PAWL_MUSTCHECK pawl_status check_pause(const struct pause_row *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_audit(const struct audit_row *in, pawl_error *err);

#define RECEIVE_CONFLICT_TEXT "the id is known with another payload"

/* The put that a receive contains. */
struct messages_put receive_put(const struct messages_receive *in);

#endif
