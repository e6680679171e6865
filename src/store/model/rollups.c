/* What workers count of their work, in memory. */
#include "base/error.h"
#include "store/model/state.h"

pawl_status model_rollups_add(struct store *store, const struct rollup_cell *cells, size_t count,
                              pawl_error *err) {
    pawl_status status = check_rollups(cells, count, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    rollups_put_back(&model->rollups, cells, count);
    return model_leave(model, PAWL_OK);
}

/* Reading is taking and putting back: nobody comes between. */
pawl_status model_rollups(struct store *store, struct arena *arena, struct rollup_cells *out,
                          pawl_error *err) {
    struct rollup_cell *cells = arena_array(arena, ROLLUP_CELLS_MAX, sizeof(*cells));
    if (cells == NULL)
        return error_set(err, PAWL_NO_MEMORY, "rollups", "out of memory");
    struct model *model = model_enter(store);
    size_t count = rollups_take(&model->rollups, cells);
    rollups_put_back(&model->rollups, cells, count);
    *out = (struct rollup_cells){cells, count};
    return model_leave(model, PAWL_OK);
}
