/* Runs, partitions, items and targets as the views show them. */
#include "base/str.h"
#include "store/postgres/runs/runs.h"
#include "store/run_words.h"

#define CELL(column) ((struct cell){r, row, (column)})
#define TEXT(column) pg_cell_text(CELL(column), arena, &failed)
#define NUMBER(column) pg_cell_int(CELL(column))

static struct run_row run_take(const PGresult *r, int row, struct arena *arena, bool *out_failed) {
    bool failed = false;
    struct run_row run = {.id = NUMBER(0),
                          .key = TEXT(1),
                          .name = TEXT(2),
                          .type = TEXT(3),
                          .consolidate = TEXT(4),
                          .announce = TEXT(5),
                          .params = TEXT(6),
                          .spec = TEXT(7),
                          .target = TEXT(8),
                          .queue = TEXT(9),
                          .traceparent = TEXT(10),
                          .wait_key = TEXT(11),
                          .error = TEXT(12),
                          .state = (enum run_state)NUMBER(13),
                          .paused = pg_cell_bool(CELL(14)),
                          .paced = pg_cell_bool(CELL(15)),
                          .consolidated = pg_cell_bool(CELL(16)),
                          .parent = NUMBER(17),
                          .children_open = (int)NUMBER(18),
                          .children_failed = (int)NUMBER(19),
                          .page_size = (int)NUMBER(20),
                          .concurrency = (int)NUMBER(21),
                          .rate = (int)NUMBER(22),
                          .max_attempts = (int)NUMBER(23),
                          .priority = (int)NUMBER(24),
                          .flags = (int)NUMBER(25),
                          .round = (int)NUMBER(26),
                          .rate_ms = NUMBER(27),
                          .deadline_ms = NUMBER(28),
                          .end = (enum end_rule)NUMBER(29),
                          .policy = (enum failed_policy)NUMBER(30),
                          .partitions = (int)NUMBER(31),
                          .remaining = (int)NUMBER(32),
                          .done = (int)NUMBER(33),
                          .failed = (int)NUMBER(34),
                          .started_ms = NUMBER(35),
                          .updated_ms = NUMBER(36),
                          .ended_ms = NUMBER(37),
                          .job = NUMBER(38),
                          .total = NUMBER(39),
                          .items = NUMBER(40),
                          .repeats = NUMBER(41),
                          .pages = NUMBER(42),
                          .skipped = NUMBER(43),
                          .fetch_ms = NUMBER(44),
                          .fetch_ms_max = NUMBER(45),
                          .slow = NUMBER(46),
                          .agent = TEXT(48)};
    *out_failed = *out_failed || failed;
    return run;
}

pawl_status postgres_run_rows(struct store *store, const struct runs_filter *filter, struct arena *arena,
                              struct run_list *out, pawl_error *err) {
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
    struct run_row *rows = NULL;
    status = pg_list_run(store, &statement, "runs", arena, sizeof *rows, (void **)&rows, err);
    const PGresult *r = statement.result;
    bool failed = false;
    int64_t now_ms = 0;
    for (int row = 0; status == PAWL_OK && row < PQntuples(r); row++) {
        rows[row] = run_take(r, row, arena, &failed);
        now_ms = NUMBER(47);
    }
    if (status == PAWL_OK && failed)
        status = pg_answer_no_memory("runs", err);
    if (status == PAWL_OK)
        *out = (struct run_list){rows, (size_t)PQntuples(r), now_ms};
    pg_statement_clear(&statement);
    if (status == PAWL_OK && out->count == 0)
        status = postgres_clock_read(store, &out->now_ms, err);
    return status;
}

static struct partition_row partition_take(const PGresult *r, int row, struct arena *arena,
                                           bool *out_failed) {
    bool failed = false;
    struct partition_row part = {.run = NUMBER(0),
                                 .part = (int)NUMBER(1),
                                 .name = TEXT(2),
                                 .params = TEXT(3),
                                 .cursor = TEXT(4),
                                 .error = TEXT(5),
                                 .state = (enum part_state)NUMBER(6),
                                 .paused = pg_cell_bool(CELL(7)),
                                 .bounded = pg_cell_bool(CELL(8)),
                                 .low = NUMBER(9),
                                 .high = NUMBER(10),
                                 .total = NUMBER(11),
                                 .offset = NUMBER(12),
                                 .generation = (int)NUMBER(13),
                                 .page = NUMBER(14),
                                 .job = NUMBER(15),
                                 .items = NUMBER(16),
                                 .repeats = NUMBER(17),
                                 .pages = NUMBER(18),
                                 .skipped = NUMBER(19),
                                 .fetch_ms = NUMBER(20),
                                 .fetch_ms_max = NUMBER(21),
                                 .fetch_ms_last = NUMBER(22),
                                 .slow = NUMBER(23),
                                 .started_ms = NUMBER(24),
                                 .updated_ms = NUMBER(25),
                                 .ended_ms = NUMBER(26)};
    *out_failed = *out_failed || failed;
    return part;
}

pawl_status postgres_partition_rows(struct store *store, const struct partitions_filter *filter,
                                    struct arena *arena, struct partition_list *out, pawl_error *err) {
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
    struct partition_row *rows = NULL;
    status = pg_list_run(store, &statement, "partitions", arena, sizeof *rows, (void **)&rows, err);
    const PGresult *r = statement.result;
    bool failed = false;
    int64_t now_ms = 0;
    for (int row = 0; status == PAWL_OK && row < PQntuples(r); row++) {
        rows[row] = partition_take(r, row, arena, &failed);
        now_ms = NUMBER(27);
    }
    if (status == PAWL_OK && failed)
        status = pg_answer_no_memory("partitions", err);
    if (status == PAWL_OK)
        *out = (struct partition_list){rows, (size_t)PQntuples(r), now_ms};
    pg_statement_clear(&statement);
    if (status == PAWL_OK && out->count == 0)
        status = postgres_clock_read(store, &out->now_ms, err);
    return status;
}

pawl_status postgres_item_rows(struct store *store, const struct items_filter *filter, struct arena *arena,
                               struct stored_items *out, pawl_error *err) {
    pawl_status status = check_items_filter(filter, err);
    if (status != PAWL_OK)
        return status;
    struct statement statement = pg_statement_new(POSTGRES_Q_VIEW_ITEMS, arena);
    pg_params_big(&statement.params, filter->run);
    pg_params_int(&statement.params, filter->part);
    pg_params_text(&statement.params, filter->after_key);
    pg_params_int(&statement.params, filter->limit);
    struct stored_item *rows = NULL;
    status = pg_list_run(store, &statement, "items", arena, sizeof *rows, (void **)&rows, err);
    const PGresult *r = statement.result;
    bool failed = false;
    for (int row = 0; status == PAWL_OK && row < PQntuples(r); row++)
        rows[row] = (struct stored_item){.part = (int)NUMBER(0), .key = TEXT(1), .payload = TEXT(2)};
    if (status == PAWL_OK && failed)
        status = pg_answer_no_memory("items", err);
    if (status == PAWL_OK)
        *out = (struct stored_items){rows, (size_t)PQntuples(r)};
    pg_statement_clear(&statement);
    return status;
}

pawl_status postgres_run_targets(struct store *store, struct arena *arena, struct run_targets *out,
                                 pawl_error *err) {
    struct statement statement = pg_statement_new(POSTGRES_Q_RUN_TARGETS, arena);
    struct run_target *rows = NULL;
    pawl_status status = pg_list_run(store, &statement, "targets", arena, sizeof *rows, (void **)&rows, err);
    const PGresult *r = statement.result;
    bool failed = false;
    for (int row = 0; status == PAWL_OK && row < PQntuples(r); row++)
        rows[row] = (struct run_target){.name = TEXT(0), .sql = TEXT(1), .updated_ms = NUMBER(2)};
    if (status == PAWL_OK && failed)
        status = pg_answer_no_memory("targets", err);
    if (status == PAWL_OK)
        *out = (struct run_targets){rows, (size_t)PQntuples(r)};
    pg_statement_clear(&statement);
    return status;
}

static pawl_status has_target(struct store *store, pawl_str name, struct arena *arena, pawl_error *err) {
    struct run_targets targets = {0};
    pawl_status status = postgres_run_targets(store, arena, &targets, err);
    for (size_t i = 0; status == PAWL_OK && i < targets.count; i++) {
        if (str_equal(targets.targets[i].name, name))
            return PAWL_OK;
    }
    return status == PAWL_OK ? run_target_missing(name, err) : status;
}

pawl_status postgres_page_select(struct store *store, pawl_str name, pawl_str json, struct arena *arena,
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
