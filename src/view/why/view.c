/* What a message is waiting for as a record of output. */
#include "view/why/view.h"

#include "base/uuid.h"
#include "view/names.h"
#include "view/note.h"

const struct column why_view_columns[WHY_COLUMNS] = {
    {.key = "id", .type = CELL_UUID},
    {.key = "cause", .type = CELL_TEXT},
    {.key = "state", .type = CELL_TEXT},
    {.key = "explanation", .type = CELL_TEXT},
    {.key = "next", .type = CELL_TEXT},
    {.key = "instance", .type = CELL_UUID},
    {.key = "until", .type = CELL_TIME},
    {.key = "now", .type = CELL_TIME},
    {.key = "blocker_id", .type = CELL_UUID},
    {.key = "blocker_seq", .type = CELL_INT},
    {.key = "blocker_cause", .type = CELL_TEXT},
    {.key = "many_ahead", .type = CELL_BOOL},
    {.key = "locked", .type = CELL_TEXT},
    {.key = "locked_pid", .type = CELL_INT},
    {.key = "locked_by", .type = CELL_TEXT},
    {.key = "locked_since", .type = CELL_TIME},
    {.key = "pause_scope", .type = CELL_TEXT},
    {.key = "pause_name", .type = CELL_TEXT},
    {.key = "pause_since", .type = CELL_TIME},
    {.key = "pause_actor", .type = CELL_TEXT},
    {.key = "pause_reason", .type = CELL_TEXT},
};

void why_cells(const struct why *why, const struct why_pause *pause, const struct buf texts[static 2],
               struct cell cells[static WHY_COLUMNS]) {
    bool blocked = !uuid_is_nil(why->blocker_id);
    cells[0] = cell_uuid(why->row.item.id);
    cells[1] = cell_cstr(cause_name(why->cause));
    cells[2] = cell_cstr(state_name(why->row.state));
    cells[3] = cell_text(buf_str(&texts[0]));
    cells[4] = cell_text(buf_str(&texts[1]));
    cells[5] = cell_uuid(why->instance);
    cells[6] = cell_time(why->until_ms);
    cells[7] = cell_time(why->now_ms);
    cells[8] = cell_uuid(why->blocker_id);
    cells[9] = blocked ? cell_int(why->blocker_seq) : cell_none();
    cells[10] = blocked ? cell_cstr(cause_name(why->blocker_cause)) : cell_none();
    cells[11] = cell_bool(why->many_ahead);
    cells[12] = cell_text(why->locked);
    cells[13] = why->locked_pid != 0 ? cell_int(why->locked_pid) : cell_none();
    cells[14] = cell_text(why->locked_by);
    cells[15] = cell_time(why->locked_since_ms);
    if (pause->row.scope != 0) {
        pause_cells(&pause->row, &cells[16]);
        return;
    }
    for (int i = 16; i < WHY_COLUMNS; i++)
        cells[i] = cell_none();
}
