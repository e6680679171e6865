/* Output columns of events, perspectives and their errors. */
#include "view/event.h"

#include "base/str.h"
#include "view/names.h"
#include "view/output/row.h"

static const char *const states[] = {"?", "live", "filling", "retired", "removed"};
static const char *const runs[] = {"?", "sql", "function", "exec", "http"};

const char *perspective_state_name(enum perspective_state state) { return states[state]; }

pawl_str patterns_text(struct arena *arena, const struct event_pattern *patterns, size_t count) {
    static const char *const modes[] = {"", "exact:", "suffix:", "", "regex:"};
    char *text = arena_printf(arena, "%s", "");
    for (size_t i = 0; text != NULL && i < count; i++)
        text = arena_printf(arena, "%s%s%s%.*s", text, i > 0 ? " " : "", modes[patterns[i].mode],
                            STR_ARG(patterns[i].text));
    return str_from(text);
}

#define ROW pawl_stored_event
const struct column event_columns[EVENT_COLUMNS] = {
    {.key = "position", INT_OF(position), .absent = ABSENT_ZERO, .drop = 3},
    {.key = "stream", TEXT_OF(stream), .cut = true},
    {.key = "version", INT_OF(version)},
    {.key = "type", TEXT_OF(type), .cut = true},
    {.key = "appended", TIME_OF(appended_ms), .drop = 2},
    {.key = "id", UUID_OF(id), .show = SHOW_WIDE},
    {.key = "payload", JSON_OF(payload), .content = true, .cut = true},
    {.key = "metadata", JSON_OF(metadata), .content = true, .show = SHOW_WIDE},
    {.key = "correlation_id", UUID_OF(correlation_id), .show = SHOW_JSON},
    {.key = "causation_id", UUID_OF(causation_id), .show = SHOW_JSON},
    {.key = "traceparent", TEXT_OF(traceparent), .show = SHOW_JSON},
};
#undef ROW

#define ROW struct perspective_row
const struct column perspective_columns[PERSPECTIVE_COLUMNS] = {
    {.key = "perspective", TEXT_OF(key)},
    {.key = "state", WORD_OF(state, states)},
    {.key = "paused", BOOL_OF(paused)},
    {.key = "run", WORD_OF(run, runs), .drop = 4},
    {.key = "pending", INT_OF(pending)},
    {.key = "processing", INT_OF(processing)},
    {.key = "completed", INT_OF(completed)},
    {.key = "failed", INT_OF(failed)},
    {.key = "stopped", INT_OF(stopped), .drop = 3},
    {.key = "lag_events", INT_OF(lag_events)},
    {.key = "lag", DURATION_OF(lag_ms)},
    {.key = "lag_whole", BOOL_OF(lag_whole), .show = SHOW_JSON},
    {COLUMN(DURATION, "eta"), .drop = 1},
    {COLUMN(TEXT, "patterns"), .show = SHOW_WIDE},
    {.key = "target", TEXT_OF(target), .show = SHOW_JSON},
    {.key = "batch", INT_OF(batch), .show = SHOW_JSON},
    {.key = "max_attempts", INT_OF(max_attempts), .show = SHOW_JSON},
    {.key = "policy", WORD_OF(policy, policy_names), .show = SHOW_JSON},
    {.key = "backfilled", BOOL_OF(backfilled), .show = SHOW_JSON},
    {.key = "matched", INT_OF(matched), .show = SHOW_JSON},
    {.key = "applied", INT_OF(applied), .show = SHOW_JSON},
    {.key = "registered", TIME_OF(registered_ms), .show = SHOW_WIDE},
};
#undef ROW

void perspective_cells(struct arena *arena, const struct perspective_row *row, int64_t eta_ms,
                       struct cell cells[static PERSPECTIVE_COLUMNS]) {
    const struct cell made[] = {eta_ms >= 0 ? cell_duration(eta_ms) : cell_none(),
                                cell_text(patterns_text(arena, row->patterns, row->pattern_count))};
    row_cells(perspective_columns, PERSPECTIVE_COLUMNS, row, made, cells);
}

#define ROW struct checkpoint_error
const struct column checkpoint_error_columns[CHECKPOINT_ERROR_COLUMNS] = {
    {.key = "perspective", TEXT_OF(perspective)},
    {.key = "count", INT_OF(count)},
    {.key = "fingerprint", TEXT_OF(fingerprint)},
    {.key = "sample_error", TEXT_OF(sample), .content = true, .cut = true},
};
#undef ROW
