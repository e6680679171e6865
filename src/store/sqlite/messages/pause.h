/* Pauses of messages, as claims and releases see them. */
#ifndef STORE_SQLITE_MESSAGES_PAUSE_H
#define STORE_SQLITE_MESSAGES_PAUSE_H

#include "store/sqlite/file/operation.h"

/* Whether any topic or stream is paused; only then does a message need checking. */
PAWL_MUSTCHECK pawl_status pause_any(struct operation *op, bool *any);

/* Whether a claim must skip the message: its topic (or type, if it has none) or its stream is paused. */
PAWL_MUSTCHECK pawl_status pause_fits(struct operation *op, const struct item *item, bool *fits);

/* Until when a released message waits: PAWL_UNTIL_RESUMED_MS if its handler is still paused. */
PAWL_MUSTCHECK pawl_status pause_until(struct operation *op, const struct release_item *item,
                                       int64_t *until_ms);

#endif
