/* Queries about runs, partitions, items and targets on PostgreSQL. */
#include "base/str.h"
#include "store/check/runs.h"
#include "store/postgres/query.h"
#include "store/run_words.h"

/* After the members of the shape: the store's time, the sums of a run, and when it was updated. */
pawl_status postgres_runs_runs(struct store *store, const struct runs_filter *filter, struct arena *arena,
                               struct run_list *out, pawl_error *err) {
    struct row_list list = {NULL, 0};
    const int now = (int)run_shape.count, updated = now + 1 + (int)run_sums_shape.count;
    struct query q = pg_read(store, POSTGRES_Q_VIEW_RUNS, "runs", arena, check_runs_filter(filter, err));
    SEND(&q, ROW_OF(runs_filter_shape, filter));
    pawl_status status = pg_ask(&q, err);
    if (status == PAWL_OK)
        status = pg_rows_take(pg_cell(&q, 0, 0), q.op, &run_shape, arena, &list, err);
    int64_t now_ms = list.count > 0 ? pg_cell_int(pg_cell(&q, 0, now)) : 0;
    for (size_t i = 0; status == PAWL_OK && i < list.count; i++) {
        struct run_row *run = (struct run_row *)list.rows + i;
        bool failed = false; /* sums are numbers: they need no memory */
        pg_row_take(pg_cell(&q, (int)i, now + 1), &run_sums_shape, arena, run, &failed);
        run->updated_ms = pg_cell_int(pg_cell(&q, (int)i, updated));
    }
    pg_statement_clear(&q.statement);
    if (status == PAWL_OK && list.count == 0)
        status = postgres_clock_read(store, &now_ms, err);
    if (status == PAWL_OK)
        *out = (struct run_list){list.rows, list.count, now_ms};
    return status;
}

pawl_status postgres_runs_partitions(struct store *store, const struct partitions_filter *filter,
                                     struct arena *arena, struct partition_list *out, pawl_error *err) {
    struct query q =
        pg_read(store, POSTGRES_Q_VIEW_PARTITIONS, "partitions", arena, check_partitions_filter(filter, err));
    SEND(&q, ROW_OF(partitions_filter_shape, filter));
    return pg_list(&q, &partition_shape, ROWS_OUT_NOW(out, partitions), err);
}

static pawl_status has_target(struct store *store, pawl_str name, struct arena *arena, pawl_error *err) {
    struct run_targets targets = {0};
    TRY(postgres_runs_targets(store, arena, &targets, err));
    for (size_t i = 0; i < targets.count; i++) {
        if (str_equal(targets.targets[i].name, name))
            return PAWL_OK;
    }
    return run_target_missing(name, err);
}

pawl_status postgres_runs_page_select(struct store *store, pawl_str name, pawl_str json, struct arena *arena,
                                      struct stored_items *out, pawl_error *err) {
    struct stored_items list = {0};
    struct query q = pg_read(store, POSTGRES_Q_PAGE_SELECT, "page_select", arena, PAWL_OK);
    SEND(&q, name, json);
    pawl_status status = pg_list(&q, &selected_item_shape, ROWS_OUT(&list, items), err);
    if (status == PAWL_OK && list.count == 0) /* nothing there, or no such statement */
        status = has_target(store, name, arena, err);
    if (status == PAWL_OK)
        *out = list;
    return status;
}
