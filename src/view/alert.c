/* Output columns of alert rules and their history. */
#include "view/alert.h"

#include "view/output/row.h"
#include "work/alerts/round.h"

static const char *const sides[] = {[ALERT_ABOVE] = "above", [ALERT_BELOW] = "below"};
static const char *const severities[] = {[ALERT_WARNING] = "warning", [ALERT_CRITICAL] = "critical"};

#define ROW struct alert_row
const struct column alert_columns[ALERT_COLUMNS] = {
    {.key = "name", TEXT_OF(rule.name)},
    {COLUMN(TEXT, "state")},
    {.key = "severity", WORD_OF(rule.severity, severities), .drop = 2},
    {.key = "metric", TEXT_OF(rule.metric), .drop = 3},
    {.key = "value", INT_OF(state.value)},
    {.key = "side", WORD_OF(rule.side, sides), .drop = 4},
    {.key = "threshold", INT_OF(rule.threshold), .drop = 1},
    {.key = "since", TIME_OF(state.since_ms), .drop = 5},
    {.key = "clear_threshold", INT_OF(rule.clear_threshold), .show = SHOW_WIDE},
    {.key = "for", DURATION_OF(rule.for_ms), .show = SHOW_WIDE},
    {.key = "clear", DURATION_OF(rule.clear_ms), .show = SHOW_WIDE},
    {.key = "enabled", BOOL_OF(rule.enabled), .show = SHOW_WIDE},
    {.key = "targets", TEXT_OF(rule.targets), .show = SHOW_WIDE},
    {COLUMN(TIME, "silence_until"), .show = SHOW_WIDE},
    {COLUMN(TEXT, "silence_reason"), .show = SHOW_WIDE, .cut = true},
    {COLUMN(TEXT, "silence_by"), .show = SHOW_WIDE},
    {.key = "summary", TEXT_OF(rule.summary), .cut = true, .drop = 6},
    {.key = "version", INT_OF(rule.version), .show = SHOW_JSON},
    {.key = "updated", TIME_OF(rule.updated_ms), .show = SHOW_JSON},
};
#undef ROW

void alert_cells(const struct alert_row *row, int64_t now_ms, struct cell cells[static ALERT_COLUMNS]) {
    bool silenced = row->silence_until_ms > now_ms;
    const struct cell made[] = {cell_cstr(alert_state_name(row, now_ms)),
                                cell_time(silenced ? row->silence_until_ms : 0),
                                silenced ? cell_text(row->silence_reason) : cell_none(),
                                silenced ? cell_text(row->silence_by) : cell_none()};
    row_cells(alert_columns, ALERT_COLUMNS, row, made, cells);
}

#define ROW struct alert_change
const struct column change_columns[CHANGE_COLUMNS] = {
    {.key = "number", INT_OF(number)},
    {.key = "at", TIME_OF(at_ms)},
    {.key = "rule", TEXT_OF(rule)},
    {COLUMN(TEXT, "event")},
    {.key = "value", INT_OF(value)},
    {.key = "delivered", INT_OF(delivered), .drop = 1},
    {.key = "waiting", INT_OF(waiting), .drop = 2},
    {.key = "failed", INT_OF(failed), .drop = 3},
    {.key = "error", TEXT_OF(error), .content = true, .cut = true, .drop = 4},
    {.key = "id", UUID_OF(id), .show = SHOW_JSON},
};
#undef ROW

void change_cells(const struct alert_change *change, struct cell cells[static CHANGE_COLUMNS]) {
    const struct cell event = cell_cstr(alert_event_name(change->event));
    row_cells(change_columns, CHANGE_COLUMNS, change, &event, cells);
}

const struct column metric_columns[METRIC_COLUMNS] = {{COLUMN(TEXT, "metric")},
                                                      {COLUMN(TEXT, "meaning"), .cut = true}};

void metric_cells(enum alert_metric metric, struct cell cells[static METRIC_COLUMNS]) {
    cells[0] = cell_cstr(alert_metrics[metric].name);
    cells[1] = cell_cstr(alert_metrics[metric].help);
}
