/* Applying events to a perspective: its SQL in one call, or a C function inside a transaction of ours. */
#include "store/postgres/events/apply.h"

#include "base/error.h"
#include "base/str.h"
#include "store/postgres/calls.h"
#include "store/postgres/events/event_calls.h"

#define OP "perspective_apply"

struct apply_item pg_apply_item(struct cell answer, struct arena *arena, bool *failed) {
    const PGresult *r = answer.result;
    int i = answer.row, at = answer.column;
    return (struct apply_item){
        .answer = (enum store_answer)pg_cell_int(answer),
        .version = pg_cell_int((struct cell){r, i, at + 1}),
        .events = pg_cell_int((struct cell){r, i, at + 2}),
        .more = pg_cell_bool((struct cell){r, i, at + 3}),
        .outcome = (enum fail_outcome)pg_cell_int((struct cell){r, i, at + 4}),
        .failed_version = pg_cell_int((struct cell){r, i, at + 5}),
        .error = pg_cell_text((struct cell){r, i, at + 6}, arena, failed),
    };
}

static pawl_status by_sql(struct store *store, const struct perspective_apply *in, struct arena *arena,
                          struct apply_result *out, pawl_error *err) {
    struct statement statement = pg_statement_new(POSTGRES_Q_PERSPECTIVE_APPLY, arena);
    struct params *p = &statement.params;
    pg_params_text(p, in->perspective);
    pg_params_big(p, in->token);
    pg_params_texts(p, (struct strided){in->streams, sizeof *in->streams, in->stream_count});
    pg_params_int(p, in->batch);
    pawl_status status = pg_statement_run(postgres_of(store), OP, &statement, EFFECT_WRITE, err);
    if (status == PAWL_OK && (size_t)PQntuples(statement.result) != in->stream_count)
        status = pg_answer_malformed(OP, err);
    if (status == PAWL_OK) {
        const PGresult *r = statement.result;
        struct apply_result result = {.count = in->stream_count};
        result.items = arena_array(arena, result.count, sizeof *result.items);
        bool failed = result.items == NULL;
        for (int i = 0; !failed && i < (int)result.count; i++)
            result.items[i] = pg_apply_item((struct cell){r, i, 0}, arena, &failed);
        if (failed)
            status = pg_answer_no_memory(OP, err);
        else
            *out = result;
    }
    pg_statement_clear(&statement);
    return status;
}

static pawl_status script(struct postgres *self, enum postgres_query query, pawl_error *err) {
    char sqlstate[6];
    return pg_script_run(self, OP, self->queries[query], sqlstate, err);
}

/* Marks: the function must leave the transaction open. */
static pawl_status still_open(const struct postgres *self, pawl_error *err) {
    if (PQtransactionStatus(self->conn) == PQTRANS_INTRANS)
        return PAWL_OK;
    return error_set(err, PAWL_UNAVAILABLE, OP,
                     "the perspective ended the transaction or left a failed one; it must do neither");
}

static pawl_status mark(void *store, pawl_error *err) { return script(store, POSTGRES_Q_SAVEPOINT, err); }

static pawl_status undo(void *store, pawl_error *err) {
    pawl_status status = script(store, POSTGRES_Q_SAVEPOINT_ROLLBACK, err);
    return status == PAWL_OK ? script(store, POSTGRES_Q_SAVEPOINT_RELEASE, err) : status;
}

static pawl_status keep(void *store, pawl_error *err) {
    pawl_status status = still_open(store, err);
    return status == PAWL_OK ? script(store, POSTGRES_Q_SAVEPOINT_RELEASE, err) : status;
}

static pawl_status cuts_take(const PGresult *r, struct arena *arena, struct apply_cut **cuts, size_t count,
                             pawl_error *err) {
    bool failed = false;
    if ((size_t)PQntuples(r) != count)
        return pg_answer_malformed(OP, err);
    *cuts = arena_array(arena, count, sizeof **cuts);
    failed = *cuts == NULL;
    for (int i = 0; !failed && i < (int)count; i++)
        (*cuts)[i] = (struct apply_cut){
            .stream = pg_cell_text((struct cell){r, i, 0}, arena, &failed),
            .held = pg_cell_bool((struct cell){r, i, 1}),
            .from_version = pg_cell_int((struct cell){r, i, 2}),
            .through_version = pg_cell_int((struct cell){r, i, 3}),
            .head = pg_cell_int((struct cell){r, i, 4}),
            .replay_to = pg_cell_int((struct cell){r, i, 5}),
        };
    return failed ? pg_answer_no_memory(OP, err) : PAWL_OK;
}

struct apply_marks pg_apply_marks(struct postgres *self) {
    return (struct apply_marks){.store = self, .mark = mark, .undo = undo, .keep = keep};
}

static pawl_status events_take(const PGresult *r, struct arena *arena, struct apply_cut *cuts, size_t count,
                               struct stored_event **events, pawl_error *err) {
    size_t rows = (size_t)PQntuples(r);
    *events = arena_array(arena, rows, sizeof **events);
    bool failed = *events == NULL;
    for (int i = 0; !failed && i < (int)rows; i++) {
        size_t n = (size_t)pg_cell_int((struct cell){r, i, 0});
        if (n < 1 || n > count)
            return pg_answer_malformed(OP, err);
        struct apply_cut *cut = &cuts[n - 1];
        struct stored_event *event = &(*events)[i];
        if (cut->count++ == 0)
            cut->first = (size_t)i;
        *event = (struct stored_event){
            .stream = cut->stream,
            .version = pg_cell_int((struct cell){r, i, 2}),
            .id = pg_cell_uuid((struct cell){r, i, 3}),
            .type = pg_cell_text((struct cell){r, i, 4}, arena, &failed),
            .payload = pg_cell_text((struct cell){r, i, 5}, arena, &failed),
            .metadata = pg_cell_text((struct cell){r, i, 6}, arena, &failed),
            .correlation_id = pg_cell_uuid((struct cell){r, i, 7}),
            .causation_id = pg_cell_uuid((struct cell){r, i, 8}),
            .traceparent = pg_cell_text((struct cell){r, i, 9}, arena, &failed),
            .appended_ms = pg_cell_int((struct cell){r, i, 10}),
            .replay = pg_cell_bool((struct cell){r, i, 11}),
        };
    }
    return failed ? pg_answer_no_memory(OP, err) : PAWL_OK;
}

pawl_status pg_apply_events(struct postgres *self, pawl_str perspective, struct apply_cut *cuts, size_t count,
                            struct arena *arena, struct stored_event **events, pawl_error *err) {
    struct statement rows = pg_statement_new(POSTGRES_Q_APPLY_ROWS, arena);
    pg_params_text(&rows.params, perspective);
    pg_params_texts(&rows.params, STRIDED(cuts, stream, count));
    pg_params_bigs(&rows.params, STRIDED(cuts, from_version, count));
    pg_params_bigs(&rows.params, STRIDED(cuts, through_version, count));
    pg_params_bigs(&rows.params, STRIDED(cuts, replay_to, count));
    pawl_status status = pg_step_run(self, OP, &rows, err);
    if (status == PAWL_OK)
        status = events_take(rows.result, arena, cuts, count, events, err);
    pg_statement_clear(&rows);
    return status;
}

pawl_status pg_apply_open(struct postgres *self, pawl_error *err) {
    pawl_status status = pg_connection_ready(self, OP, err);
    return status == PAWL_OK ? script(self, POSTGRES_Q_BEGIN, err) : status;
}

pawl_status pg_apply_close(struct postgres *self, pawl_status status, pawl_error *err) {
    if (status == PAWL_OK)
        status = script(self, POSTGRES_Q_COMMIT, err);
    if (status != PAWL_OK && self->conn != NULL && PQtransactionStatus(self->conn) != PQTRANS_IDLE &&
        script(self, POSTGRES_Q_ROLLBACK, NULL) != PAWL_OK)
        pg_connection_drop(self);
    return status;
}

static pawl_status read_batch(struct postgres *self, const struct perspective_apply *in, struct arena *arena,
                              struct apply_cut **cuts, struct stored_event **events, pawl_error *err) {
    struct statement begin = pg_statement_new(POSTGRES_Q_APPLY_BEGIN, arena);
    pg_params_text(&begin.params, in->perspective);
    pg_params_big(&begin.params, in->token);
    pg_params_texts(&begin.params, (struct strided){in->streams, sizeof *in->streams, in->stream_count});
    pg_params_int(&begin.params, in->batch);
    pawl_status status = pg_step_run(self, OP, &begin, err);
    if (status == PAWL_OK)
        status = cuts_take(begin.result, arena, cuts, in->stream_count, err);
    pg_statement_clear(&begin);
    if (status != PAWL_OK)
        return status;
    return pg_apply_events(self, in->perspective, *cuts, in->stream_count, arena, events, err);
}

/* Moves the checkpoints that are still ours and fills the answers. */
static pawl_status write_end(struct postgres *self, const struct perspective_apply *in, struct arena *arena,
                             const struct apply_cut *cuts, struct apply_result *out, pawl_error *err) {
    struct apply_cut *held = arena_array(arena, in->stream_count, sizeof *held);
    out->items = arena_array(arena, in->stream_count, sizeof *out->items);
    out->count = in->stream_count;
    size_t count = 0;
    if (held == NULL || out->items == NULL)
        return pg_answer_no_memory(OP, err);
    for (size_t i = 0; i < in->stream_count; i++) {
        out->items[i] = apply_item_of(&cuts[i]);
        if (cuts[i].held)
            held[count++] = cuts[i];
    }
    struct statement end = pg_statement_new(POSTGRES_Q_APPLY_END, arena);
    pg_params_text(&end.params, in->perspective);
    pg_params_big(&end.params, in->token);
    pg_params_texts(&end.params, STRIDED(held, stream, count));
    pg_params_bigs(&end.params, STRIDED(held, version, count));
    pg_params_texts(&end.params, STRIDED(held, error, count));
    pg_params_bigs(&end.params, STRIDED(held, failed_version, count));
    pawl_status status = pg_step_run(self, OP, &end, err);
    if (status == PAWL_OK && (size_t)PQntuples(end.result) != count)
        status = pg_answer_malformed(OP, err);
    int row = 0;
    for (size_t i = 0; status == PAWL_OK && i < in->stream_count; i++) {
        if (!cuts[i].held)
            continue;
        out->items[i].more = pg_cell_bool((struct cell){end.result, row, 0});
        out->items[i].outcome = (enum fail_outcome)pg_cell_int((struct cell){end.result, row, 1});
        row++;
    }
    pg_statement_clear(&end);
    return status;
}

static pawl_status by_function(struct store *store, const struct perspective_apply *in, struct arena *arena,
                               struct apply_result *out, pawl_error *err) {
    struct postgres *self = postgres_of(store);
    struct apply_cut *cuts = NULL;
    struct stored_event *events = NULL;
    struct apply_result result = {0};
    pawl_status status = pg_apply_open(self, err);
    if (status != PAWL_OK)
        return status;
    struct apply_job job = {
        .call = {.connection = self->conn, .dialect = store->dialect, .perspective = in->perspective},
        .function = in->function,
        .self = in->self,
        .marks = pg_apply_marks(self)};
    status = read_batch(self, in, arena, &cuts, &events, err);
    if (status == PAWL_OK)
        status = apply_run(&job, events, cuts, in->stream_count, arena, err);
    if (status == PAWL_OK)
        status = write_end(self, in, arena, cuts, &result, err);
    status = pg_apply_close(self, status, err);
    if (status == PAWL_OK)
        *out = result;
    return status;
}

pawl_status postgres_perspective_apply(struct store *store, const struct perspective_apply *in,
                                       struct arena *arena, struct apply_result *out, pawl_error *err) {
    pawl_status status = check_apply(in, err);
    if (status != PAWL_OK)
        return status;
    return in->function == NULL ? by_sql(store, in, arena, out, err)
                                : by_function(store, in, arena, out, err);
}
