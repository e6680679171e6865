/* Runs as commands show them. */
#include "view/run.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"

enum { BAR_WIDTH = 24 };

const char *run_state_name(enum run_state state) {
    static const char *const names[] = {"",          "running",   "consolidating", "nested",
                                        "in repair", "completed", "failed",        "cancelled"};
    return names[state <= RUN_IS_CANCELLED ? state : 0];
}

static const char *part_state_name(enum part_state state) {
    static const char *const names[] = {"", "active", "done", "failed", "cancelled"};
    return names[state <= PART_CANCELLED ? state : 0];
}

bool run_view_ended(const struct run_row *run) {
    return run->state == RUN_IS_COMPLETED || run->state == RUN_IS_FAILED || run->state == RUN_IS_CANCELLED;
}

pawl_status run_view_find(struct store *store, pawl_str word, struct arena *arena, struct run_row *run,
                          int64_t *now_ms, pawl_error *err) {
    struct runs_filter filter = {.limit = 1};
    struct run_list found = {0};
    pawl_status status = PAWL_OK;
    if (str_to_i64(word, 1, INT64_MAX, &filter.id))
        status = store->ops->runs->runs(store, &filter, arena, &found, err);
    if (status == PAWL_OK && found.count == 0) {
        filter.id = 0;
        filter.key = word;
        status = store->ops->runs->runs(store, &filter, arena, &found, err);
    }
    if (status != PAWL_OK)
        return status;
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
    pawl_status status = store->ops->runs->partitions(store, &filter, arena, &found, err);
    if (status != PAWL_OK)
        return status;
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
                              /* One that ended is as far as it got, not at its end. */
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

const struct column run_columns[RUN_COLUMNS] = {
    {.key = "id", .type = CELL_INT},
    {.key = "name", .type = CELL_TEXT, .cut = true},
    {.key = "key", .type = CELL_TEXT, .show = SHOW_WIDE},
    {.key = "state", .type = CELL_TEXT},
    {.key = "paused", .type = CELL_BOOL, .show = SHOW_WIDE},
    {.key = "progress", .type = CELL_TEXT},
    {.key = "permille", .type = CELL_INT, .show = SHOW_JSON},
    {.key = "partitions", .type = CELL_INT, .drop = 3},
    {.key = "remaining", .type = CELL_INT, .show = SHOW_WIDE},
    {.key = "done", .type = CELL_INT, .drop = 2},
    {.key = "failed", .type = CELL_INT},
    {.key = "items", .type = CELL_INT},
    {.key = "total", .type = CELL_INT, .show = SHOW_WIDE},
    {.key = "repeats", .type = CELL_INT, .show = SHOW_WIDE},
    {.key = "pages", .type = CELL_INT, .drop = 6},
    {.key = "skipped", .type = CELL_INT, .show = SHOW_WIDE},
    {.key = "items_per_1000s", .type = CELL_INT, .show = SHOW_WIDE},
    {.key = "eta", .type = CELL_DURATION, .drop = 4},
    {.key = "page_mean", .type = CELL_DURATION, .show = SHOW_WIDE},
    {.key = "page_max", .type = CELL_DURATION, .show = SHOW_WIDE},
    {.key = "slow_pages", .type = CELL_INT, .show = SHOW_WIDE},
    {.key = "started", .type = CELL_TIME, .drop = 5},
    {.key = "updated", .type = CELL_TIME, .show = SHOW_WIDE},
    {.key = "ended", .type = CELL_TIME, .show = SHOW_WIDE},
    {.key = "parent", .type = CELL_INT, .show = SHOW_WIDE},
    {.key = "children_open", .type = CELL_INT, .show = SHOW_WIDE},
    {.key = "page_size", .type = CELL_INT, .show = SHOW_WIDE},
    {.key = "concurrency", .type = CELL_INT, .show = SHOW_WIDE},
    {.key = "rate", .type = CELL_INT, .show = SHOW_WIDE},
    {.key = "rate_per", .type = CELL_DURATION, .show = SHOW_WIDE},
    {.key = "target", .type = CELL_TEXT, .show = SHOW_WIDE},
    {.key = "agent", .type = CELL_TEXT, .show = SHOW_WIDE},
    {.key = "queue", .type = CELL_TEXT, .show = SHOW_WIDE},
    {.key = "round", .type = CELL_INT, .show = SHOW_WIDE},
    {.key = "job", .type = CELL_INT, .show = SHOW_WIDE},
    {.key = "error", .type = CELL_TEXT, .content = true, .cut = true, .drop = 1, .least = ERROR_LEAST},
    {.key = "params", .type = CELL_JSON, .content = true, .show = SHOW_JSON},
};

static struct cell number_or_none(int64_t number, int64_t none) {
    return number == none ? cell_none() : cell_int(number);
}

void run_view_cells(struct arena *arena, const struct run_row *run, const struct run_gauge *gauge,
                    struct cell cells[static RUN_COLUMNS]) {
    char bar[RUN_BAR_BYTES];
    const char *progress = arena_printf(arena, "%s %d.%d %%", run_bar(gauge->permille, 10, bar),
                                        gauge->permille / 10, gauge->permille % 10);
    struct cell made[RUN_COLUMNS] = {
        cell_int(run->id),
        cell_text(run->name),
        cell_text(run->key),
        cell_cstr(run_state_name(run->state)),
        cell_bool(run->paused),
        cell_cstr(progress != NULL ? progress : ""),
        cell_int(gauge->permille),
        cell_int(run->partitions),
        cell_int(run->remaining),
        cell_int(run->done),
        cell_int(run->failed),
        cell_int(run->items),
        number_or_none(run->total, -1),
        cell_int(run->repeats),
        cell_int(run->pages),
        cell_int(run->skipped),
        cell_int(gauge->per_1000s),
        gauge->eta_ms < 0 ? cell_none() : cell_duration(gauge->eta_ms),
        run->pages > 0 ? cell_duration(run->fetch_ms / run->pages) : cell_none(),
        run->pages > 0 ? cell_duration(run->fetch_ms_max) : cell_none(),
        cell_int(run->slow),
        cell_time(run->started_ms),
        cell_time(run->updated_ms),
        cell_time(run->ended_ms),
        number_or_none(run->parent, 0),
        cell_int(run->children_open),
        cell_int(run->page_size),
        number_or_none(run->concurrency, 0),
        number_or_none(run->rate, 0),
        run->rate > 0 ? cell_duration(run->rate_ms) : cell_none(),
        cell_text(run->target),
        cell_text(run->agent),
        cell_text(run->queue),
        cell_int(run->round),
        number_or_none(run->job, 0),
        cell_text(run->error),
        cell_text(run->params),
    };
    for (int i = 0; i < RUN_COLUMNS; i++)
        cells[i] = made[i];
}

const struct column run_partition_columns[PARTITION_COLUMNS] = {
    {.key = "run", .type = CELL_INT},
    {.key = "partition", .type = CELL_TEXT, .cut = true},
    {.key = "state", .type = CELL_TEXT},
    {.key = "paused", .type = CELL_BOOL, .show = SHOW_WIDE},
    {.key = "generation", .type = CELL_INT, .show = SHOW_WIDE},
    {.key = "next_page", .type = CELL_INT, .drop = 3},
    {.key = "next_offset", .type = CELL_INT},
    {.key = "cursor", .type = CELL_JSON, .content = true, .cut = true, .drop = 4},
    {.key = "items", .type = CELL_INT},
    {.key = "total", .type = CELL_INT, .show = SHOW_WIDE},
    {.key = "repeats", .type = CELL_INT, .show = SHOW_WIDE},
    {.key = "pages", .type = CELL_INT, .show = SHOW_WIDE},
    {.key = "skipped", .type = CELL_INT, .show = SHOW_WIDE},
    {.key = "page_last", .type = CELL_DURATION, .drop = 5},
    {.key = "page_mean", .type = CELL_DURATION, .show = SHOW_WIDE},
    {.key = "page_max", .type = CELL_DURATION, .drop = 6},
    {.key = "slow_pages", .type = CELL_INT, .show = SHOW_WIDE},
    {.key = "started", .type = CELL_TIME, .show = SHOW_WIDE},
    {.key = "updated", .type = CELL_TIME, .drop = 2},
    {.key = "ended", .type = CELL_TIME, .show = SHOW_WIDE},
    {.key = "job", .type = CELL_INT, .show = SHOW_WIDE},
    {.key = "error", .type = CELL_TEXT, .content = true, .cut = true, .drop = 1, .least = ERROR_LEAST},
    {.key = "params", .type = CELL_JSON, .content = true, .show = SHOW_JSON},
};

void run_view_partition_cells(const struct partition_row *row, struct cell cells[static PARTITION_COLUMNS]) {
    bool fetched = row->pages > 0;
    struct cell made[PARTITION_COLUMNS] = {
        cell_int(row->run),
        cell_text(row->name),
        cell_cstr(part_state_name(row->state)),
        cell_bool(row->paused),
        cell_int(row->generation),
        cell_int(row->page),
        cell_int(row->offset),
        cell_text(row->cursor),
        cell_int(row->items),
        row->total < 0 ? cell_none() : cell_int(row->total),
        cell_int(row->repeats),
        cell_int(row->pages),
        cell_int(row->skipped),
        fetched ? cell_duration(row->fetch_ms_last) : cell_none(),
        fetched ? cell_duration(row->fetch_ms / row->pages) : cell_none(),
        fetched ? cell_duration(row->fetch_ms_max) : cell_none(),
        cell_int(row->slow),
        cell_time(row->started_ms),
        cell_time(row->updated_ms),
        cell_time(row->ended_ms),
        row->job > 0 ? cell_int(row->job) : cell_none(),
        cell_text(row->error),
        cell_text(row->params),
    };
    for (int i = 0; i < PARTITION_COLUMNS; i++)
        cells[i] = made[i];
}
