/* Receptors as rows of output. */
#include "view/receptor.h"

#include "domain/workstatus.h"
#include "view/event.h"

const struct column receptor_columns[RECEPTOR_COLUMNS] = {
    {.key = "receptor", .type = CELL_TEXT},
    {.key = "on", .type = CELL_TEXT, .cut = true},
    {.key = "paused", .type = CELL_BOOL},
    {.key = "position", .type = CELL_INT, .drop = 4},
    {.key = "behind", .type = CELL_INT},
    {.key = "messages", .type = CELL_INT},
    {.key = "topic", .type = CELL_TEXT, .drop = 2},
    {.key = "registered", .type = CELL_TIME, .drop = 3}};

void receptor_cells(struct arena *arena, const struct fleet_receptor *row,
                    struct cell cells[static RECEPTOR_COLUMNS]) {
    const struct event_receptor *kept = &row->kept;
    cells[0] = cell_text(kept->name);
    cells[1] = cell_text(patterns_text(arena, kept->patterns, kept->pattern_count));
    cells[2] = cell_bool(row->paused);
    cells[3] = cell_int(kept->position);
    cells[4] = cell_int(row->behind);
    cells[5] = cell_int(kept->fed);
    cells[6] = cell_text(row->topic);
    cells[7] = cell_time(kept->registered_ms);
}

static const char *note_state(const struct receptor_row *row) {
    if ((row->status & WORK_COMPLETED) != 0)
        return "done";
    if ((row->status & WORK_FAILED) == 0)
        return "begun";
    return (row->status & WORK_STORED) != 0 ? "failed, tried again" : "failed for good";
}

const struct column receptor_note_columns[RECEPTOR_NOTE_COLUMNS] = {
    {.key = "receptor", .type = CELL_TEXT},
    {.key = "state", .type = CELL_TEXT},
    {.key = "attempts", .type = CELL_INT},
    {.key = "updated", .type = CELL_TIME},
    {.key = "error", .type = CELL_TEXT, .content = true, .cut = true},
    {.key = "status", .type = CELL_INT, .show = SHOW_JSON}};

void receptor_note_cells(const struct receptor_row *row, struct cell cells[static RECEPTOR_NOTE_COLUMNS]) {
    cells[0] = cell_text(row->receptor);
    cells[1] = cell_cstr(note_state(row));
    cells[2] = cell_int(row->attempts);
    cells[3] = cell_time(row->updated_ms);
    cells[4] = cell_text(row->error);
    cells[5] = cell_int(row->status);
}
