/* Delivering alerts: to the log, and to the programs and endpoints defined in this process's targets file. */
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

/* Delivers everything that is due for our targets. What cannot be delivered stays for later, here or in
 * another process. */
PAWL_MUSTCHECK pawl_status alert_send_due(struct alert_sender *sender, struct store *store,
                                          struct arena *arena, pawl_error *err);

#endif
