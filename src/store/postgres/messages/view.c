/* Counts, instances, lanes, receptors and checkpoints as the views show them. */
#include "base/error.h"
#include "base/str.h"
#include "store/check/place.h"
#include "store/postgres/row.h"

pawl_status postgres_counts(struct store *store, struct counts *out, pawl_error *err) {
    struct statement statement = pg_statement_new(POSTGRES_Q_VIEW_COUNTS, NULL);
    pawl_status status = pg_statement_run(postgres_of(store), "counts", &statement, EFFECT_READ, err);
    if (status == PAWL_OK && PQntuples(statement.result) != KIND_COUNT)
        status = pg_answer_malformed("counts", err);
    if (status == PAWL_OK) {
        struct counts counts = {.now_ms = pg_rows_now(&statement, &kind_counts_shape)};
        for (int row = 0; row < KIND_COUNT; row++) {
            struct kind_counts *kind = &counts.kind[row + 1];
            bool failed = false; /* numbers need no memory */
            pg_row_take((struct cell){statement.result, row, 0}, &kind_counts_shape, NULL, kind, &failed);
            kind->ready = pg_cell_int((struct cell){statement.result, row, (int)kind_counts_shape.count + 1});
        }
        *out = counts;
    }
    pg_statement_clear(&statement);
    return status;
}

pawl_status postgres_instances(struct store *store, struct arena *arena, struct instance_rows *out,
                               pawl_error *err) {
    struct row_list list;
    struct statement statement = pg_statement_new(POSTGRES_Q_VIEW_INSTANCES, arena);
    pawl_status status = pg_rows_run(store, &statement, "instances", &instance_shape, &list, err);
    if (status == PAWL_OK)
        *out = (struct instance_rows){list.rows, list.count};
    for (size_t i = 0; status == PAWL_OK && i < list.count; i++)
        out->rows[i].beat_age_ms =
            pg_cell_int((struct cell){statement.result, (int)i, (int)instance_shape.count});
    pg_statement_clear(&statement);
    return status;
}

pawl_status postgres_lanes(struct store *store, enum store_kind kind, struct arena *arena,
                           struct lane_rows *out, pawl_error *err) {
    struct place at = {.op = "lanes", .err = err};
    struct row_list list;
    pawl_status status = place_kind(&at, kind);
    if (status != PAWL_OK)
        return status;
    struct statement statement = pg_statement_new(POSTGRES_Q_VIEW_LANES, arena);
    pg_params_small(&statement.params, (int)kind);
    status = pg_rows_run(store, &statement, "lanes", &lane_shape, &list, err);
    pg_statement_clear(&statement);
    if (status == PAWL_OK)
        *out = (struct lane_rows){list.rows, list.count};
    for (size_t i = 0; status == PAWL_OK && i < list.count; i++)
        out->rows[i].kind = kind;
    return status;
}

pawl_status postgres_checkpoint_get(struct store *store, pawl_str stream, pawl_str perspective,
                                    struct arena *arena, struct checkpoint_row *out, pawl_error *err) {
    struct statement statement = pg_statement_new(POSTGRES_Q_VIEW_CHECKPOINT, arena);
    pg_params_text(&statement.params, stream);
    pg_params_text(&statement.params, perspective);
    pawl_status status = pg_statement_run(postgres_of(store), "checkpoint_get", &statement, EFFECT_READ, err);
    if (status == PAWL_OK && PQntuples(statement.result) == 0)
        status = error_set(err, PAWL_NOT_FOUND, "checkpoint_get",
                           "perspective '%.*s' has no checkpoint for stream '%.*s'", STR_ARG(perspective),
                           STR_ARG(stream));
    if (status == PAWL_OK) {
        const PGresult *r = statement.result;
        bool failed = false;
        struct checkpoint_row row = {
            .stream = pg_cell_text((struct cell){r, 0, 0}, arena, &failed),
            .perspective = pg_cell_text((struct cell){r, 0, 1}, arena, &failed),
            .error = pg_cell_text((struct cell){r, 0, 2}, arena, &failed),
            .version = pg_cell_int((struct cell){r, 0, 3}),
            .token = pg_cell_int((struct cell){r, 0, 4}),
            .updated_ms = pg_cell_int((struct cell){r, 0, 5}),
            .status = (enum checkpoint_status)pg_cell_int((struct cell){r, 0, 6}),
            .attempts = (int)pg_cell_int((struct cell){r, 0, 7}),
        };
        if (failed)
            status = pg_answer_no_memory("checkpoint_get", err);
        else
            *out = row;
    }
    pg_statement_clear(&statement);
    return status;
}

pawl_status postgres_receptors(struct store *store, pawl_uuid event_id, struct arena *arena,
                               struct receptor_row **rows, size_t *count, pawl_error *err) {
    struct row_list list;
    struct statement statement = pg_statement_new(POSTGRES_Q_VIEW_RECEPTORS, arena);
    pg_params_uuid(&statement.params, event_id);
    pawl_status status = pg_rows_run(store, &statement, "receptors", &receptor_shape, &list, err);
    pg_statement_clear(&statement);
    if (status != PAWL_OK)
        return status;
    *rows = list.rows;
    *count = list.count;
    for (size_t i = 0; i < list.count; i++)
        (*rows)[i].event_id = event_id;
    return PAWL_OK;
}

pawl_status postgres_message_ids(struct store *store, pawl_uuid low, pawl_uuid high, int limit,
                                 struct arena *arena, struct uuid_list *out, pawl_error *err) {
    pawl_status status = check_limit("message_ids", limit, err);
    if (status != PAWL_OK)
        return status;
    struct statement statement = pg_statement_new(POSTGRES_Q_VIEW_IDS, arena);
    pg_params_uuid(&statement.params, low);
    pg_params_uuid(&statement.params, high);
    pg_params_int(&statement.params, limit);
    status = pg_statement_run(postgres_of(store), "message_ids", &statement, EFFECT_READ, err);
    int count = status == PAWL_OK ? PQntuples(statement.result) : 0;
    pawl_uuid *ids = arena_array(arena, (size_t)count, sizeof(*ids));
    if (status == PAWL_OK && ids == NULL)
        status = pg_answer_no_memory("message_ids", err);
    for (int i = 0; status == PAWL_OK && i < count; i++)
        ids[i] = pg_cell_uuid((struct cell){statement.result, i, 0});
    if (status == PAWL_OK)
        *out = (struct uuid_list){ids, (size_t)count};
    pg_statement_clear(&statement);
    return status;
}
