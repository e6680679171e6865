/* Watching the alert rules: a duty that takes its turn, evaluates, and delivers. */
#ifndef WORK_ALERTS_WATCH_H
#define WORK_ALERTS_WATCH_H

#include "base/log.h"
#include "process/launcher.h"
#include "work/duty.h"

struct alert_watch;

struct alert_watch_config {
    struct store_config store; /* texts are borrowed for as long as the watch lives */
    int64_t interval_ms;       /* 0 = PAWL_ALERT_INTERVAL_MS_DEFAULT */
    const char *targets;       /* a handlers file whose sections are names of targets; NULL = none */
    struct log log;
};

PAWL_MUSTCHECK pawl_status alert_watch_create(const struct alert_watch_config *config,
                                              struct alert_watch **watch, pawl_error *err);
/* Deliveries that it had leased are left to other processes. Accepts NULL. */
void alert_watch_free(struct alert_watch *watch);

/* PAWL_INVALID: an enabled rule names a target that is not in the targets file. If the database does not
 * answer now, nothing is checked. */
PAWL_MUSTCHECK pawl_status alert_watch_check(struct alert_watch *watch, pawl_error *err);
const struct duty *alert_watch_duty(const struct alert_watch *watch);

/* The launcher that starts its programs; NULL if it has none. */
struct launcher *alert_watch_launcher(struct alert_watch *watch);

#endif
