/* The interface that every transport module implements. */
#ifndef TRANSPORT_TRANSPORT_H
#define TRANSPORT_TRANSPORT_H

#include "base/arena.h"
#include "transport/address.h"
#include "transport/event.h"

enum {
    TRANSPORT_ABI = 4,
    TRANSPORT_ERROR_BYTES = 256,
    TRANSPORT_OPTIONS_MAX = 16,
    TRANSPORT_CONNECT_MS_DEFAULT = 5000,
    TRANSPORT_CONFIRM_MS_DEFAULT = 10000,
    TRANSPORT_RECEIVE_MAX = 500,
    TRANSPORT_FIELDS_MAX = 8
};

/* A setting that only one module knows, such as max-length of Redis. */
struct transport_option {
    const char *name;
    const char *value;
};

/* How a broker is reached. Texts are borrowed while the session is open; user and password come from the
 * environment or a file and must not appear in any error. */
struct transport_config {
    const char *name; /* its name in the configuration; for messages */
    const char *url;
    const char *user, *password;
    const char *ca_file, *cert_file, *key_file; /* NULL: the system's authorities, no client certificate */
    int connect_ms;
    int confirm_ms; /* how long a published message may stay unconfirmed */
    const struct transport_option *options;
    size_t option_count;
};

struct transport_field {
    const char *name;
    pawl_str value;
};

/* One message on its way out; the event's id is the broker's message id and the same at every attempt. Where
 * messages have fields (Redis Streams), those that are given replace the event. */
struct transport_message {
    pawl_str destination;
    struct event event;
    const struct transport_field *fields;
    size_t field_count; /* at most TRANSPORT_FIELDS_MAX; 0 = the event */
    int64_t max_length; /* of the destination, where it can be trimmed; 0 = as the transport says */
};

/* The outcome for one message. Only confirmed means that the broker has it; unavailable says nothing about
 * the message itself, so no attempt is counted. */
enum transport_fate {
    FATE_UNAVAILABLE = 0, /* the broker is unavailable or did not answer: it may have the message */
    FATE_CONFIRMED,
    FATE_REFUSED, /* the broker refused it for now */
    FATE_REJECTED /* the broker will never accept this message there */
};

struct transport_result {
    enum transport_fate fate;
    char error[TRANSPORT_ERROR_BYTES];
};

/* What one session reads. */
struct transport_subscription {
    pawl_str from;   /* the broker's name of the queue, stream or topic */
    pawl_str group;  /* whose position the broker keeps */
    pawl_str reader; /* this reader inside the group; stable over reconnects */
};

/* A received message; texts live in the arena of the receive call. */
struct transport_delivery {
    uint64_t tag; /* for acknowledge; only of this session */
    pawl_str from;
    struct event event;
    bool malformed; /* not a CloudEvent: reason says why, raw is what came */
    char reason[TRANSPORT_ERROR_BYTES];
    pawl_str raw;
};

enum transport_verdict {
    VERDICT_ACCEPT = 1, /* stored: the broker may forget it */
    VERDICT_RETURN      /* not stored: deliver it again */
};

/* A session: each module has its own members, after these, which transport_open and transport_subscribe set.
 */
#define TRANSPORT_SESSION                                                                                    \
    struct arena *arena;    /* of names */                                                                   \
    struct address address; /* if the module has ports: with the configuration's user, password */           \
    int confirm_ms;                                                                                          \
    pawl_str from, group, reader; /* of the subscription, each with a NUL at its end */
struct transport;
struct transport_session {
    TRANSPORT_SESSION
};

/*
 * A module exports `const struct transport_module pawl_transport_module`. A session serves one thread at a
 * time; sessions are independent of each other. Every call ends within its deadline.
 */
struct transport_module {
    int abi;
    const char *name;
    const char *library; /* the client library and its version; NULL: none */
    bool keeps_order; /* after a failure, no later message of the same call and key can have been accepted */

    size_t session_bytes;
    int port, tls_port; /* by default; 0, 0: the address is not that of a broker */

    /* PAWL_UNAVAILABLE: the broker cannot be reached; PAWL_INVALID: address, credentials or certificate. */
    pawl_status (*open)(struct transport *session, const struct transport_config *config, pawl_error *err);
    /* Fills every result. Not PAWL_OK: the session is broken; results without an answer are unavailable. */
    pawl_status (*publish)(struct transport *session, const struct transport_message *messages, size_t count,
                           struct transport_result *results, pawl_error *err);
    /* NULL: the transport only publishes. */
    pawl_status (*subscribe)(struct transport *session, pawl_error *err);
    /* At most max deliveries, in the broker's order; waits wait_ms for the first. */
    pawl_status (*receive)(struct transport *session, struct arena *arena, size_t max, int wait_ms,
                           struct transport_delivery *deliveries, size_t *count, pawl_error *err);
    pawl_status (*acknowledge)(struct transport *session, const uint64_t *tags, size_t count,
                               enum transport_verdict verdict, pawl_error *err);
    void (*close)(
        struct transport *session); /* also what is only half open; its memory is not the module's */
};

#define TRANSPORT_MODULE_SYMBOL "pawl_transport_module"

/* Opens a session of a module; closed with transport_close, which takes NULL. */
PAWL_MUSTCHECK pawl_status transport_open(const struct transport_module *module,
                                          const struct transport_config *config, struct transport **session,
                                          pawl_error *err);
void transport_close(const struct transport_module *module, struct transport *session);

PAWL_MUSTCHECK pawl_status transport_subscribe(const struct transport_module *module,
                                               struct transport *session,
                                               const struct transport_subscription *subscription,
                                               pawl_error *err);

/* PAWL_BUSY, which says that nothing came in time, as PAWL_UNAVAILABLE with the reason; others as they are.
 */
pawl_status transport_late(pawl_status status, const char *op, const char *reason, pawl_error *err);

/* The value of a module's own setting, or NULL. */
const char *transport_option(const struct transport_config *config, const char *name);

/* The attributes of a delivery that has them in its headers (binary mode). */
struct transport_attributes {
    bool binary;        /* there was a specversion */
    pawl_status status; /* the first fault, and its reason */
    pawl_error reason;
};

/* Takes one header; after a fault nothing. */
void transport_header(struct transport_delivery *delivery, struct arena *arena, const char *prefix,
                      pawl_str name, pawl_str value, struct transport_attributes *attributes);

/* Keeps what came, and builds the event: from attributes and body in binary mode, otherwise from the body
 * alone (attributes may be NULL). A delivery that is not an event is marked malformed. PAWL_NO_MEMORY is the
 * only failure. */
PAWL_MUSTCHECK pawl_status transport_delivery_take(struct transport_delivery *delivery, struct arena *arena,
                                                   pawl_str raw,
                                                   const struct transport_attributes *attributes,
                                                   pawl_error *err);

/* Marks every result unavailable with one reason: the initial state, before any answer. */
void transport_results_unknown(struct transport_result *results, size_t count, const char *reason);

void transport_result_confirm(struct transport_result *result);
void transport_result_set(struct transport_result *result, enum transport_fate fate, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
