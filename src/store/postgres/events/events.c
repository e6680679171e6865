/* Appending, reading and placing events, and snapshots. */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/uuid.h"
#include "store/postgres/events/event_calls.h"

pawl_status pg_append_prepare(const struct events_append *in, struct arena *arena,
                              struct statement *statement, struct append_result *out, pawl_error *err) {
    const struct event_new *e = in->events;
    bool given = false;
    int *publish = arena_array(arena, in->count, sizeof *publish);
    out->ids = arena_array(arena, in->count, sizeof *out->ids);
    if (publish == NULL || out->ids == NULL)
        return pg_answer_no_memory("events_append", err);
    for (size_t i = 0; i < in->count; i++) {
        out->ids[i] = e[i].id;
        publish[i] = e[i].publish ? 1 : 0;
        pawl_status status = PAWL_OK;
        if (uuid_is_nil(out->ids[i]))
            status = uuid_next(&out->ids[i], err);
        else
            given = true;
        if (status != PAWL_OK)
            return status;
    }
    *statement = pg_statement_new(POSTGRES_Q_EVENTS_APPEND, arena);
    struct params *p = &statement->params;
    pg_params_text(p, in->stream);
    pg_params_big(p, in->expected);
    pg_params_uuids(p, (struct strided){out->ids, sizeof *out->ids, in->count});
    pg_params_texts(p, STRIDED(e, type, in->count));
    pg_params_jsons(p, STRIDED(e, payload, in->count));
    pg_params_jsons(p, STRIDED(e, metadata, in->count));
    pg_params_uuids(p, STRIDED(e, correlation_id, in->count));
    pg_params_uuids(p, STRIDED(e, causation_id, in->count));
    pg_params_texts(p, STRIDED(e, traceparent, in->count));
    pg_params_ints(p, (struct strided){publish, sizeof *publish, in->count});
    pg_params_texts(p, STRIDED(e, topic, in->count));
    pg_params_bool(p, given);
    return PAWL_OK;
}

pawl_status pg_append_take(const PGresult *result, struct append_result *out, pawl_error *err) {
    if (PQntuples(result) != 1 || PQnfields(result) != 4)
        return pg_answer_malformed("events_append", err);
    out->answer = (enum store_answer)pg_cell_int((struct cell){result, 0, 0});
    out->version = pg_cell_int((struct cell){result, 0, 1});
    out->first_version = pg_cell_int((struct cell){result, 0, 2});
    out->id_known = pg_cell_bool((struct cell){result, 0, 3});
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

void pg_event_take(struct cell first, struct arena *arena, struct stored_event *event, bool *failed) {
    *event = (struct stored_event){.replay = false};
    pg_row_take(first, &event_shape, arena, event, failed);
}

static pawl_status events_take(const PGresult *result, struct arena *arena, struct event_list *list,
                               pawl_error *err) {
    list->count = (size_t)PQntuples(result);
    list->events = arena_array(arena, list->count, sizeof *list->events);
    bool failed = list->events == NULL;
    for (size_t i = 0; !failed && i < list->count; i++)
        pg_event_take((struct cell){result, (int)i, 0}, arena, &list->events[i], &failed);
    return failed ? pg_answer_no_memory("events_read", err) : PAWL_OK;
}

pawl_status postgres_events_read(struct store *store, const struct events_query *in, struct arena *arena,
                                 struct event_list *out, pawl_error *err) {
    struct event_list list = {0};
    pawl_status status = check_events_query(in, err);
    if (status != PAWL_OK)
        return status;
    bool all = str_absent(in->stream);
    struct statement steps[2] = {
        pg_statement_new(all ? POSTGRES_Q_EVENTS_ALL : POSTGRES_Q_EVENTS_READ, arena),
        pg_statement_new(POSTGRES_Q_EVENTS_HEAD, arena)};
    struct params *p = &steps[0].params;
    if (!all)
        pg_params_text(p, in->stream);
    pg_params_big(p, in->from);
    pg_params_bool(p, in->backward);
    pg_params_big(p, in->as_of_ms);
    if (!all)
        pg_params_uuid(p, in->as_of_event);
    pg_params_int(p, in->limit);
    pg_params_text(&steps[1].params, in->stream);
    status = pg_statements_run(postgres_of(store), "events_read", steps, 2, err);
    if (status == PAWL_OK)
        status = events_take(steps[0].result, arena, &list, err);
    if (status == PAWL_OK && PQntuples(steps[1].result) != 1)
        status = pg_answer_malformed("events_read", err);
    if (status == PAWL_OK) {
        list.head = pg_cell_int((struct cell){steps[1].result, 0, 0});
        *out = list;
    }
    pg_statement_clear(&steps[0]);
    pg_statement_clear(&steps[1]);
    return status;
}

pawl_status postgres_events_stamp(struct store *store, int limit, struct stamp_result *out, pawl_error *err) {
    pawl_status status =
        limit >= 1 ? PAWL_OK
                   : error_set(err, PAWL_INVALID, "events_stamp", "limit %d must be at least 1", limit);
    struct arena *arena = arena_create(0);
    if (status == PAWL_OK && arena == NULL)
        status = pg_answer_no_memory("events_stamp", err);
    struct statement statement = pg_statement_new(POSTGRES_Q_EVENTS_STAMP, arena);
    if (status == PAWL_OK) {
        pg_params_int(&statement.params, limit);
        status = pg_statement_run(postgres_of(store), "events_stamp", &statement, EFFECT_WRITE, err);
    }
    if (status == PAWL_OK && PQntuples(statement.result) != 1)
        status = pg_answer_malformed("events_stamp", err);
    if (status == PAWL_OK)
        *out = (struct stamp_result){.stamped = pg_cell_int((struct cell){statement.result, 0, 0}),
                                     .position = pg_cell_int((struct cell){statement.result, 0, 1})};
    pg_statement_clear(&statement);
    arena_free(arena);
    return status;
}

pawl_status pg_number_run(struct store *store, const char *op, struct statement *statement, int64_t *value,
                          pawl_error *err) {
    pawl_status status = pg_statement_run(postgres_of(store), op, statement, EFFECT_WRITE, err);
    if (status == PAWL_OK && PQntuples(statement->result) != 1)
        status = pg_answer_malformed(op, err);
    if (status == PAWL_OK)
        *value = pg_cell_int((struct cell){statement->result, 0, 0});
    pg_statement_clear(statement);
    return status;
}

pawl_status postgres_snapshot_put(struct store *store, const struct snapshot *in, enum store_answer *answer,
                                  pawl_error *err) {
    int64_t value = 0;
    pawl_status status = check_snapshot(in, err);
    if (status != PAWL_OK)
        return status;
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return pg_answer_no_memory("snapshot_put", err);
    struct statement statement = pg_statement_new(POSTGRES_Q_SNAPSHOT_PUT, arena);
    pg_params_text(&statement.params, in->stream);
    pg_params_text(&statement.params, in->name);
    pg_params_big(&statement.params, in->version);
    pg_params_json(&statement.params, in->state);
    status = pg_number_run(store, "snapshot_put", &statement, &value, err);
    if (status == PAWL_OK)
        *answer = (enum store_answer)value;
    arena_free(arena);
    return status;
}

pawl_status postgres_snapshot_get(struct store *store, pawl_str stream, pawl_str name, int64_t version_max,
                                  struct arena *arena, struct snapshot *out, pawl_error *err) {
    struct statement statement = pg_statement_new(POSTGRES_Q_SNAPSHOT_GET, arena);
    pg_params_text(&statement.params, stream);
    pg_params_text(&statement.params, name);
    pg_params_big(&statement.params, version_max);
    pawl_status status = pg_statement_run(postgres_of(store), "snapshot_get", &statement, EFFECT_READ, err);
    if (status == PAWL_OK && PQntuples(statement.result) != 1)
        status = error_set(err, PAWL_NOT_FOUND, "snapshot_get", "no snapshot \"%.*s\" of stream \"%.*s\"",
                           STR_ARG(name), STR_ARG(stream));
    if (status == PAWL_OK) {
        const PGresult *r = statement.result;
        bool failed = false;
        struct snapshot found = {.stream = pg_cell_text((struct cell){r, 0, 0}, arena, &failed),
                                 .name = pg_cell_text((struct cell){r, 0, 1}, arena, &failed),
                                 .version = pg_cell_int((struct cell){r, 0, 2}),
                                 .state = pg_cell_text((struct cell){r, 0, 3}, arena, &failed),
                                 .made_ms = pg_cell_int((struct cell){r, 0, 4})};
        if (failed)
            status = pg_answer_no_memory("snapshot_get", err);
        else
            *out = found;
    }
    pg_statement_clear(&statement);
    return status;
}
