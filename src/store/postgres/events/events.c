/* Events on PostgreSQL: append, read, positions, snapshots. */
#include "base/str.h"
#include "base/uuid.h"
#include "store/postgres/calls.h"

pawl_status pg_append_prepare(const struct events_append *in, struct arena *arena,
                              struct statement *statement, struct append_result *out, pawl_error *err) {
    const pawl_event *e = in->events;
    bool given = false;
    int *publish = arena_array(arena, in->count, sizeof *publish);
    out->ids = arena_array(arena, in->count, sizeof *out->ids);
    if (publish == NULL || out->ids == NULL)
        return pg_answer_no_memory("events_append", err);
    for (size_t i = 0; i < in->count; i++) {
        out->ids[i] = e[i].id;
        publish[i] = e[i].publish ? 1 : 0;
        if (uuid_is_nil(out->ids[i]))
            TRY(uuid_next(&out->ids[i], err));
        else
            given = true;
    }
    *statement = pg_statement_new(POSTGRES_Q_EVENTS_APPEND, arena);
    struct params *p = &statement->params;
    PARAMS(p, in->stream, in->expected, LIST(out->ids, in->count), ROWS_OF(event_new_shape, e, in->count),
           LIST(publish, in->count), LIST_OF(e, topic, in->count), given);
    return PAWL_OK;
}

pawl_status pg_append_take(const PGresult *result, struct append_result *out, pawl_error *err) {
    bool failed = false; /* numbers need no memory */
    if (PQntuples(result) != 1 || PQnfields(result) != (int)append_result_shape.count)
        return pg_answer_malformed("events_append", err);
    pg_row_take((struct cell){result, 0, 0}, &append_result_shape, NULL, out, &failed);
    return PAWL_OK;
}

pawl_status postgres_events_append(struct store *store, const struct events_append *in, struct arena *arena,
                                   struct append_result *out, pawl_error *err) {
    struct statement statement = {.result = NULL};
    struct append_result result = {0};
    pawl_status status = check_append(in, err);
    if (status == PAWL_OK)
        status = pg_append_prepare(in, arena, &statement, &result, err);
    if (status == PAWL_OK)
        status = pg_statement_run(postgres_of(store), "events_append", &statement, EFFECT_WRITE, err);
    if (status == PAWL_OK)
        status = pg_append_take(statement.result, &result, err);
    if (status == PAWL_OK)
        *out = result;
    pg_statement_clear(&statement);
    return status;
}

pawl_status postgres_events_read(struct store *store, const pawl_read *in, struct arena *arena,
                                 struct event_list *out, pawl_error *err) {
    struct row_list list = {NULL, 0};
    pawl_status status = check_events_query(in, err);
    if (status != PAWL_OK)
        return status;
    bool all = str_absent(in->stream);
    struct statement steps[2] = {
        pg_statement_new(all ? POSTGRES_Q_EVENTS_ALL : POSTGRES_Q_EVENTS_READ, arena),
        pg_statement_new(POSTGRES_Q_EVENTS_HEAD, arena)};
    struct params *p = &steps[0].params;
    if (all)
        PARAMS(p, in->from, in->backward, in->as_of_ms, in->limit);
    else
        PARAMS(p, in->stream, in->from, in->backward, in->as_of_ms, in->as_of_event, in->limit);
    PARAMS(&steps[1].params, in->stream);
    status = pg_statements_run(postgres_of(store), "events_read", steps, 2, EFFECT_READ, err);
    if (status == PAWL_OK)
        status = pg_rows_take((struct cell){steps[0].result, 0, 0}, "events_read", &event_shape, arena, &list,
                              err);
    if (status == PAWL_OK && PQntuples(steps[1].result) != 1)
        status = pg_answer_malformed("events_read", err);
    if (status == PAWL_OK)
        *out = (struct event_list){list.rows, list.count, pg_cell_int((struct cell){steps[1].result, 0, 0})};
    pg_statement_clear(&steps[0]);
    pg_statement_clear(&steps[1]);
    return status;
}

pawl_status postgres_events_stamp(struct store *store, int limit, struct stamp_result *out, pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_EVENTS_STAMP, "events_stamp", NULL, check_stamp(limit, err));
    SEND(&q, limit);
    return pg_row(&q, &stamp_result_shape, out, err);
}

pawl_status postgres_snapshot_put(struct store *store, const struct snapshot *in, enum store_answer *answer,
                                  pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_SNAPSHOT_PUT, "snapshot_put", NULL, check_snapshot(in, err));
    SEND(&q, ROW_OF(snapshot_new_shape, in));
    return pg_answer(&q, answer, err);
}

pawl_status postgres_snapshot_get(struct store *store, pawl_str stream, pawl_str name, int64_t version_max,
                                  struct arena *arena, struct snapshot *out, pawl_error *err) {
    struct snapshot *rows = NULL;
    size_t count = 0;
    struct query q = pg_read(store, POSTGRES_Q_SNAPSHOT_GET, "snapshot_get", arena, PAWL_OK);
    SEND(&q, stream, name, version_max);
    pawl_status status = pg_list(&q, &snapshot_shape, (struct rows_out){&rows, &count, NULL}, err);
    if (status == PAWL_OK && count == 0)
        return snapshot_missing(stream, name, err);
    if (status == PAWL_OK)
        *out = *rows;
    return status;
}
