/* What is sent to a connection bit by bit, while more of it comes: frames of server-sent events. The loop's
 * own. */
#ifndef SERVER_HTTP_OUTGOING_H
#define SERVER_HTTP_OUTGOING_H

#include <microhttpd.h>

#include "base/buf.h"

struct exchange;

struct outgoing {
    struct MHD_Connection *connection;
    struct buf waiting;
    size_t sent;          /* of waiting */
    bool suspended;       /* there was nothing to send */
    bool ended;           /* nothing comes after what waits */
    void (*gone)(void *); /* frees owner when the response is destroyed; NULL: it is freed elsewhere */
    void *owner;
};

void outgoing_init(struct outgoing *outgoing, struct exchange *exchange, size_t bytes_max);
void outgoing_free(struct outgoing *outgoing);
/* Queues it as the response, from a callback of the connection. PAWL_INTERNAL: it could not be started; gone
 * was called. */
PAWL_MUSTCHECK pawl_status outgoing_start(struct outgoing *outgoing, struct exchange *exchange,
                                          pawl_error *err);
/* What was appended to waiting, or that it has ended, is noticed. */
void outgoing_wake(struct outgoing *outgoing);

#endif
