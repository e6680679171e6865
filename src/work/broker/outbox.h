/* The outbox at work: claimed messages are published, and are done only when the broker confirmed them. */
#ifndef WORK_BROKER_OUTBOX_H
#define WORK_BROKER_OUTBOX_H

#include "base/log.h"
#include "handler/table.h"
#include "transport/settings.h"

struct outbox;

/* Makes a handler for every route of the settings, which must outlive it, as must the service's name. The log
 * hears of a broker that is away and of one that is back; any thread that publishes writes to it. */
PAWL_MUSTCHECK pawl_status outbox_create(struct transport_settings *settings, pawl_str service,
                                         const struct log *log, struct handler_table *table,
                                         struct outbox **outbox, pawl_error *err);
void outbox_free(struct outbox *outbox); /* takes NULL; not while the worker runs */

#endif
