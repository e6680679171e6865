/* Counts, instances, lanes, receptors and checkpoints as the views show them. */
#include "base/error.h"
#include "base/str.h"
#include "store/check/place.h"
#include "store/postgres/calls.h"

pawl_status postgres_counts(struct store *store, struct counts *out, pawl_error *err) {
    struct statement statement = pg_statement_new(POSTGRES_Q_VIEW_COUNTS, NULL);
    pawl_status status = pg_statement_run(postgres_of(store), "counts", &statement, EFFECT_READ, err);
    if (status == PAWL_OK && PQntuples(statement.result) != KIND_COUNT)
        status = pg_answer_malformed("counts", err);
    if (status == PAWL_OK) {
        struct counts counts = {.now_ms = pg_cell_int((struct cell){statement.result, 0, 0})};
        for (int row = 0; row < KIND_COUNT; row++) {
            int64_t n[18];
            for (int i = 0; i < 18; i++)
                n[i] = pg_cell_int((struct cell){statement.result, row, i});
            counts.kind[row + 1] = (struct kind_counts){
                .ready = n[2],
                .leased = n[3],
                .aside = n[4],
                .dead = n[5],
                .put = n[6],
                .done = n[7],
                .failed = n[8],
                .stale = n[9],
                .duplicate = n[10],
                .redriven = n[11],
                .discarded = n[12],
                .oldest_ready_ms = n[13],
                .claims_active = n[14],
                .claims_overdue = n[15],
                .lanes_free = (int)n[16],
                .next_due_ms = n[17],
            };
        }
        *out = counts;
    }
    pg_statement_clear(&statement);
    return status;
}

static void instance_take(const PGresult *r, int row, struct arena *arena, struct instance_row *out,
                          bool *failed) {
    *out = (struct instance_row){
        .id = pg_cell_uuid((struct cell){r, row, 0}),
        .service = pg_cell_text((struct cell){r, row, 1}, arena, failed),
        .host = pg_cell_text((struct cell){r, row, 2}, arena, failed),
        .metadata = pg_cell_text((struct cell){r, row, 3}, arena, failed),
        .pid = (int)pg_cell_int((struct cell){r, row, 4}),
        .kinds = (int)pg_cell_int((struct cell){r, row, 5}),
        .state = (enum instance_state)pg_cell_int((struct cell){r, row, 6}),
        .started_ms = pg_cell_int((struct cell){r, row, 7}),
        .beat_ms = pg_cell_int((struct cell){r, row, 8}),
        .lease_until_ms = pg_cell_int((struct cell){r, row, 9}),
        .beat_age_ms = pg_cell_int((struct cell){r, row, 10}),
        .lanes = {0, (int)pg_cell_int((struct cell){r, row, 11}), (int)pg_cell_int((struct cell){r, row, 12}),
                  (int)pg_cell_int((struct cell){r, row, 13})},
        .claims = (int)pg_cell_int((struct cell){r, row, 14}),
        .in_flight = (int)pg_cell_int((struct cell){r, row, 15}),
        .processed = pg_cell_int((struct cell){r, row, 16}),
        .jobs = (int)pg_cell_int((struct cell){r, row, 17}),
    };
}

pawl_status postgres_instances(struct store *store, struct arena *arena, struct instance_rows *out,
                               pawl_error *err) {
    struct statement statement = pg_statement_new(POSTGRES_Q_VIEW_INSTANCES, NULL);
    pawl_status status = pg_statement_run(postgres_of(store), "instances", &statement, EFFECT_READ, err);
    if (status == PAWL_OK) {
        struct instance_rows list = {.count = (size_t)PQntuples(statement.result)};
        list.rows = arena_array(arena, list.count, sizeof *list.rows);
        bool failed = list.rows == NULL;
        for (size_t i = 0; !failed && i < list.count; i++)
            instance_take(statement.result, (int)i, arena, &list.rows[i], &failed);
        if (failed)
            status = pg_answer_no_memory("instances", err);
        else
            *out = list;
    }
    pg_statement_clear(&statement);
    return status;
}

pawl_status postgres_lanes(struct store *store, enum store_kind kind, struct arena *arena,
                           struct lane_rows *out, pawl_error *err) {
    struct place at = {.op = "lanes", .err = err};
    pawl_status status = place_kind(&at, kind);
    if (status != PAWL_OK)
        return status;
    struct statement statement = pg_statement_new(POSTGRES_Q_VIEW_LANES, arena);
    pg_params_small(&statement.params, (int)kind);
    status = pg_statement_run(postgres_of(store), "lanes", &statement, EFFECT_READ, err);
    struct lane_rows list = {NULL, 0};
    if (status == PAWL_OK) {
        list.count = (size_t)PQntuples(statement.result);
        list.rows = arena_array(arena, list.count, sizeof *list.rows);
        if (list.rows == NULL)
            status = pg_answer_no_memory("lanes", err);
    }
    for (int i = 0; status == PAWL_OK && list.rows != NULL && i < (int)list.count; i++) {
        const PGresult *r = statement.result;
        list.rows[i] = (struct lane_row){
            .kind = kind,
            .lane = (int)pg_cell_int((struct cell){r, i, 0}),
            .owner = pg_cell_uuid((struct cell){r, i, 1}),
            .token = pg_cell_int((struct cell){r, i, 2}),
            .high = pg_cell_int((struct cell){r, i, 3}),
            .moves = pg_cell_int((struct cell){r, i, 4}),
            .draining = pg_cell_bool((struct cell){r, i, 5}),
            .claims = (int)pg_cell_int((struct cell){r, i, 6}),
            .holds = (int)pg_cell_int((struct cell){r, i, 7}),
        };
    }
    if (status == PAWL_OK)
        *out = list;
    pg_statement_clear(&statement);
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
    struct statement statement = pg_statement_new(POSTGRES_Q_VIEW_RECEPTORS, arena);
    pg_params_uuid(&statement.params, event_id);
    pawl_status status = pg_statement_run(postgres_of(store), "receptors", &statement, EFFECT_READ, err);
    if (status == PAWL_OK) {
        const PGresult *r = statement.result;
        int found = PQntuples(r);
        struct receptor_row *list = arena_array(arena, (size_t)found, sizeof *list);
        bool failed = list == NULL;
        for (int i = 0; !failed && i < found; i++) {
            list[i] = (struct receptor_row){
                .event_id = event_id,
                .receptor = pg_cell_text((struct cell){r, i, 0}, arena, &failed),
                .error = pg_cell_text((struct cell){r, i, 1}, arena, &failed),
                .status = (int)pg_cell_int((struct cell){r, i, 2}),
                .attempts = (int)pg_cell_int((struct cell){r, i, 3}),
                .updated_ms = pg_cell_int((struct cell){r, i, 4}),
            };
        }
        if (failed) {
            status = pg_answer_no_memory("receptors", err);
        } else {
            *rows = list;
            *count = (size_t)found;
        }
    }
    pg_statement_clear(&statement);
    return status;
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
