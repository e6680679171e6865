/* Checking rollups and series before they are added or asked for. */
#include "base/limits.h"
#include "store/check/place.h"
#include "store/store.h"

/* The index of a cell among all possible ones. */
static size_t place_of(const struct rollup_cell *cell) {
    return (size_t)((cell->measure * ROLLUP_KINDS + cell->kind) * ROLLUP_RESULTS + cell->result) *
               ROLLUP_BUCKETS +
           (size_t)cell->bucket;
}

static pawl_status check_cells(const struct rollup_cell *cells, size_t count, pawl_error *err) {
    struct place at = {.op = "rollups_add", .noun = "cell", .count = count, .err = err};
    bool seen[ROLLUP_CELLS_MAX] = {false};
    if (count > ROLLUP_CELLS_MAX)
        return place_wrong(&(struct place){.op = "rollups_add", .err = err}, "%zu cells; there are only %d",
                           count, ROLLUP_CELLS_MAX);
    for (size_t i = 0; i < count; i++) {
        const struct rollup_cell *cell = &cells[i];
        at.index = i;
        place_range(&at, "measure", cell->measure, 1, ROLLUP_MEASURES - 1);
        place_range(&at, "kind", cell->kind, 0, ROLLUP_KINDS - 1);
        place_range(&at, "result", cell->result, 0, ROLLUP_RESULTS - 1);
        place_range(&at, "bucket", cell->bucket, 0, ROLLUP_BUCKETS - 1);
        place_range(&at, "count", cell->count, 0, INT64_MAX / 2);
        place_range(&at, "sum", cell->sum, 0, INT64_MAX / 2);
        if (at.status != PAWL_OK)
            return at.status;
        if (seen[place_of(cell)])
            return place_wrong(&at, "it comes twice");
        seen[place_of(cell)] = true;
    }
    return at.status;
}

static pawl_status check_points(const struct series_point *points, size_t count, pawl_error *err) {
    struct place at = {.op = "rollups_add", .noun = "point", .count = count, .err = err};
    for (size_t i = 0; i < count && at.status == PAWL_OK; i++) {
        const struct series_point *point = &points[i];
        at.index = i;
        place_range(&at, "scope", point->scope, SERIES_KIND, SERIES_HANDLER);
        place_range(&at, "kind", point->kind, 0, ROLLUP_KINDS - 1);
        place_range(&at, "name", (int64_t)point->name.len, 0, PAWL_NAME_BYTES_MAX);
        place_range(&at, "done", point->done, 0, INT64_MAX / 2);
        place_range(&at, "failed", point->failed, 0, INT64_MAX / 2);
        for (int bucket = 0; bucket < ROLLUP_BUCKETS; bucket++) {
            place_range(&at, "count", point->handle[bucket], 0, INT64_MAX / 2);
            place_range(&at, "count", point->wait[bucket], 0, INT64_MAX / 2);
        }
    }
    return at.status;
}

pawl_status check_rollups(const struct rollups_new *in, pawl_error *err) {
    pawl_status status = check_cells(in->cells, in->count, err);
    return status == PAWL_OK ? check_points(in->points, in->point_count, err) : status;
}

pawl_status check_series_ask(const struct series_ask *ask, pawl_error *err) {
    struct place at = {.op = "series", .err = err};
    place_range(&at, "scope", ask->scope, 0, SERIES_HANDLER);
    place_range(&at, "kind", ask->kind, 0, ROLLUP_KINDS - 1);
    place_range(&at, "step_ms", ask->step_ms, SERIES_STEP_MS, SERIES_KEPT_MS);
    if (at.status == PAWL_OK && (ask->to_ms - ask->from_ms) / ask->step_ms > PAWL_SERIES_POINTS_MAX)
        place_wrong(&at, "more than %d steps", PAWL_SERIES_POINTS_MAX);
    return at.status;
}
