/* Checkpoints on PostgreSQL: claim, renew, skip, list. */
#include "base/uuid.h"
#include "store/postgres/calls.h"

/* A row that was not granted names a stream that is busy. */
pawl_status pg_grants_take(const PGresult *r, struct arena *arena, struct checkpoint_grants *out,
                           pawl_error *err) {
    struct row_list rows = {NULL, 0};
    TRY(pg_rows_take((struct cell){r, 0, 1}, "checkpoints_claim", &checkpoint_grant_shape, arena, &rows,
                     err));
    struct checkpoint_grants grants = {.grants = rows.rows,
                                       .busy = arena_array(arena, rows.count, sizeof *grants.busy)};
    if (grants.busy == NULL)
        return pg_answer_no_memory("checkpoints_claim", err);
    for (size_t i = 0; i < rows.count; i++) {
        if (pg_cell_bool((struct cell){r, (int)i, 0}))
            grants.grants[grants.count++] = grants.grants[i];
        else
            grants.busy[grants.busy_count++] = grants.grants[i].stream;
    }
    *out = grants;
    return PAWL_OK;
}

pawl_status postgres_checkpoints_claim(struct store *store, const struct checkpoints_claim *in,
                                       struct arena *arena, struct checkpoint_grants *out, pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_CHECKPOINTS_CLAIM, "checkpoints_claim", arena,
                              check_checkpoints_claim(in, err));
    struct params *p = &q.statement.params;
    PARAMS(p, in->instance, LIST(in->streams, in->stream_count),
           LIST(in->perspectives, in->perspective_count), in->max, in->lease_ms);
    pawl_status status = pg_ask(&q, err);
    if (status == PAWL_OK)
        status = pg_grants_take(q.statement.result, arena, out, err);
    pg_statement_clear(&q.statement);
    return status;
}

void pg_checkpoints_renew_params(const struct checkpoints_renew *in, struct params *p) {
    PARAMS(p, in->instance, ROWS_OF(checkpoint_ref_shape, in->refs, in->count), in->lease_ms);
}

pawl_status postgres_checkpoints_renew(struct store *store, const struct checkpoints_renew *in,
                                       struct arena *arena, struct answer_list *out, pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_CHECKPOINTS_RENEW, "checkpoints_renew", arena,
                              check_checkpoints_renew(in, err));
    pg_checkpoints_renew_params(in, &q.statement.params);
    return pg_answers(&q, in->count, out, err);
}

/* After the event: whether it is a replay, and of the batch through_version and head. A batch without events
 * is a row without one. */
pawl_status postgres_checkpoint_events(struct store *store, const struct checkpoint_ref *ref, int limit,
                                       struct arena *arena, struct checkpoint_batch *out, pawl_error *err) {
    struct row_list rows = {NULL, 0};
    const int after = (int)event_shape.count;
    struct query q = pg_read(store, POSTGRES_Q_CHECKPOINT_EVENTS, "checkpoint_events", arena,
                             check_checkpoint_events(ref, limit, err));
    SEND(&q, ROW_OF(checkpoint_ref_shape, ref), limit);
    pawl_status status = pg_ask(&q, err);
    if (status == PAWL_OK)
        status = pg_rows_take(pg_cell(&q, 0, 0), q.op, &event_shape, arena, &rows, err);
    if (status == PAWL_OK && rows.count == 0)
        status = pg_answer_malformed(q.op, err);
    if (status == PAWL_OK) {
        struct checkpoint_batch batch = {.list.events = rows.rows,
                                         .list.head = pg_cell_int(pg_cell(&q, 0, after + 2)),
                                         .through = pg_cell_int(pg_cell(&q, 0, after + 1))};
        for (size_t i = 0; i < rows.count; i++) {
            batch.list.events[i].replay = pg_cell_bool(pg_cell(&q, (int)i, after));
            batch.list.count += uuid_is_nil(batch.list.events[i].id) ? 0 : 1;
        }
        batch.more = batch.through < batch.list.head;
        *out = batch;
    }
    pg_statement_clear(&q.statement);
    return status;
}

pawl_status postgres_checkpoint_skip(struct store *store, const struct checkpoint_skip *in,
                                     enum store_answer *answer, pawl_error *err) {
    struct query q =
        pg_write(store, POSTGRES_Q_CHECKPOINT_SKIP, "checkpoint_skip", NULL, check_skip(in, err));
    SEND(&q, ROW_OF(checkpoint_skip_shape, in));
    return pg_answer(&q, answer, err);
}

pawl_status postgres_checkpoints_list(struct store *store, const struct checkpoint_filter *filter,
                                      struct arena *arena, struct checkpoint_views *out, pawl_error *err) {
    struct query q = pg_read(store, POSTGRES_Q_CHECKPOINTS_LIST, "checkpoints_list", arena,
                             check_limit("checkpoints_list", filter->limit, err));
    SEND(&q, ROW_OF(checkpoint_filter_shape, filter));
    return pg_list(&q, &checkpoint_shape, ROWS_OUT(out, rows), err);
}
