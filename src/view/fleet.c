/* Instances and lanes as rows of output. */
#include "view/fleet.h"

#include <string.h>

#include "view/names.h"

const char *instance_state_name(const struct instance_row *row, int64_t now_ms) {
    if (row->state == INSTANCE_EVICTED)
        return "evicted";
    return row->lease_until_ms <= now_ms ? "silent" : "active";
}

/* How many of the partitions 0 … count-1 fall into the lane. */
static int partitions_in(const struct settings *settings, int lane) {
    return settings->partition_count / settings->lane_count +
           (lane < settings->partition_count % settings->lane_count ? 1 : 0);
}

const struct column instance_columns[INSTANCE_COLUMNS] = {
    {.key = "id", .type = CELL_UUID},
    {.key = "service", .type = CELL_TEXT, .cut = true},
    {.key = "host", .type = CELL_TEXT, .cut = true, .drop = 3},
    {.key = "pid", .type = CELL_INT, .drop = 4},
    {.key = "state", .type = CELL_TEXT},
    {.key = "outbox_lanes", .type = CELL_INT, .drop = 5},
    {.key = "inbox_lanes", .type = CELL_INT, .drop = 5},
    {.key = "perspective_lanes", .type = CELL_INT, .drop = 6},
    {.key = "claims", .type = CELL_INT, .drop = 2},
    {.key = "in_flight", .type = CELL_INT},
    {.key = "jobs", .type = CELL_INT, .drop = 2},
    {.key = "processed", .type = CELL_INT, .drop = 2},
    {.key = "beat", .type = CELL_TIME, .drop = 1},
    {.key = "beat_age", .type = CELL_DURATION, .show = SHOW_JSON},
    {.key = "lease_until", .type = CELL_TIME, .show = SHOW_WIDE},
    {.key = "started", .type = CELL_TIME, .show = SHOW_WIDE},
    {.key = "outbox", .type = CELL_BOOL, .show = SHOW_JSON},
    {.key = "inbox", .type = CELL_BOOL, .show = SHOW_JSON},
    {.key = "perspective", .type = CELL_BOOL, .show = SHOW_JSON},
    {.key = "metadata", .type = CELL_JSON, .show = SHOW_WIDE}};

void instance_cells(const struct instance_row *row, int64_t now_ms,
                    struct cell cells[static INSTANCE_COLUMNS]) {
    const struct cell made[INSTANCE_COLUMNS] = {cell_uuid(row->id),
                                                cell_text(row->service),
                                                cell_text(row->host),
                                                cell_int(row->pid),
                                                cell_cstr(instance_state_name(row, now_ms)),
                                                cell_int(row->lanes[KIND_OUTBOX]),
                                                cell_int(row->lanes[KIND_INBOX]),
                                                cell_int(row->lanes[KIND_PERSPECTIVE]),
                                                cell_int(row->claims),
                                                cell_int(row->in_flight),
                                                cell_int(row->jobs),
                                                cell_int(row->processed),
                                                cell_time(row->beat_ms),
                                                cell_duration(row->beat_age_ms),
                                                cell_time(row->lease_until_ms),
                                                cell_time(row->started_ms),
                                                cell_bool((row->kinds & KIND_BIT(KIND_OUTBOX)) != 0),
                                                cell_bool((row->kinds & KIND_BIT(KIND_INBOX)) != 0),
                                                cell_bool((row->kinds & KIND_BIT(KIND_PERSPECTIVE)) != 0),
                                                cell_text(row->metadata)};
    memcpy(cells, made, sizeof made);
}

const struct column lane_columns[LANE_COLUMNS] = {{.key = "kind", .type = CELL_TEXT},
                                                  {.key = "lane", .type = CELL_INT},
                                                  {.key = "partitions", .type = CELL_INT},
                                                  {.key = "owner", .type = CELL_UUID},
                                                  {.key = "draining", .type = CELL_BOOL},
                                                  {.key = "claims", .type = CELL_INT},
                                                  {.key = "holds", .type = CELL_INT},
                                                  {.key = "token", .type = CELL_INT, .show = SHOW_WIDE},
                                                  {.key = "cursor", .type = CELL_INT, .show = SHOW_WIDE},
                                                  {.key = "moves", .type = CELL_INT, .show = SHOW_WIDE}};

void lane_cells(const struct lane_row *row, const struct settings *settings,
                struct cell cells[static LANE_COLUMNS]) {
    const struct cell made[LANE_COLUMNS] = {cell_cstr(kind_name(row->kind)),
                                            cell_int(row->lane),
                                            cell_int(partitions_in(settings, row->lane)),
                                            cell_uuid(row->owner),
                                            cell_bool(row->draining),
                                            cell_int(row->claims),
                                            cell_int(row->holds),
                                            cell_int(row->token),
                                            cell_int(row->high),
                                            cell_int(row->moves)};
    memcpy(cells, made, sizeof made);
}
