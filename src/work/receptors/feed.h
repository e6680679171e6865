/* Feeding receptors on events: a thread that puts an inbox message for each appended event. */
#ifndef WORK_RECEPTORS_FEED_H
#define WORK_RECEPTORS_FEED_H

#include "base/log.h"
#include "handler/table.h"
#include "store/store.h"

struct receptor_feed;

/* For the receptors on events of the table, which must outlive it; *feed stays NULL when there are none. They
 * are registered now. PAWL_CONFLICT: one is registered with other patterns; PAWL_NOT_FOUND: one that names no
 * pattern is not registered. If the store cannot be reached, the thread retries. Texts of the store's config
 * are borrowed. */
PAWL_MUSTCHECK pawl_status receptor_feed_create(const struct store_config *store, int64_t poll_ms,
                                                const struct handler_table *table,
                                                struct receptor_feed **feed, pawl_error *err);
PAWL_MUSTCHECK pawl_status receptor_feed_start(struct receptor_feed *feed, pawl_error *err);
void receptor_feed_free(struct receptor_feed *feed); /* ends the thread; takes NULL */

/* For the runtime's loop: sets the current instance (nil: the worker has stopped) and logs the thread's
 * messages. */
void receptor_feed_tick(struct receptor_feed *feed, pawl_uuid instance, struct log *log);
/* Something may have been appended. */
void receptor_feed_wake(struct receptor_feed *feed);
/* Whether there may be unclaimed messages. */
bool receptor_feed_busy(struct receptor_feed *feed);

#endif
