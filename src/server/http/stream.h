/* Server-sent events: who listens, and what is sent to them. */
#ifndef SERVER_HTTP_STREAM_H
#define SERVER_HTTP_STREAM_H

#include "pawl.h"

struct exchange;
struct server;
struct streams;

struct streams *streams_new(struct server *server); /* NULL: no memory */
void streams_free(struct streams *streams);

/* Makes the exchange's connection a listener. PAWL_BUSY when there are too many. */
PAWL_MUSTCHECK pawl_status stream_open(struct streams *streams, struct exchange *exchange, pawl_error *err);

/* Sends an event to everybody; one who does not read loses it. */
void streams_send(struct streams *streams, const char *event, int64_t id, pawl_str data);
/* A comment where nothing was sent for a while, so that a listener who is gone is noticed. */
void streams_tick(struct streams *streams, int64_t now_ms);
/* Ends those whose session has ended. */
void streams_sign_out(struct streams *streams);
/* Lets every connection go on, so that the daemon can be stopped. */
void streams_end(struct streams *streams);
size_t streams_count(const struct streams *streams);

#endif
