/* What the parts of the NATS module share: a connection that speaks the protocol's lines, and its reader. */
#ifndef TRANSPORT_MODULES_NATS_H
#define TRANSPORT_MODULES_NATS_H

#include "base/buf.h"
#include "base/json/tree.h"
#include "transport/transport.h"

enum { NATS_INBOX_BYTES = 64, NATS_SUBJECT_BYTES = NATS_INBOX_BYTES + 48, NATS_NO_RESPONDERS = 503 };

struct transport {
    TRANSPORT_SESSION
    struct wire *wire;
    int64_t payload_bytes_max; /* the last INFO's, as the following */
    bool has_headers, offers_tls, wants_tls;
    struct buf out;
    char *in; /* in_at to in_len: what was received and not taken yet */
    size_t in_size, in_at, in_len;
    struct buf kept; /* messages that came while another answer was awaited; taken first */
    size_t kept_at;
    char inbox[NATS_INBOX_BYTES]; /* answers come below it */
    uint64_t call;                /* answers to an earlier call are not ours */
    struct buf headers;           /* of the message that is being written */
    struct arena *answer;         /* of the last answer of the API */
    /* reading */
    const char *group_too; /* the group's consumer has this name or the group's, alternately */
    const char *stream, *consumer;
    uint64_t next;  /* the consumer's number of the next expected message */
    uint64_t pulls; /* requests for messages so far */
    uint64_t sid;   /* the subscription to which messages come; those of an earlier one are not ours */
    size_t wanted;  /* how many of the last pull may still come */
    int64_t wanted_till_ms; /* boot time */
    uint64_t pending;       /* what the stream had for us after the last message: it follows at once */
    struct buf last;        /* where to acknowledge what the last receive returned; empty: nothing to do */
};

/* A message from the server; its texts are good until the next frame is taken. */
struct nats_frame {
    uint64_t sid;
    pawl_str subject, reply;
    pawl_str headers; /* lines of "name: value" */
    pawl_str data;
    int64_t status;  /* of a message that has nothing but a status; 0 = none */
    pawl_str denied; /* with PAWL_INVALID: the subject of a message that we may not publish there. The broker
                        says so once for each message, and the connection goes on. */
};

PAWL_MUSTCHECK pawl_status nats_session_open(struct transport *session, const struct transport_config *config,
                                             pawl_error *err);
void nats_session_close(struct transport *session);

/* The next message; PAWL_BUSY: none came in time. */
PAWL_MUSTCHECK pawl_status nats_next(struct transport *session, int64_t until_ms, struct nats_frame *frame,
                                     pawl_error *err);

/* To be asked after each line that is not for the caller, as they may never end. PAWL_BUSY: the time is over.
 */
PAWL_MUSTCHECK pawl_status nats_in_time(int64_t until_ms, pawl_error *err);

/* Appends a message to what is sent by the next flush. Its headers, if any, are in session->headers. */
void nats_put(struct transport *session, pawl_str subject, const char *reply, pawl_str data);
PAWL_MUSTCHECK pawl_status nats_flush(struct transport *session, int64_t until_ms, pawl_error *err);

/* Where the answer to a part of this call goes, and of which part a message is the answer. */
void nats_answer_subject(const struct transport *session, size_t number,
                         char subject[static NATS_SUBJECT_BYTES]);
bool nats_is_answer(const struct transport *session, const struct nats_frame *frame, size_t *number);

/* Asks and waits for the answer. PAWL_UNAVAILABLE: no answer. */
PAWL_MUSTCHECK pawl_status nats_ask(struct transport *session, pawl_str subject, pawl_str question,
                                    struct nats_frame *answer, pawl_error *err);

/* Asks JetStream's API; the answer is good until the next call. PAWL_NOT_FOUND: so it says. */
PAWL_MUSTCHECK pawl_status nats_api(struct transport *session, const char *subject, pawl_str question,
                                    const struct tree **answer, pawl_error *err);

pawl_status nats_session_subscribe(struct transport *session, pawl_error *err);
pawl_status nats_session_receive(struct transport *session, struct arena *arena, size_t max, int wait_ms,
                                 struct transport_delivery *deliveries, size_t *count, pawl_error *err);
pawl_status nats_session_acknowledge(struct transport *session, const uint64_t *tags, size_t count,
                                     enum transport_verdict verdict, pawl_error *err);

#endif
