/* Output columns of alert rules and their history. */
#ifndef VIEW_ALERT_H
#define VIEW_ALERT_H

#include "store/store.h"
#include "view/output/output.h"

enum { ALERT_COLUMNS = 19, CHANGE_COLUMNS = 10, METRIC_COLUMNS = 2 };

#define ALERT_SIDES "above|below"           /* in the order of enum alert_side */
#define ALERT_SEVERITIES "warning|critical" /* in the order of enum alert_severity */

extern const struct column alert_columns[ALERT_COLUMNS];
void alert_cells(const struct alert_row *row, int64_t now_ms, struct cell cells[static ALERT_COLUMNS]);

extern const struct column change_columns[CHANGE_COLUMNS];
void change_cells(const struct alert_change *change, struct cell cells[static CHANGE_COLUMNS]);

extern const struct column metric_columns[METRIC_COLUMNS];
void metric_cells(enum alert_metric metric, struct cell cells[static METRIC_COLUMNS]);

#endif
