/* Runs, partitions, items and targets as the views show them. */
#include "base/str.h"
#include "store/check/runs.h"
#include "store/postgres/jobs/jobs.h"
#include "store/run_words.h"

#define CELL(column) ((struct cell){r, row, (column)})
#define TEXT(column) pg_cell_text(CELL(column), arena, &failed)

pawl_status postgres_runs_runs(struct store *store, const struct runs_filter *filter, struct arena *arena,
                               struct run_list *out, pawl_error *err) {
    struct row_list list;
    pawl_status status = check_runs_filter(filter, err);
    if (status != PAWL_OK)
        return status;
    struct statement statement = pg_statement_new(POSTGRES_Q_VIEW_RUNS, arena);
    struct params *p = &statement.params;
    pg_params_big(p, filter->id);
    pg_params_text(p, filter->key);
    pg_params_text(p, filter->name);
    pg_params_int(p, filter->state);
    pg_params_bool(p, filter->open);
    pg_params_big(p, filter->parent);
    pg_params_big(p, filter->before_id);
    pg_params_int(p, filter->limit);
    status = pg_rows_run(store, &statement, "runs", &run_shape, &list, err);
    const PGresult *r = statement.result;
    for (int row = 0; status == PAWL_OK && row < (int)list.count; row++) {
        struct run_row *run = (struct run_row *)list.rows + row;
        bool failed = false; /* sums are numbers: they need no memory */
        pg_row_take((struct cell){r, row, (int)run_shape.count + 1}, &run_sums_shape, arena, run, &failed);
        run->updated_ms =
            pg_cell_int((struct cell){r, row, (int)(run_shape.count + 1 + run_sums_shape.count)});
    }
    if (status == PAWL_OK)
        *out = (struct run_list){list.rows, list.count, pg_rows_now(&statement, &run_shape)};
    pg_statement_clear(&statement);
    return status == PAWL_OK && list.count == 0 ? postgres_clock_read(store, &out->now_ms, err) : status;
}

pawl_status postgres_runs_partitions(struct store *store, const struct partitions_filter *filter,
                                     struct arena *arena, struct partition_list *out, pawl_error *err) {
    struct row_list list;
    pawl_status status = check_partitions_filter(filter, err);
    if (status != PAWL_OK)
        return status;
    struct statement statement = pg_statement_new(POSTGRES_Q_VIEW_PARTITIONS, arena);
    struct params *p = &statement.params;
    pg_params_big(p, filter->run);
    pg_params_text(p, filter->name);
    pg_params_int(p, filter->state);
    pg_params_big(p, filter->quiet_ms);
    pg_params_big(p, filter->after_run);
    pg_params_int(p, filter->after_part);
    pg_params_int(p, filter->limit);
    status = pg_rows_run(store, &statement, "partitions", &partition_shape, &list, err);
    if (status == PAWL_OK)
        *out = (struct partition_list){list.rows, list.count, pg_rows_now(&statement, &partition_shape)};
    pg_statement_clear(&statement);
    return status == PAWL_OK && list.count == 0 ? postgres_clock_read(store, &out->now_ms, err) : status;
}

pawl_status postgres_runs_items(struct store *store, const struct items_filter *filter, struct arena *arena,
                                struct stored_items *out, pawl_error *err) {
    struct row_list list;
    pawl_status status = check_items_filter(filter, err);
    if (status != PAWL_OK)
        return status;
    struct statement statement = pg_statement_new(POSTGRES_Q_VIEW_ITEMS, arena);
    pg_params_big(&statement.params, filter->run);
    pg_params_int(&statement.params, filter->part);
    pg_params_text(&statement.params, filter->after_key);
    pg_params_int(&statement.params, filter->limit);
    status = pg_rows_run(store, &statement, "items", &stored_item_shape, &list, err);
    if (status == PAWL_OK)
        *out = (struct stored_items){list.rows, list.count};
    pg_statement_clear(&statement);
    return status;
}

pawl_status postgres_runs_targets(struct store *store, struct arena *arena, struct run_targets *out,
                                  pawl_error *err) {
    struct row_list list;
    struct statement statement = pg_statement_new(POSTGRES_Q_RUN_TARGETS, arena);
    pawl_status status = pg_rows_run(store, &statement, "targets", &run_target_shape, &list, err);
    if (status == PAWL_OK)
        *out = (struct run_targets){list.rows, list.count};
    pg_statement_clear(&statement);
    return status;
}

static pawl_status has_target(struct store *store, pawl_str name, struct arena *arena, pawl_error *err) {
    struct run_targets targets = {0};
    pawl_status status = postgres_runs_targets(store, arena, &targets, err);
    for (size_t i = 0; status == PAWL_OK && i < targets.count; i++) {
        if (str_equal(targets.targets[i].name, name))
            return PAWL_OK;
    }
    return status == PAWL_OK ? run_target_missing(name, err) : status;
}

pawl_status postgres_runs_page_select(struct store *store, pawl_str name, pawl_str json, struct arena *arena,
                                      struct stored_items *out, pawl_error *err) {
    struct statement statement = pg_statement_new(POSTGRES_Q_PAGE_SELECT, arena);
    struct stored_item *rows = NULL;
    pg_params_text(&statement.params, name);
    pg_params_text(&statement.params, json);
    pawl_status status =
        pg_list_run(store, &statement, "page_select", arena, sizeof *rows, (void **)&rows, err);
    const PGresult *r = statement.result;
    bool failed = false;
    for (int row = 0; status == PAWL_OK && row < PQntuples(r); row++)
        rows[row] = (struct stored_item){.key = TEXT(0), .payload = TEXT(1)};
    if (status == PAWL_OK && failed)
        status = pg_answer_no_memory("page_select", err);
    size_t count = status == PAWL_OK ? (size_t)PQntuples(r) : 0;
    pg_statement_clear(&statement);
    if (status == PAWL_OK && count == 0) /* nothing there, or no such statement */
        status = has_target(store, name, arena, err);
    if (status == PAWL_OK)
        *out = (struct stored_items){rows, count};
    return status;
}
