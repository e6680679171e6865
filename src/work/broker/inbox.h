/* Filling the inbox from brokers: each subscription is a duty of one instance at a time; messages are stored
 * first, then acknowledged. */
#ifndef WORK_BROKER_INBOX_H
#define WORK_BROKER_INBOX_H

#include "base/log.h"
#include "transport/settings.h"
#include "work/duty.h"

struct inbox;

/* For the subscriptions of the settings, which must outlive it, as must the texts. */
PAWL_MUSTCHECK pawl_status inbox_create(const struct transport_settings *settings, pawl_str service,
                                        const struct log *log, struct inbox **inbox, pawl_error *err);
/* A duty for each; they belong to the inbox. */
const struct duty *inbox_duties(const struct inbox *inbox, size_t *count);
void inbox_free(struct inbox *inbox); /* takes NULL */

#endif
