/* Checking rollups before they are added. */
#include "store/check/place.h"
#include "store/store.h"

/* The index of a cell among all possible ones. */
static size_t place_of(const struct rollup_cell *cell) {
    return (size_t)((cell->measure * ROLLUP_KINDS + cell->kind) * ROLLUP_RESULTS + cell->result) *
               ROLLUP_BUCKETS +
           (size_t)cell->bucket;
}

pawl_status check_rollups(const struct rollup_cell *cells, size_t count, pawl_error *err) {
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
