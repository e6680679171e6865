/* Alert rules and what happened to them, as rows of output. */
#include "view/alert.h"

#include <string.h>

#include "work/alerts/round.h"

const struct column alert_columns[ALERT_COLUMNS] = {
    {.key = "name", .type = CELL_TEXT},
    {.key = "state", .type = CELL_TEXT},
    {.key = "severity", .type = CELL_TEXT, .drop = 2},
    {.key = "metric", .type = CELL_TEXT, .drop = 3},
    {.key = "value", .type = CELL_INT},
    {.key = "side", .type = CELL_TEXT, .drop = 4},
    {.key = "threshold", .type = CELL_INT, .drop = 1},
    {.key = "since", .type = CELL_TIME, .drop = 5},
    {.key = "clear_threshold", .type = CELL_INT, .show = SHOW_WIDE},
    {.key = "for", .type = CELL_DURATION, .show = SHOW_WIDE},
    {.key = "clear", .type = CELL_DURATION, .show = SHOW_WIDE},
    {.key = "enabled", .type = CELL_BOOL, .show = SHOW_WIDE},
    {.key = "targets", .type = CELL_TEXT, .show = SHOW_WIDE},
    {.key = "silence_until", .type = CELL_TIME, .show = SHOW_WIDE},
    {.key = "silence_reason", .type = CELL_TEXT, .show = SHOW_WIDE, .cut = true},
    {.key = "silence_by", .type = CELL_TEXT, .show = SHOW_WIDE},
    {.key = "summary", .type = CELL_TEXT, .cut = true, .drop = 6},
    {.key = "version", .type = CELL_INT, .show = SHOW_JSON},
    {.key = "updated", .type = CELL_TIME, .show = SHOW_JSON},
};

void alert_cells(const struct alert_row *row, int64_t now_ms, struct cell cells[static ALERT_COLUMNS]) {
    const struct alert_rule *rule = &row->rule;
    bool silenced = row->silence_until_ms > now_ms;
    const struct cell made[ALERT_COLUMNS] = {
        cell_text(rule->name),
        cell_cstr(alert_state_name(row, now_ms)),
        cell_cstr(alert_severity_name(rule->severity)),
        cell_text(rule->metric),
        cell_int(row->state.value),
        cell_cstr(rule->side == ALERT_ABOVE ? "above" : "below"),
        cell_int(rule->threshold),
        cell_time(row->state.since_ms),
        cell_int(rule->clear_threshold),
        cell_duration(rule->for_ms),
        cell_duration(rule->clear_ms),
        cell_bool(rule->enabled),
        cell_text(rule->targets),
        cell_time(silenced ? row->silence_until_ms : 0),
        silenced ? cell_text(row->silence_reason) : cell_none(),
        silenced ? cell_text(row->silence_by) : cell_none(),
        cell_text(rule->summary),
        cell_int(rule->version),
        cell_time(rule->updated_ms),
    };
    memcpy(cells, made, sizeof made);
}

const struct column change_columns[CHANGE_COLUMNS] = {
    {.key = "number", .type = CELL_INT},
    {.key = "at", .type = CELL_TIME},
    {.key = "rule", .type = CELL_TEXT},
    {.key = "event", .type = CELL_TEXT},
    {.key = "value", .type = CELL_INT},
    {.key = "delivered", .type = CELL_INT, .drop = 1},
    {.key = "waiting", .type = CELL_INT, .drop = 2},
    {.key = "failed", .type = CELL_INT, .drop = 3},
    {.key = "error", .type = CELL_TEXT, .content = true, .cut = true, .drop = 4},
    {.key = "id", .type = CELL_UUID, .show = SHOW_JSON},
};

void change_cells(const struct alert_change *change, struct cell cells[static CHANGE_COLUMNS]) {
    const struct cell made[CHANGE_COLUMNS] = {
        cell_int(change->number),  cell_time(change->at_ms),
        cell_text(change->rule),   cell_cstr(alert_event_name(change->event)),
        cell_int(change->value),   cell_int(change->delivered),
        cell_int(change->waiting), cell_int(change->failed),
        cell_text(change->error),  cell_uuid(change->id)};
    memcpy(cells, made, sizeof made);
}

const struct column metric_columns[METRIC_COLUMNS] = {{.key = "metric", .type = CELL_TEXT},
                                                      {.key = "meaning", .type = CELL_TEXT, .cut = true}};

void metric_cells(enum alert_metric metric, struct cell cells[static METRIC_COLUMNS]) {
    cells[0] = cell_cstr(alert_metrics[metric].name);
    cells[1] = cell_cstr(alert_metrics[metric].help);
}
