/* Output columns of receptors and their results. */
#include "view/receptor.h"

#include "domain/workstatus.h"
#include "view/event.h"
#include "view/output/row.h"

#define ROW struct fleet_receptor
const struct column receptor_columns[RECEPTOR_COLUMNS] = {
    {.key = "receptor", TEXT_OF(kept.name)},
    {COLUMN(TEXT, "on"), .cut = true},
    {.key = "paused", BOOL_OF(paused)},
    {.key = "position", INT_OF(kept.position), .drop = 4},
    {.key = "behind", INT_OF(behind)},
    {.key = "messages", INT_OF(kept.fed)},
    {.key = "topic", TEXT_OF(topic), .drop = 2},
    {.key = "registered", TIME_OF(kept.registered_ms), .drop = 3},
};
#undef ROW

void receptor_cells(struct arena *arena, const struct fleet_receptor *row,
                    struct cell cells[static RECEPTOR_COLUMNS]) {
    const struct event_receptor *kept = &row->kept;
    const struct cell on = cell_text(patterns_text(arena, kept->patterns, kept->pattern_count));
    row_cells(receptor_columns, RECEPTOR_COLUMNS, row, &on, cells);
}

static const char *note_state(const struct receptor_row *row) {
    if ((row->status & WORK_COMPLETED) != 0)
        return "done";
    if ((row->status & WORK_FAILED) == 0)
        return "begun";
    return (row->status & WORK_STORED) != 0 ? "failed, tried again" : "failed for good";
}

#define ROW struct receptor_row
const struct column receptor_note_columns[RECEPTOR_NOTE_COLUMNS] = {
    {.key = "receptor", TEXT_OF(receptor)},
    {COLUMN(TEXT, "state")},
    {.key = "attempts", INT_OF(attempts)},
    {.key = "updated", TIME_OF(updated_ms)},
    {.key = "error", TEXT_OF(error), .content = true, .cut = true},
    {.key = "status", INT_OF(status), .show = SHOW_JSON},
};
#undef ROW

void receptor_note_cells(const struct receptor_row *row, struct cell cells[static RECEPTOR_NOTE_COLUMNS]) {
    const struct cell state = cell_cstr(note_state(row));
    row_cells(receptor_note_columns, RECEPTOR_NOTE_COLUMNS, row, &state, cells);
}
