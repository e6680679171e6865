/* Claiming, renewing, skipping and looking at checkpoints. */
#include "base/error.h"
#include "base/str.h"
#include "base/uuid.h"
#include "store/postgres/events/event_calls.h"

pawl_status pg_grants_take(const PGresult *r, struct arena *arena, struct checkpoint_grants *out,
                           pawl_error *err) {
    size_t rows = (size_t)PQntuples(r);
    struct checkpoint_grants grants = {.grants = arena_array(arena, rows, sizeof *grants.grants),
                                       .busy = arena_array(arena, rows, sizeof *grants.busy)};
    bool failed = grants.grants == NULL || grants.busy == NULL;
    for (int row = 0; !failed && row < (int)rows; row++) {
        pawl_str stream = pg_cell_text((struct cell){r, row, 1}, arena, &failed);
        if (!pg_cell_bool((struct cell){r, row, 0})) {
            grants.busy[grants.busy_count++] = stream;
            continue;
        }
        grants.grants[grants.count++] = (struct checkpoint_grant){
            .stream = stream,
            .perspective = pg_cell_text((struct cell){r, row, 2}, arena, &failed),
            .version = pg_cell_int((struct cell){r, row, 3}),
            .head = pg_cell_int((struct cell){r, row, 4}),
            .token = pg_cell_int((struct cell){r, row, 5}),
            .lease_until_ms = pg_cell_int((struct cell){r, row, 6}),
            .replay_to = pg_cell_int((struct cell){r, row, 7}),
            .attempt = (int)pg_cell_int((struct cell){r, row, 8}),
        };
    }
    if (failed)
        return pg_answer_no_memory("checkpoints_claim", err);
    *out = grants;
    return PAWL_OK;
}

pawl_status postgres_checkpoints_claim(struct store *store, const struct checkpoints_claim *in,
                                       struct arena *arena, struct checkpoint_grants *out, pawl_error *err) {
    pawl_status status = check_checkpoints_claim(in, err);
    if (status != PAWL_OK)
        return status;
    struct statement statement = pg_statement_new(POSTGRES_Q_CHECKPOINTS_CLAIM, arena);
    struct params *p = &statement.params;
    pg_params_uuid(p, in->instance);
    pg_params_texts(p, (struct strided){in->streams, sizeof *in->streams, in->stream_count});
    pg_params_texts(p, (struct strided){in->perspectives, sizeof *in->perspectives, in->perspective_count});
    pg_params_int(p, in->max);
    pg_params_big(p, in->lease_ms);
    status = pg_statement_run(postgres_of(store), "checkpoints_claim", &statement, EFFECT_WRITE, err);
    if (status == PAWL_OK)
        status = pg_grants_take(statement.result, arena, out, err);
    pg_statement_clear(&statement);
    return status;
}

void pg_checkpoints_renew_prepare(const struct checkpoints_renew *in, struct arena *arena,
                                  struct statement *statement) {
    *statement = pg_statement_new(POSTGRES_Q_CHECKPOINTS_RENEW, arena);
    struct params *p = &statement->params;
    pg_params_uuid(p, in->instance);
    pg_params_texts(p, STRIDED(in->refs, stream, in->count));
    pg_params_texts(p, STRIDED(in->refs, perspective, in->count));
    pg_params_bigs(p, STRIDED(in->refs, token, in->count));
    pg_params_big(p, in->lease_ms);
}

pawl_status postgres_checkpoints_renew(struct store *store, const struct checkpoints_renew *in,
                                       struct arena *arena, struct answer_list *out, pawl_error *err) {
    pawl_status status = check_checkpoints_renew(in, err);
    if (status != PAWL_OK)
        return status;
    struct statement statement = {.result = NULL};
    pg_checkpoints_renew_prepare(in, arena, &statement);
    return pg_answers_run(store, &statement,
                          &(struct answers_wanted){"checkpoints_renew", in->count, arena, out}, err);
}

static pawl_status batch_take(const PGresult *r, struct arena *arena, struct checkpoint_batch *out,
                              pawl_error *err) {
    size_t rows = (size_t)PQntuples(r);
    if (rows == 0)
        return pg_answer_malformed("checkpoint_events", err);
    struct checkpoint_batch batch = {.through = pg_cell_int((struct cell){r, 0, 12}),
                                     .list.head = pg_cell_int((struct cell){r, 0, 13})};
    batch.list.events = arena_array(arena, rows, sizeof *batch.list.events);
    bool failed = batch.list.events == NULL;
    for (int row = 0; !failed && row < (int)rows; row++) {
        struct stored_event *event = &batch.list.events[batch.list.count];
        pg_event_take((struct cell){r, row, 0}, arena, event, &failed);
        event->replay = pg_cell_bool((struct cell){r, row, 11});
        batch.list.count += uuid_is_nil(event->id) ? 0 : 1;
    }
    if (failed)
        return pg_answer_no_memory("checkpoint_events", err);
    batch.more = batch.through < batch.list.head;
    *out = batch;
    return PAWL_OK;
}

pawl_status postgres_checkpoint_events(struct store *store, const struct checkpoint_ref *ref, int limit,
                                       struct arena *arena, struct checkpoint_batch *out, pawl_error *err) {
    pawl_status status = check_checkpoint_events(ref, limit, err);
    if (status != PAWL_OK)
        return status;
    struct statement statement = pg_statement_new(POSTGRES_Q_CHECKPOINT_EVENTS, arena);
    pg_params_text(&statement.params, ref->stream);
    pg_params_text(&statement.params, ref->perspective);
    pg_params_big(&statement.params, ref->token);
    pg_params_int(&statement.params, limit);
    status = pg_statement_run(postgres_of(store), "checkpoint_events", &statement, EFFECT_READ, err);
    if (status == PAWL_OK)
        status = batch_take(statement.result, arena, out, err);
    pg_statement_clear(&statement);
    return status;
}

pawl_status postgres_checkpoint_skip(struct store *store, const struct checkpoint_skip *in,
                                     enum store_answer *answer, pawl_error *err) {
    int64_t value = 0;
    pawl_status status = check_skip(in, err);
    if (status != PAWL_OK)
        return status;
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return pg_answer_no_memory("checkpoint_skip", err);
    struct statement statement = pg_statement_new(POSTGRES_Q_CHECKPOINT_SKIP, arena);
    pg_params_text(&statement.params, in->perspective);
    pg_params_text(&statement.params, in->stream);
    pg_params_big(&statement.params, in->version);
    pg_params_text(&statement.params, in->reason);
    status = pg_number_run(store, "checkpoint_skip", &statement, &value, err);
    if (status == PAWL_OK)
        *answer = (enum store_answer)value;
    arena_free(arena);
    return status;
}

pawl_status postgres_checkpoints_list(struct store *store, const struct checkpoint_filter *filter,
                                      struct arena *arena, struct checkpoint_views *out, pawl_error *err) {
    struct row_list list;
    pawl_status status = check_limit("checkpoints_list", filter->limit, err);
    if (status != PAWL_OK)
        return status;
    struct statement statement = pg_statement_new(POSTGRES_Q_CHECKPOINTS_LIST, arena);
    struct params *p = &statement.params;
    pg_params_text(p, filter->perspective);
    pg_params_text(p, filter->stream);
    pg_params_int(p, filter->status);
    pg_params_text(p, filter->after_stream);
    pg_params_text(p, filter->after_perspective);
    pg_params_int(p, filter->limit);
    status = pg_rows_run(store, &statement, "checkpoints_list", &checkpoint_shape, &list, err);
    if (status == PAWL_OK)
        *out = (struct checkpoint_views){list.rows, list.count};
    pg_statement_clear(&statement);
    return status;
}

pawl_status postgres_checkpoint_errors(struct store *store, pawl_str perspective, int limit,
                                       struct arena *arena, struct checkpoint_errors *out, pawl_error *err) {
    struct row_list list;
    pawl_status status = check_limit("checkpoint_errors", limit, err);
    if (status != PAWL_OK)
        return status;
    struct statement statement = pg_statement_new(POSTGRES_Q_CHECKPOINT_ERRORS, arena);
    pg_params_text(&statement.params, perspective);
    pg_params_int(&statement.params, limit);
    status = pg_rows_run(store, &statement, "checkpoint_errors", &checkpoint_error_shape, &list, err);
    if (status == PAWL_OK)
        *out = (struct checkpoint_errors){list.rows, list.count};
    pg_statement_clear(&statement);
    return status;
}
