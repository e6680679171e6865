/* Publishing outbox messages to brokers: a message is done only when the broker has confirmed it. */
#ifndef WORK_BROKER_OUTBOX_H
#define WORK_BROKER_OUTBOX_H

#include "base/log.h"
#include "handler/table.h"
#include "transport/settings.h"

struct outbox;

/* Creates a handler for every route of the settings, which must outlive it, as must the service's name.
 * Unavailable brokers, and their return, are logged by any publishing thread. */
PAWL_MUSTCHECK pawl_status outbox_create(struct transport_settings *settings, pawl_str service,
                                         const struct log *log, struct handler_table *table,
                                         struct outbox **outbox, pawl_error *err);
void outbox_free(struct outbox *outbox); /* takes NULL; not while the worker runs */

#endif
