/* The output record of why a message waits. */
#include "view/why/view.h"

#include "base/uuid.h"
#include "view/names.h"
#include "view/note.h"
#include "view/output/row.h"

#define ROW struct why
const struct column why_view_columns[WHY_COLUMNS] = {
    {.key = "id", UUID_OF(row.item.id)},
    {.key = "cause", WORD_OF(cause, cause_names)},
    {.key = "state", WORD_OF(row.state, state_names)},
    {COLUMN(TEXT, "explanation")},
    {COLUMN(TEXT, "next")},
    {.key = "instance", UUID_OF(instance)},
    {.key = "until", TIME_OF(until_ms)},
    {.key = "now", TIME_OF(now_ms)},
    {.key = "blocker_id", UUID_OF(blocker_id)},
    {COLUMN(INT, "blocker_seq")},
    {COLUMN(TEXT, "blocker_cause")},
    {.key = "many_ahead", BOOL_OF(many_ahead)},
    {.key = "locked", TEXT_OF(locked)},
    {.key = "locked_pid", INT_OF(locked_pid), .absent = ABSENT_ZERO},
    {.key = "locked_by", TEXT_OF(locked_by)},
    {.key = "locked_since", TIME_OF(locked_since_ms)},
    {COLUMN(TEXT, "pause_scope")},
    {COLUMN(TEXT, "pause_name")},
    {COLUMN(TIME, "pause_since")},
    {COLUMN(TEXT, "pause_actor")},
    {COLUMN(TEXT, "pause_reason")},
};
#undef ROW

void why_cells(const struct why *why, const struct why_pause *pause, const struct buf texts[static 2],
               struct cell cells[static WHY_COLUMNS]) {
    bool blocked = !uuid_is_nil(why->blocker_id);
    const struct cell made[] = {cell_text(buf_str(&texts[0])), cell_text(buf_str(&texts[1])),
                                blocked ? cell_int(why->blocker_seq) : cell_none(),
                                blocked ? cell_cstr(cause_name(why->blocker_cause)) : cell_none()};
    row_cells(why_view_columns, WHY_COLUMNS - PAUSE_COLUMNS, why, made, cells);
    cells += WHY_COLUMNS - PAUSE_COLUMNS;
    for (int i = 0; i < PAUSE_COLUMNS; i++)
        cells[i] = cell_none();
    if (pause->row.scope != 0)
        row_cells(pause_columns, PAUSE_COLUMNS, &pause->row, NULL, cells);
}
