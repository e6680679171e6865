/* One evaluation of the alert rules, done by one process per interval: measure, decide, write. */
#ifndef WORK_ALERTS_ROUND_H
#define WORK_ALERTS_ROUND_H

#include "store/store.h"

struct alert_round {
    bool taken;         /* it was our turn */
    bool due;           /* something is to be delivered */
    int64_t next_in_ms; /* until the next turn, by the store's clock */
    size_t changes;     /* rules that fired or were resolved */
    size_t firing;      /* now */
};

/* Evaluates the rules if no process has done so for interval_ms. It is not an error if another process was
 * faster. */
PAWL_MUSTCHECK pawl_status alert_round(struct store *store, int64_t interval_ms, struct arena *arena,
                                       struct alert_round *out, pawl_error *err);

/* The current value of every metric. window: from the last evaluation; totals: to be added to it. */
void alert_measure(const struct fleet_facts *facts, const struct alert_window *window,
                   int64_t values[static METRIC_COUNT], struct alert_totals *totals);

/* Sends a test to the targets of the rule; *id is that of the change. */
PAWL_MUSTCHECK pawl_status alert_test(struct store *store, const struct alert_row *row, int64_t now_ms,
                                      struct arena *arena, pawl_uuid *id, pawl_error *err);

const char *alert_event_name(enum alert_event event); /* fired, resolved, tested */
const char *alert_severity_name(enum alert_severity severity);
/* ok, pending (true, but not long enough yet), firing, silenced (it fires), off */
const char *alert_state_name(const struct alert_row *row, int64_t now_ms);

#endif
