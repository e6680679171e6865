/* Output columns of instances and lanes. */
#include "view/fleet.h"

#include "view/names.h"
#include "view/output/row.h"

const char *const instance_standings[INSTANCE_STANDINGS] = {"active", "silent", "evicted"};

int instance_standing(const struct instance_row *row, int64_t now_ms) {
    return row->state == INSTANCE_EVICTED ? 2 : row->lease_until_ms <= now_ms;
}

const char *instance_state_name(const struct instance_row *row, int64_t now_ms) {
    return instance_standings[instance_standing(row, now_ms)];
}

/* How many of the partitions 0 … count-1 are in the lane. */
static int partitions_in(const struct settings *settings, int lane) {
    return settings->partition_count / settings->lane_count +
           (lane < settings->partition_count % settings->lane_count ? 1 : 0);
}

#define ROW struct instance_row
const struct column instance_columns[INSTANCE_COLUMNS] = {
    {.key = "id", UUID_OF(id)},
    {.key = "service", TEXT_OF(service), .cut = true},
    {.key = "host", TEXT_OF(host), .cut = true, .drop = 3},
    {.key = "pid", INT_OF(pid), .drop = 4},
    {COLUMN(TEXT, "state")},
    {.key = "outbox_lanes", INT_OF(lanes[KIND_OUTBOX]), .drop = 5},
    {.key = "inbox_lanes", INT_OF(lanes[KIND_INBOX]), .drop = 5},
    {.key = "perspective_lanes", INT_OF(lanes[KIND_PERSPECTIVE]), .drop = 6},
    {.key = "claims", INT_OF(claims), .drop = 2},
    {.key = "in_flight", INT_OF(in_flight)},
    {.key = "jobs", INT_OF(jobs), .drop = 2},
    {.key = "processed", INT_OF(processed), .drop = 2},
    {.key = "beat", TIME_OF(beat_ms), .drop = 1},
    {.key = "beat_age", DURATION_OF(beat_age_ms), .show = SHOW_JSON},
    {.key = "lease_until", TIME_OF(lease_until_ms), .show = SHOW_WIDE},
    {.key = "started", TIME_OF(started_ms), .show = SHOW_WIDE},
    {COLUMN(BOOL, "outbox"), .show = SHOW_JSON},
    {COLUMN(BOOL, "inbox"), .show = SHOW_JSON},
    {COLUMN(BOOL, "perspective"), .show = SHOW_JSON},
    {.key = "metadata", JSON_OF(metadata), .show = SHOW_WIDE},
};
#undef ROW

void instance_cells(const struct instance_row *row, int64_t now_ms,
                    struct cell cells[static INSTANCE_COLUMNS]) {
    const struct cell made[] = {cell_cstr(instance_state_name(row, now_ms)),
                                cell_bool((row->kinds & KIND_BIT(KIND_OUTBOX)) != 0),
                                cell_bool((row->kinds & KIND_BIT(KIND_INBOX)) != 0),
                                cell_bool((row->kinds & KIND_BIT(KIND_PERSPECTIVE)) != 0)};
    row_cells(instance_columns, INSTANCE_COLUMNS, row, made, cells);
}

#define ROW struct lane_row
const struct column lane_columns[LANE_COLUMNS] = {
    {.key = "kind", WORD_OF(kind, kind_names)},
    {.key = "lane", INT_OF(lane)},
    {COLUMN(INT, "partitions")},
    {.key = "owner", UUID_OF(owner)},
    {.key = "draining", BOOL_OF(draining)},
    {.key = "claims", INT_OF(claims)},
    {.key = "holds", INT_OF(holds)},
    {.key = "token", INT_OF(token), .show = SHOW_WIDE},
    {.key = "cursor", INT_OF(high), .show = SHOW_WIDE},
    {.key = "moves", INT_OF(moves), .show = SHOW_WIDE},
};
#undef ROW

void lane_cells(const struct lane_row *row, const struct settings *settings,
                struct cell cells[static LANE_COLUMNS]) {
    const struct cell partitions = cell_int(partitions_in(settings, row->lane));
    row_cells(lane_columns, LANE_COLUMNS, row, &partitions, cells);
}
