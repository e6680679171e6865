/* Pauses: what waits until it is resumed. */
#ifndef STORE_SQLITE_MESSAGES_PAUSE_H
#define STORE_SQLITE_MESSAGES_PAUSE_H

#include "store/sqlite/file/operation.h"

/* Whether any topic or stream is paused; only then is it worth asking about a message. */
PAWL_MUSTCHECK pawl_status pause_any(struct operation *op, bool *any);

/* Whether a claim passes over the message: its topic (without one: its type) or its stream is paused. */
PAWL_MUSTCHECK pawl_status pause_fits(struct operation *op, const struct item *item, bool *fits);

/* Until when a message waits that is given back: PAWL_UNTIL_RESUMED_MS when its handler is still paused. */
PAWL_MUSTCHECK pawl_status pause_until(struct operation *op, const struct release_item *item,
                                       int64_t *until_ms);

#endif
