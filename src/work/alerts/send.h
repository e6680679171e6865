/* Delivering alerts: to the log, to programs and to endpoints that this process was given names for. */
#ifndef WORK_ALERTS_SEND_H
#define WORK_ALERTS_SEND_H

#include "base/log.h"
#include "handler/table.h"
#include "store/store.h"
#include "work/receptors/call.h"

/* What the process delivers with; the table's patterns are names of targets. */
struct alert_sender {
    struct handler_table *targets;
    struct receptor_world world;
    struct log log;
    const stop_flag *stop;
};

/* Delivers everything that is due for one of our targets. Whatever is not delivered stays, for us or for
 * somebody else. */
PAWL_MUSTCHECK pawl_status alert_send_due(struct alert_sender *sender, struct store *store,
                                          struct arena *arena, pawl_error *err);

#endif
