/* Filling the inbox from brokers: each subscription is read by one instance at a time; messages are stored
 * first, then acknowledged. */
#ifndef WORK_BROKER_INBOX_H
#define WORK_BROKER_INBOX_H

#include "work/duty.h"

struct inbox;

/* Starts a thread per subscription; *inbox is NULL when there are none. */
PAWL_MUSTCHECK pawl_status inbox_start(const struct duty_world *world, struct inbox **inbox, pawl_error *err);

/* Ends the readers and gives their duties back; accepts NULL. What was not acknowledged is delivered again.
 */
void inbox_stop(struct inbox *inbox);

#endif
