/* Queries about counts, instances, lanes, receptors and checkpoints on PostgreSQL. */
#include "base/str.h"
#include "store/check/place.h"
#include "store/postgres/query.h"

pawl_status postgres_counts(struct store *store, struct counts *out, pawl_error *err) {
    struct query q = pg_read(store, POSTGRES_Q_VIEW_COUNTS, "counts", NULL, PAWL_OK);
    pawl_status status = pg_ask(&q, err);
    if (status == PAWL_OK && PQntuples(q.statement.result) != KIND_COUNT)
        status = pg_answer_malformed(q.op, err);
    if (status == PAWL_OK) {
        const int after = (int)kind_counts_shape.count;
        struct counts counts = {.now_ms = pg_cell_int(pg_cell(&q, 0, after))};
        for (int row = 0; row < KIND_COUNT; row++) {
            struct kind_counts *kind = &counts.kind[row + 1];
            bool failed = false; /* numbers need no memory */
            pg_row_take(pg_cell(&q, row, 0), &kind_counts_shape, NULL, kind, &failed);
            kind->ready = pg_cell_int(pg_cell(&q, row, after + 1));
        }
        *out = counts;
    }
    pg_statement_clear(&q.statement);
    return status;
}

pawl_status postgres_instances(struct store *store, struct arena *arena, struct instance_rows *out,
                               pawl_error *err) {
    struct query q = pg_read(store, POSTGRES_Q_VIEW_INSTANCES, "instances", arena, PAWL_OK);
    return pg_list(&q, &instance_shape, ROWS_OUT(out, rows), err);
}

pawl_status postgres_lanes(struct store *store, enum store_kind kind, struct arena *arena,
                           struct lane_rows *out, pawl_error *err) {
    struct place at = {.op = "lanes", .err = err};
    struct query q = pg_read(store, POSTGRES_Q_VIEW_LANES, at.op, arena, place_kind(&at, kind));
    SEND(&q, kind);
    pawl_status status = pg_list(&q, &lane_shape, ROWS_OUT(out, rows), err);
    for (size_t i = 0; status == PAWL_OK && i < out->count; i++)
        out->rows[i].kind = kind;
    return status;
}

pawl_status postgres_checkpoint_get(struct store *store, pawl_str stream, pawl_str perspective,
                                    struct arena *arena, struct checkpoint_row *out, pawl_error *err) {
    struct checkpoint_row *rows = NULL;
    size_t count = 0;
    struct query q = pg_read(store, POSTGRES_Q_VIEW_CHECKPOINT, "checkpoint_get", arena, PAWL_OK);
    SEND(&q, stream, perspective);
    pawl_status status = pg_list(&q, &checkpoint_row_shape, (struct rows_out){&rows, &count, NULL}, err);
    if (status == PAWL_OK && count == 0)
        return checkpoint_missing(stream, perspective, err);
    if (status == PAWL_OK)
        *out = *rows;
    return status;
}

pawl_status postgres_receptors(struct store *store, pawl_uuid event_id, struct arena *arena,
                               struct receptor_row **rows, size_t *count, pawl_error *err) {
    struct query q = pg_read(store, POSTGRES_Q_VIEW_RECEPTORS, "receptors", arena, PAWL_OK);
    SEND(&q, event_id);
    pawl_status status = pg_list(&q, &receptor_shape, (struct rows_out){rows, count, NULL}, err);
    for (size_t i = 0; status == PAWL_OK && i < *count; i++)
        (*rows)[i].event_id = event_id;
    return status;
}
