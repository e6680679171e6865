/* Feeding receptors on events: a duty that puts an inbox message for each appended event. */
#ifndef WORK_RECEPTORS_FEED_H
#define WORK_RECEPTORS_FEED_H

#include "base/log.h"
#include "handler/table.h"
#include "work/duty.h"

struct receptor_feed;

/* For the receptors on events of the table, which must outlive it. They are registered now. PAWL_CONFLICT:
 * one is registered with other patterns; PAWL_NOT_FOUND: one that names no pattern is not registered. If the
 * store cannot be reached, that is left to the first turn. */
PAWL_MUSTCHECK pawl_status receptor_feed_create(const struct store_config *store, int64_t poll_ms,
                                                const struct handler_table *table, const struct log *log,
                                                struct receptor_feed **feed, pawl_error *err);
const struct duty *receptor_feed_duty(const struct receptor_feed *feed);
void receptor_feed_free(struct receptor_feed *feed); /* takes NULL */

/* Whether there may be unclaimed messages. Any thread. */
bool receptor_feed_busy(struct receptor_feed *feed);

#endif
