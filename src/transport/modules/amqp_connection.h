/* What the parts of the AMQP 0-9-1 module share: a connection with one channel. */
#ifndef TRANSPORT_MODULES_AMQP_CONNECTION_H
#define TRANSPORT_MODULES_AMQP_CONNECTION_H

#include <amqp.h>
#include <sys/time.h>

#include "base/buf.h"
#include "transport/transport.h"

enum { AMQP_CHANNEL = 1 };

struct transport {
    amqp_connection_state_t connection;
    struct arena *arena; /* of names */
    struct buf json;
    const char *exchange;
    int confirm_ms;
    uint64_t published; /* on this channel: the broker counts the same */
    int closed_code;    /* why the broker closed the channel; 0 = it is open */
    char closed_text[160];
    pawl_str from;
};

static inline amqp_bytes_t amqp_bytes(pawl_str text) {
    return (amqp_bytes_t){text.len, (void *)(uintptr_t)text.ptr};
}
static inline pawl_str amqp_text(amqp_bytes_t bytes) { return (pawl_str){bytes.bytes, bytes.len}; }

struct timeval amqp_timeval(int64_t ms); /* what is negative is 0 */

/* The library's code of a connection that is gone: PAWL_UNAVAILABLE. */
pawl_status amqp_lost(int code, pawl_error *err);

/* What the broker said when it closed the channel or the connection, and its number. */
pawl_status amqp_exception(const amqp_method_t *method, int *code, pawl_error *err);
pawl_status amqp_reply_status(struct transport *session, amqp_rpc_reply_t reply, pawl_error *err);

/* A new channel in the same connection, with confirms, after the broker has closed the last one. */
pawl_status amqp_channel_again(struct transport *session, pawl_error *err);

pawl_status amqp_session_open(const struct transport_config *config, struct transport **out, pawl_error *err);
void amqp_session_close(struct transport *session); /* takes NULL */

#endif
