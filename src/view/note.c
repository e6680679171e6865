/* What people did, paused and decided, and what failed for good, as rows of output. */
#include "view/note.h"

#include <string.h>

#include "view/names.h"

static const char *const scope_names[] = {"topic", "stream", "handler", "message"};

const struct column pause_columns[PAUSE_COLUMNS] = {{.key = "scope", .type = CELL_TEXT},
                                                    {.key = "name", .type = CELL_TEXT},
                                                    {.key = "since", .type = CELL_TIME},
                                                    {.key = "actor", .type = CELL_TEXT},
                                                    {.key = "reason", .type = CELL_TEXT, .cut = true}};

void pause_cells(const struct pause_row *row, struct cell cells[static PAUSE_COLUMNS]) {
    const struct cell made[PAUSE_COLUMNS] = {cell_cstr(scope_names[row->scope - PAUSE_TOPIC]),
                                             cell_text(row->name), cell_time(row->since_ms),
                                             cell_text(row->actor), cell_text(row->reason)};
    memcpy(cells, made, sizeof made);
}

const struct column action_columns[ACTION_COLUMNS] = {{.key = "number", .type = CELL_INT},
                                                      {.key = "at", .type = CELL_TIME},
                                                      {.key = "actor", .type = CELL_TEXT},
                                                      {.key = "action", .type = CELL_TEXT},
                                                      {.key = "detail", .type = CELL_TEXT, .cut = true}};

void action_cells(const struct audit_row *row, struct cell cells[static ACTION_COLUMNS]) {
    const struct cell made[ACTION_COLUMNS] = {cell_int(row->number), cell_time(row->at_ms),
                                              cell_text(row->actor), cell_text(row->action),
                                              cell_text(row->detail)};
    memcpy(cells, made, sizeof made);
}

const struct column refused_columns[REFUSED_COLUMNS] = {
    {.key = "number", .type = CELL_INT},
    {.key = "reason", .type = CELL_TEXT},
    {.key = "consumer", .type = CELL_TEXT},
    {.key = "topic", .type = CELL_TEXT},
    {.key = "message_id", .type = CELL_TEXT},
    {.key = "received", .type = CELL_TIME, .drop = 1},
    {.key = "detail", .type = CELL_TEXT, .content = true, .cut = true},
    {.key = "payload", .type = CELL_TEXT, .content = true, .show = SHOW_JSON}};

void refused_cells(const struct refused_row *row, struct cell cells[static REFUSED_COLUMNS]) {
    const struct cell made[REFUSED_COLUMNS] = {
        cell_int(row->number),      cell_cstr(row->reason == REFUSED_CONFLICT ? "conflict" : "malformed"),
        cell_text(row->consumer),   cell_text(row->topic),
        cell_text(row->message_id), cell_time(row->received_ms),
        cell_text(row->detail),     cell_text(row->payload)};
    memcpy(cells, made, sizeof made);
}

const struct column group_columns[GROUP_COLUMNS] = {
    {.key = "kind", .type = CELL_TEXT},
    {.key = "count", .type = CELL_INT},
    {.key = "fingerprint", .type = CELL_TEXT},
    {.key = "first", .type = CELL_TIME, .drop = 1},
    {.key = "last", .type = CELL_TIME, .drop = 2},
    {.key = "sample_error", .type = CELL_TEXT, .content = true, .cut = true}};

void group_cells(const struct dead_group *group, struct cell cells[static GROUP_COLUMNS]) {
    const struct cell made[GROUP_COLUMNS] = {
        cell_cstr(kind_name(group->kind)), cell_int(group->count),    cell_text(group->fingerprint),
        cell_time(group->first_ms),        cell_time(group->last_ms), cell_text(group->sample_error)};
    memcpy(cells, made, sizeof made);
}

const struct column setting_columns[SETTING_COLUMNS] = {
    {.key = "schema_version", .type = CELL_INT},      {.key = "partition_count", .type = CELL_INT},
    {.key = "lane_count", .type = CELL_INT},          {.key = "epoch", .type = CELL_INT},
    {.key = "epoch_cause", .type = CELL_TEXT},        {.key = "epoch_raised", .type = CELL_TIME},
    {.key = "instance_lease", .type = CELL_DURATION}, {.key = "stale", .type = CELL_DURATION},
    {.key = "dedupe", .type = CELL_DURATION},         {.key = "history", .type = CELL_DURATION},
    {.key = "max_attempts", .type = CELL_INT},        {.key = "dead_policy", .type = CELL_TEXT}};

void setting_cells(const struct settings *settings, struct cell cells[static SETTING_COLUMNS]) {
    const struct cell made[SETTING_COLUMNS] = {cell_int(settings->schema_version),
                                               cell_int(settings->partition_count),
                                               cell_int(settings->lane_count),
                                               cell_int(settings->epoch),
                                               cell_cstr(epoch_cause_name(settings->epoch_cause)),
                                               cell_time(settings->epoch_ms),
                                               cell_duration(settings->instance_lease_ms),
                                               cell_duration(settings->stale_ms),
                                               cell_duration(settings->dedupe_ms),
                                               cell_duration(settings->history_ms),
                                               cell_int(settings->max_attempts),
                                               cell_cstr(policy_name(settings->dead_policy))};
    memcpy(cells, made, sizeof made);
}
