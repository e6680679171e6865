/* Server-sent events: the connected clients, and sending events to them. */
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

/* Sends an event to all clients; one that reads too slowly loses it. */
void streams_send(struct streams *streams, const char *event, int64_t id, pawl_str data);
/* Sends a comment if nothing was sent for a while, so that disconnected clients are noticed. */
void streams_tick(struct streams *streams, int64_t now_ms);
/* Ends the streams whose session has ended. */
void streams_sign_out(struct streams *streams);
/* Resumes every suspended connection, so that the daemon can be stopped. */
void streams_end(struct streams *streams);
size_t streams_count(const struct streams *streams);

#endif
