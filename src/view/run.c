/* Finding runs by number or key, and their output columns. */
#include "view/run.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "view/output/row.h"

enum { BAR_WIDTH = 24 };

static const char *const run_states[] = {"",       "running",   "consolidating", "nested",
                                         "repair", "completed", "failed",        "cancelled"};
static const char *const part_states[] = {"", "active", "done", "failed", "cancelled"};

const char *run_state_name(enum run_state state) { return run_states[state <= RUN_IS_CANCELLED ? state : 0]; }

bool run_view_ended(const struct run_row *run) {
    return run->state == RUN_IS_COMPLETED || run->state == RUN_IS_FAILED || run->state == RUN_IS_CANCELLED;
}

pawl_status run_view_find(struct store *store, pawl_str word, struct arena *arena, struct run_row *run,
                          int64_t *now_ms, pawl_error *err) {
    struct runs_filter filter = {.limit = 1};
    struct run_list found = {0};
    if (str_to_i64(word, 1, INT64_MAX, &filter.id))
        TRY(store->ops->runs->runs(store, &filter, arena, &found, err));
    if (found.count == 0) {
        filter.id = 0;
        filter.key = word;
        TRY(store->ops->runs->runs(store, &filter, arena, &found, err));
    }
    if (found.count == 0)
        return error_set(err, PAWL_NOT_FOUND, "run", "there is no run %.*s; pawl run list shows them",
                         STR_ARG(word));
    *run = found.runs[0];
    *now_ms = found.now_ms;
    return PAWL_OK;
}

pawl_status run_view_partition(struct store *store, const struct run_row *run, pawl_str name,
                               struct arena *arena, struct partition_row *partition, pawl_error *err) {
    struct partitions_filter filter = {
        .run = run->id, .name = name, .after_run = -1, .after_part = -1, .limit = 1};
    struct partition_list found = {0};
    TRY(store->ops->runs->partitions(store, &filter, arena, &found, err));
    if (found.count == 0)
        return error_set(err, PAWL_NOT_FOUND, "run",
                         "the run %" PRId64 " has no partition %.*s; pawl run partitions shows them", run->id,
                         STR_ARG(name));
    *partition = found.partitions[0];
    return PAWL_OK;
}

struct run_gauge run_view_gauge(const struct run_row *run, int64_t now_ms, const struct run_row *before,
                                int64_t since_ms) {
    struct run_gauge_in in = {.parts = run->partitions,
                              /* An ended run shows how far it got, not 100 %. */
                              .parts_ended = run->done + (run_view_ended(run) ? 0 : run->failed),
                              .items = run->items,
                              .items_total = run->total,
                              .elapsed_ms = (run->ended_ms > 0 ? run->ended_ms : now_ms) - run->started_ms,
                              .ended = run_view_ended(run)};
    if (before != NULL && since_ms > 0 && !in.ended && run->items >= before->items) {
        in.recent_items = run->items - before->items;
        in.recent_ms = since_ms;
    }
    return run_gauge(&in);
}

pawl_status run_view_line(struct arena *arena, const struct run_row *run, const struct run_gauge *gauge,
                          const char **line, pawl_error *err) {
    char bar[RUN_BAR_BYTES], left[CLOCK_DURATION_BYTES] = "?";
    if (gauge->eta_ms >= 0)
        clock_format_duration(gauge->eta_ms / 1000 * 1000, left);
    const char *made = arena_printf(
        arena,
        "%s %d.%d %%  %" PRId64 " items  %" PRId64 ".%" PRId64 "/s  %s left  %d of %d partitions%s  %s%s",
        run_bar(gauge->permille, BAR_WIDTH, bar), gauge->permille / 10, gauge->permille % 10, run->items,
        gauge->per_1000s / 1000, gauge->per_1000s / 100 % 10, left, run->done, run->partitions,
        run->failed > 0 ? arena_printf(arena, ", %d failed", run->failed) : "", run_state_name(run->state),
        run->paused ? ", paused" : "");
    if (made == NULL)
        return error_set(err, PAWL_NO_MEMORY, "run", "out of memory");
    *line = made;
    return PAWL_OK;
}

#define ROW struct run_row
const struct column run_columns[RUN_COLUMNS] = {
    {.key = "id", INT_OF(id)},
    {.key = "name", TEXT_OF(name), .cut = true},
    {.key = "key", TEXT_OF(key), .show = SHOW_WIDE},
    {.key = "state", WORD_OF(state, run_states)},
    {.key = "paused", BOOL_OF(paused), .show = SHOW_WIDE},
    {COLUMN(TEXT, "progress")},
    {COLUMN(INT, "permille"), .show = SHOW_JSON},
    {.key = "partitions", INT_OF(partitions), .drop = 3},
    {.key = "remaining", INT_OF(remaining), .show = SHOW_WIDE},
    {.key = "done", INT_OF(done), .drop = 2},
    {.key = "failed", INT_OF(failed)},
    {.key = "items", INT_OF(items)},
    {.key = "total", INT_OF(total), .absent = ABSENT_BELOW_ZERO, .show = SHOW_WIDE},
    {.key = "repeats", INT_OF(repeats), .show = SHOW_WIDE},
    {.key = "pages", INT_OF(pages), .drop = 6},
    {.key = "skipped", INT_OF(skipped), .show = SHOW_WIDE},
    {.key = "items_per_1000s", .type = CELL_INT, .show = SHOW_WIDE},
    {COLUMN(DURATION, "eta"), .drop = 4},
    {COLUMN(DURATION, "page_mean"), .show = SHOW_WIDE},
    {COLUMN(DURATION, "page_max"), .show = SHOW_WIDE},
    {.key = "slow_pages", INT_OF(slow), .show = SHOW_WIDE},
    {.key = "started", TIME_OF(started_ms), .drop = 5},
    {.key = "updated", TIME_OF(updated_ms), .show = SHOW_WIDE},
    {.key = "ended", TIME_OF(ended_ms), .show = SHOW_WIDE},
    {.key = "parent", INT_OF(parent), .absent = ABSENT_ZERO, .show = SHOW_WIDE},
    {.key = "children_open", INT_OF(children_open), .show = SHOW_WIDE},
    {.key = "page_size", INT_OF(page_size), .show = SHOW_WIDE},
    {.key = "concurrency", INT_OF(concurrency), .absent = ABSENT_ZERO, .show = SHOW_WIDE},
    {.key = "rate", INT_OF(rate), .absent = ABSENT_ZERO, .show = SHOW_WIDE},
    {COLUMN(DURATION, "rate_per"), .show = SHOW_WIDE},
    {.key = "target", TEXT_OF(target), .show = SHOW_WIDE},
    {.key = "agent", TEXT_OF(agent), .show = SHOW_WIDE},
    {.key = "queue", TEXT_OF(queue), .show = SHOW_WIDE},
    {.key = "round", INT_OF(round), .show = SHOW_WIDE},
    {.key = "job", INT_OF(job), .absent = ABSENT_ZERO, .show = SHOW_WIDE},
    {.key = "error", TEXT_OF(error), .content = true, .cut = true, .drop = 1, .least = ERROR_LEAST},
    {.key = "params", JSON_OF(params), .content = true, .show = SHOW_JSON},
};
#undef ROW

void run_view_cells(struct arena *arena, const struct run_row *run, const struct run_gauge *gauge,
                    struct cell cells[static RUN_COLUMNS]) {
    char bar[RUN_BAR_BYTES];
    const char *progress = arena_printf(arena, "%s %d.%d %%", run_bar(gauge->permille, 10, bar),
                                        gauge->permille / 10, gauge->permille % 10);
    const struct cell made[] = {
        cell_cstr(progress != NULL ? progress : ""),
        cell_int(gauge->permille),
        cell_int(gauge->per_1000s),
        gauge->eta_ms < 0 ? cell_none() : cell_duration(gauge->eta_ms),
        run->pages > 0 ? cell_duration(run->fetch_ms / run->pages) : cell_none(),
        run->pages > 0 ? cell_duration(run->fetch_ms_max) : cell_none(),
        run->rate > 0 ? cell_duration(run->rate_ms) : cell_none(),
    };
    row_cells(run_columns, RUN_COLUMNS, run, made, cells);
}

#define ROW struct partition_row
const struct column run_partition_columns[PARTITION_COLUMNS] = {
    {.key = "run", INT_OF(run)},
    {.key = "partition", TEXT_OF(name), .cut = true},
    {.key = "state", WORD_OF(state, part_states)},
    {.key = "paused", BOOL_OF(paused), .show = SHOW_WIDE},
    {.key = "generation", INT_OF(generation), .show = SHOW_WIDE},
    {.key = "next_page", INT_OF(page), .drop = 3},
    {.key = "next_offset", INT_OF(offset)},
    {.key = "cursor", JSON_OF(cursor), .content = true, .cut = true, .drop = 4},
    {.key = "items", INT_OF(items)},
    {.key = "total", INT_OF(total), .absent = ABSENT_BELOW_ZERO, .show = SHOW_WIDE},
    {.key = "repeats", INT_OF(repeats), .show = SHOW_WIDE},
    {.key = "pages", INT_OF(pages), .show = SHOW_WIDE},
    {.key = "skipped", INT_OF(skipped), .show = SHOW_WIDE},
    {COLUMN(DURATION, "page_last"), .drop = 5},
    {COLUMN(DURATION, "page_mean"), .show = SHOW_WIDE},
    {COLUMN(DURATION, "page_max"), .drop = 6},
    {.key = "slow_pages", INT_OF(slow), .show = SHOW_WIDE},
    {.key = "started", TIME_OF(started_ms), .show = SHOW_WIDE},
    {.key = "updated", TIME_OF(updated_ms), .drop = 2},
    {.key = "ended", TIME_OF(ended_ms), .show = SHOW_WIDE},
    {.key = "job", INT_OF(job), .absent = ABSENT_ZERO, .show = SHOW_WIDE},
    {.key = "error", TEXT_OF(error), .content = true, .cut = true, .drop = 1, .least = ERROR_LEAST},
    {.key = "params", JSON_OF(params), .content = true, .show = SHOW_JSON},
};
#undef ROW

void run_partition_cells(const struct partition_row *row, struct cell cells[static PARTITION_COLUMNS]) {
    bool fetched = row->pages > 0;
    const struct cell made[] = {fetched ? cell_duration(row->fetch_ms_last) : cell_none(),
                                fetched ? cell_duration(row->fetch_ms / row->pages) : cell_none(),
                                fetched ? cell_duration(row->fetch_ms_max) : cell_none()};
    row_cells(run_partition_columns, PARTITION_COLUMNS, row, made, cells);
}

#define ROW struct stored_item
const struct column run_item_columns[RUN_ITEM_COLUMNS] = {
    {.key = "key", TEXT_OF(key)},
    {.key = "part", INT_OF(part)},
    {.key = "payload", JSON_OF(payload), .content = true, .cut = true},
};
#undef ROW

#define ROW struct run_target
const struct column statement_columns[STATEMENT_COLUMNS] = {
    {.key = "name", TEXT_OF(name)},
    {.key = "updated", TIME_OF(updated_ms)},
    {.key = "sql", TEXT_OF(sql), .cut = true},
};
#undef ROW
