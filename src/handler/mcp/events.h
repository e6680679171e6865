/* An event stream (text/event-stream) as a client reads it: fed in pieces, it gives the data of its events.
 */
#ifndef HANDLER_MCP_EVENTS_H
#define HANDLER_MCP_EVENTS_H

#include "base/buf.h"

enum { EVENT_ID_BYTES = 256 };

struct events {
    struct buf line, data;
    bool after_cr, has_id;
    char id[EVENT_ID_BYTES];
    int64_t retry_ms; /* -1 = not said */
};

/* bytes_max: of a line, and of the data of an event. */
void events_init(struct events *events, size_t bytes_max);
void events_free(struct events *events);

/* Calls take for each event with data; stops when it returns false. False: it did, or memory ran out. */
bool events_feed(struct events *events, pawl_str piece, bool (*take)(void *self, pawl_str data), void *self);

#endif
