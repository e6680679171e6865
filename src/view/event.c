/* Events, perspectives and checkpoints as rows of output. */
#include "view/event.h"

#include <string.h>

#include "base/str.h"
#include "view/names.h"

const char *perspective_state_name(enum perspective_state state) {
    const char *const names[] = {"?", "live", "filling", "retired", "removed"};
    return names[state];
}

static const char *run_name(enum perspective_run run) {
    static const char *const names[] = {"?", "sql", "function", "exec", "http"};
    return names[run];
}

pawl_str patterns_text(struct arena *arena, const struct event_pattern *patterns, size_t count) {
    static const char *const modes[] = {"", "exact:", "suffix:", "", "regex:"};
    char *text = arena_printf(arena, "%s", "");
    for (size_t i = 0; text != NULL && i < count; i++)
        text = arena_printf(arena, "%s%s%s%.*s", text, i > 0 ? " " : "", modes[patterns[i].mode],
                            STR_ARG(patterns[i].text));
    return str_from(text);
}

const struct column event_columns[EVENT_COLUMNS] = {
    {.key = "position", .type = CELL_INT, .drop = 3},
    {.key = "stream", .type = CELL_TEXT, .cut = true},
    {.key = "version", .type = CELL_INT},
    {.key = "type", .type = CELL_TEXT, .cut = true},
    {.key = "appended", .type = CELL_TIME, .drop = 2},
    {.key = "id", .type = CELL_UUID, .show = SHOW_WIDE},
    {.key = "payload", .type = CELL_JSON, .content = true, .cut = true},
    {.key = "metadata", .type = CELL_JSON, .content = true, .show = SHOW_WIDE},
    {.key = "correlation_id", .type = CELL_UUID, .show = SHOW_JSON},
    {.key = "causation_id", .type = CELL_UUID, .show = SHOW_JSON},
    {.key = "traceparent", .type = CELL_TEXT, .show = SHOW_JSON}};

void event_cells(const struct stored_event *e, struct cell cells[static EVENT_COLUMNS]) {
    cells[0] = e->position > 0 ? cell_int(e->position) : cell_none();
    cells[1] = cell_text(e->stream);
    cells[2] = cell_int(e->version);
    cells[3] = cell_text(e->type);
    cells[4] = cell_time(e->appended_ms);
    cells[5] = cell_uuid(e->id);
    cells[6] = cell_text(e->payload);
    cells[7] = cell_text(e->metadata);
    cells[8] = cell_uuid(e->correlation_id);
    cells[9] = cell_uuid(e->causation_id);
    cells[10] = cell_text(e->traceparent);
}

const struct column perspective_columns[PERSPECTIVE_COLUMNS] = {
    {.key = "perspective", .type = CELL_TEXT},
    {.key = "state", .type = CELL_TEXT},
    {.key = "paused", .type = CELL_BOOL},
    {.key = "run", .type = CELL_TEXT, .drop = 4},
    {.key = "pending", .type = CELL_INT},
    {.key = "processing", .type = CELL_INT},
    {.key = "completed", .type = CELL_INT},
    {.key = "failed", .type = CELL_INT},
    {.key = "stopped", .type = CELL_INT, .drop = 3},
    {.key = "lag_events", .type = CELL_INT},
    {.key = "lag", .type = CELL_DURATION},
    {.key = "lag_whole", .type = CELL_BOOL, .show = SHOW_JSON},
    {.key = "eta", .type = CELL_DURATION, .drop = 1},
    {.key = "patterns", .type = CELL_TEXT, .show = SHOW_WIDE},
    {.key = "target", .type = CELL_TEXT, .show = SHOW_JSON},
    {.key = "batch", .type = CELL_INT, .show = SHOW_JSON},
    {.key = "max_attempts", .type = CELL_INT, .show = SHOW_JSON},
    {.key = "policy", .type = CELL_TEXT, .show = SHOW_JSON},
    {.key = "backfilled", .type = CELL_BOOL, .show = SHOW_JSON},
    {.key = "matched", .type = CELL_INT, .show = SHOW_JSON},
    {.key = "applied", .type = CELL_INT, .show = SHOW_JSON},
    {.key = "registered", .type = CELL_TIME, .show = SHOW_WIDE}};

void perspective_cells(struct arena *arena, const struct perspective_row *row, int64_t eta_ms,
                       struct cell cells[static PERSPECTIVE_COLUMNS]) {
    size_t n = 0;
    cells[n++] = cell_text(row->key);
    cells[n++] = cell_cstr(perspective_state_name(row->state));
    cells[n++] = cell_bool(row->paused);
    cells[n++] = cell_cstr(run_name(row->run));
    cells[n++] = cell_int(row->pending);
    cells[n++] = cell_int(row->processing);
    cells[n++] = cell_int(row->completed);
    cells[n++] = cell_int(row->failed);
    cells[n++] = cell_int(row->stopped);
    cells[n++] = cell_int(row->lag_events);
    cells[n++] = cell_duration(row->lag_ms);
    cells[n++] = cell_bool(row->lag_whole);
    cells[n++] = eta_ms >= 0 ? cell_duration(eta_ms) : cell_none();
    cells[n++] = cell_text(patterns_text(arena, row->patterns, row->pattern_count));
    cells[n++] = cell_text(row->target);
    cells[n++] = cell_int(row->batch);
    cells[n++] = cell_int(row->max_attempts);
    cells[n++] = cell_cstr(policy_name((int)row->policy));
    cells[n++] = cell_bool(row->backfilled);
    cells[n++] = cell_int(row->matched);
    cells[n++] = cell_int(row->applied);
    cells[n++] = cell_time(row->registered_ms);
}

const struct column checkpoint_columns[CHECKPOINT_COLUMNS] = {
    {.key = "perspective", .type = CELL_TEXT},
    {.key = "stream", .type = CELL_TEXT},
    {.key = "version", .type = CELL_INT},
    {.key = "failed_version", .type = CELL_INT},
    {.key = "attempts", .type = CELL_INT},
    {.key = "stopped", .type = CELL_BOOL},
    {.key = "next", .type = CELL_TIME, .drop = 1},
    {.key = "fingerprint", .type = CELL_TEXT, .show = SHOW_WIDE},
    {.key = "error", .type = CELL_TEXT, .content = true, .cut = true}};

void checkpoint_cells(const struct checkpoint_view *row, struct cell cells[static CHECKPOINT_COLUMNS]) {
    const struct cell made[CHECKPOINT_COLUMNS] = {cell_text(row->perspective),
                                                  cell_text(row->stream),
                                                  cell_int(row->version),
                                                  cell_int(row->failed_version),
                                                  cell_int(row->attempts),
                                                  cell_bool(row->stopped),
                                                  row->stopped ? cell_none() : cell_time(row->next_ms),
                                                  cell_text(row->fingerprint),
                                                  cell_text(row->error)};
    memcpy(cells, made, sizeof made);
}

const struct column checkpoint_error_columns[CHECKPOINT_ERROR_COLUMNS] = {
    {.key = "perspective", .type = CELL_TEXT},
    {.key = "count", .type = CELL_INT},
    {.key = "fingerprint", .type = CELL_TEXT},
    {.key = "sample_error", .type = CELL_TEXT, .content = true, .cut = true}};

void checkpoint_error_cells(const struct checkpoint_error *row,
                            struct cell cells[static CHECKPOINT_ERROR_COLUMNS]) {
    const struct cell made[CHECKPOINT_ERROR_COLUMNS] = {cell_text(row->perspective), cell_int(row->count),
                                                        cell_text(row->fingerprint), cell_text(row->sample)};
    memcpy(cells, made, sizeof made);
}
