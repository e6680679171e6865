/* Applying events to a perspective, of granted checkpoints or of what it takes itself (advance): its SQL in
 * one call, or a C function inside a transaction of ours. */
#include "store/apply.h"

#include "store/postgres/query.h"

/* One call with a function. */
struct applying {
    struct postgres *self;
    const char *op;
    pawl_str perspective;
    struct arena *arena;
    struct apply_cut *cuts; /* one per stream */
    size_t count;
    pawl_stored_event *events;
    size_t given;
};

static pawl_status script(struct postgres *self, enum postgres_query query, pawl_error *err) {
    char sqlstate[6];
    return pg_script_run(self, "perspective_apply", self->queries[query], sqlstate, err);
}

static pawl_status mark(void *store, pawl_error *err) { return script(store, POSTGRES_Q_SAVEPOINT, err); }

static pawl_status undo(void *store, pawl_error *err) {
    pawl_status status = script(store, POSTGRES_Q_SAVEPOINT_ROLLBACK, err);
    return status == PAWL_OK ? script(store, POSTGRES_Q_SAVEPOINT_RELEASE, err) : status;
}

/* The function must leave the transaction open. */
static pawl_status keep(void *store, pawl_error *err) {
    const struct postgres *self = store;
    if (PQtransactionStatus(self->conn) != PQTRANS_INTRANS)
        return error_set(err, PAWL_UNAVAILABLE, "perspective_apply",
                         "the perspective ended the transaction or left a failed one; it must do neither");
    return script(store, POSTGRES_Q_SAVEPOINT_RELEASE, err);
}

static pawl_status transaction_begin(struct postgres *self, pawl_error *err) {
    pawl_status status = pg_connection_ready(self, "perspective_apply", err);
    return status == PAWL_OK ? script(self, POSTGRES_Q_BEGIN, err) : status;
}

/* Commits it, or rolls it back when status is a failure. */
static pawl_status transaction_end(struct postgres *self, pawl_status status, pawl_error *err) {
    if (status == PAWL_OK)
        status = script(self, POSTGRES_Q_COMMIT, err);
    if (status != PAWL_OK && self->conn != NULL && PQtransactionStatus(self->conn) != PQTRANS_IDLE &&
        script(self, POSTGRES_Q_ROLLBACK, NULL) != PAWL_OK)
        pg_connection_drop(self);
    return status;
}

/* Runs the statement that begins, which gives the cuts; its result is left. */
static pawl_status cuts_begin(struct applying *a, struct statement *begin, pawl_error *err) {
    struct row_list list = {NULL, 0};
    TRY(pg_step_run(a->self, a->op, begin, err));
    TRY(pg_rows_take((struct cell){begin->result, 0, 0}, a->op, &apply_cut_shape, a->arena, &list, err));
    a->cuts = list.rows;
    a->count = list.count;
    return PAWL_OK;
}

/* Columns: the number of its cut, stream, version, {{event}}, replay. */
static pawl_status events_take(struct applying *a, const PGresult *r, pawl_error *err) {
    enum { VERSION = 2, EVENT = 3 };
    bool failed = false;
    a->given = (size_t)PQntuples(r);
    a->events = arena_array(a->arena, a->given, sizeof *a->events);
    if (a->events == NULL)
        return pg_answer_no_memory(a->op, err);
    for (int i = 0; i < (int)a->given; i++) {
        size_t n = (size_t)pg_cell_int((struct cell){r, i, 0});
        if (n < 1 || n > a->count)
            return pg_answer_malformed(a->op, err);
        struct apply_cut *cut = &a->cuts[n - 1];
        pawl_stored_event *event = &a->events[i];
        if (cut->count++ == 0)
            cut->first = (size_t)i;
        event->stream = cut->stream;
        event->version = pg_cell_int((struct cell){r, i, VERSION});
        pg_row_take((struct cell){r, i, EVENT}, &event_kept_shape, a->arena, event, &failed);
        event->replay = pg_cell_bool((struct cell){r, i, EVENT + (int)event_kept_shape.count});
    }
    return failed ? pg_answer_no_memory(a->op, err) : PAWL_OK;
}

/* Gives the function the events of the cuts. */
static pawl_status cuts_apply(struct applying *a, pawl_perspective_fn function, void *self, pawl_error *err) {
    struct statement rows = pg_statement_new(POSTGRES_Q_APPLY_ROWS, a->arena);
    PARAMS(&rows.params, a->perspective, LIST_OF(a->cuts, stream, a->count),
           LIST_OF(a->cuts, from_version, a->count), LIST_OF(a->cuts, through_version, a->count),
           LIST_OF(a->cuts, replay_to, a->count));
    pawl_status status = pg_step_run(a->self, a->op, &rows, err);
    if (status == PAWL_OK)
        status = events_take(a, rows.result, err);
    pg_statement_clear(&rows);
    if (status != PAWL_OK)
        return status;
    struct apply_job job = {
        .call = {.connection = a->self->conn, .dialect = "postgres", .perspective = a->perspective},
        .function = function,
        .self = self,
        .marks = {.store = a->self, .mark = mark, .undo = undo, .keep = keep}};
    return apply_run(&job, a->events, a->cuts, a->count, a->arena, err);
}

/* Runs the statement that moves the checkpoints of `held` cuts, and completes what is answered of them. */
static pawl_status cuts_end(struct applying *a, struct statement *end, size_t held, struct apply_item *items,
                            pawl_error *err) {
    pawl_status status = pg_step_run(a->self, a->op, end, err);
    if (status == PAWL_OK && (size_t)PQntuples(end->result) != held)
        status = pg_answer_malformed(a->op, err);
    for (int i = 0, row = 0; status == PAWL_OK && i < (int)a->count; i++) {
        items[i] = apply_item_of(&a->cuts[i]);
        if (!a->cuts[i].held)
            continue;
        items[i].more = pg_cell_bool((struct cell){end->result, row, 0});
        items[i].outcome = (enum fail_outcome)pg_cell_int((struct cell){end->result, row++, 1});
    }
    pg_statement_clear(end);
    return status;
}

/* ---- Granted checkpoints */

static void apply_params(const struct perspective_apply *in, struct params *p) {
    PARAMS(p, in->perspective, in->token, LIST(in->streams, in->stream_count), in->batch);
}

/* Moves the checkpoints that are still ours. */
static pawl_status apply_end(struct applying *a, const struct perspective_apply *in, struct apply_result *out,
                             pawl_error *err) {
    struct apply_cut *held = arena_array(a->arena, a->count, sizeof *held);
    size_t count = 0;
    *out = (struct apply_result){arena_array(a->arena, a->count, sizeof *out->items), a->count};
    if (held == NULL || out->items == NULL)
        return pg_answer_no_memory(a->op, err);
    for (size_t i = 0; i < a->count; i++)
        if (a->cuts[i].held)
            held[count++] = a->cuts[i];
    struct statement end = pg_statement_new(POSTGRES_Q_APPLY_END, a->arena);
    PARAMS(&end.params, in->perspective, in->token, LIST_OF(held, stream, count),
           LIST_OF(held, version, count), LIST_OF(held, error, count), LIST_OF(held, failed_version, count));
    return cuts_end(a, &end, count, out->items, err);
}

static pawl_status apply_in(struct applying *a, const struct perspective_apply *in, struct apply_result *out,
                            pawl_error *err) {
    struct statement begin = pg_statement_new(POSTGRES_Q_APPLY_BEGIN, a->arena);
    apply_params(in, &begin.params);
    pawl_status status = cuts_begin(a, &begin, err);
    pg_statement_clear(&begin);
    if (status == PAWL_OK && a->count != in->stream_count)
        status = pg_answer_malformed(a->op, err);
    if (status == PAWL_OK)
        status = cuts_apply(a, in->function, in->self, err);
    return status == PAWL_OK ? apply_end(a, in, out, err) : status;
}

pawl_status postgres_perspective_apply(struct store *store, const struct perspective_apply *in,
                                       struct arena *arena, struct apply_result *out, pawl_error *err) {
    struct applying a = {postgres_of(store), "perspective_apply", in->perspective, arena, NULL, 0, NULL, 0};
    struct apply_result result = {0};
    pawl_status status = check_apply(in, err);
    if (in->function == NULL) {
        struct query q = pg_write(store, POSTGRES_Q_PERSPECTIVE_APPLY, a.op, arena, status);
        apply_params(in, &q.statement.params);
        status = pg_list(&q, &apply_item_shape, ROWS_OUT(&result, items), err);
        if (status == PAWL_OK && result.count != in->stream_count)
            status = pg_answer_malformed(a.op, err);
    } else {
        if (status == PAWL_OK)
            status = transaction_begin(a.self, err);
        if (status != PAWL_OK)
            return status;
        status = transaction_end(a.self, apply_in(&a, in, &result, err), err);
    }
    if (status == PAWL_OK)
        *out = result;
    return status;
}

/* ---- Advance */

static void advance_params(const struct perspective_advance *in, struct params *p) {
    PARAMS(p, in->instance, in->perspective, LIST(in->streams, in->stream_count),
           LIST(in->mine, in->mine_count), in->batch);
}

static pawl_status result_make(struct advance_result *out, size_t rows, struct arena *arena,
                               pawl_error *err) {
    *out = (struct advance_result){.streams = arena_array(arena, rows, sizeof *out->streams),
                                   .items = arena_array(arena, rows, sizeof *out->items),
                                   .busy = arena_array(arena, rows, sizeof *out->busy)};
    return out->streams == NULL || out->items == NULL || out->busy == NULL
               ? pg_answer_no_memory("perspective_advance", err)
               : PAWL_OK;
}

/* Columns: stream, and what became of it; a stream without an answer is busy. */
static pawl_status items_take(const PGresult *r, struct arena *arena, struct advance_result *out,
                              pawl_error *err) {
    bool failed = false;
    pawl_status status = result_make(out, (size_t)PQntuples(r), arena, err);
    for (int i = 0; status == PAWL_OK && i < PQntuples(r); i++) {
        pawl_str stream = pg_cell_text((struct cell){r, i, 0}, arena, &failed);
        struct apply_item item = {0};
        pg_row_take((struct cell){r, i, 1}, &apply_item_shape, arena, &item, &failed);
        if ((int)item.answer == 0) {
            out->busy[out->busy_count++] = stream;
            continue;
        }
        out->streams[out->count] = stream;
        out->items[out->count++] = item;
    }
    return failed ? pg_answer_no_memory("perspective_advance", err) : status;
}

/* For SQL the events never leave the database: tracing reads what it needs once the batch is committed. A
 * result without links is better than none, so a failure here is ignored. */
static void links_ask(struct store *store, const struct perspective_advance *in, struct arena *arena,
                      struct advance_result *out) {
    pawl_error ignored;
    int64_t *versions = arena_array(arena, out->count, sizeof *versions);
    int64_t *counts = arena_array(arena, out->count, sizeof *counts);
    if (versions == NULL || counts == NULL)
        return;
    for (size_t i = 0; i < out->count; i++) { /* the one that failed was given, too */
        const struct apply_item *item = &out->items[i];
        bool stopped = item->failed_version > item->version;
        versions[i] = stopped ? item->failed_version : item->version;
        counts[i] = item->events + (stopped ? 1 : 0);
    }
    struct query q = pg_read(store, POSTGRES_Q_ADVANCE_LINKS, "perspective_advance", arena, PAWL_OK);
    SEND(&q, in->perspective, LIST(out->streams, out->count), LIST(versions, out->count),
         LIST(counts, out->count), (int)in->links_max);
    if (pg_list(&q, &text_shape, (struct rows_out){&out->links, &out->link_count, NULL}, &ignored) != PAWL_OK)
        out->link_count = 0;
}

static pawl_status advance_by_sql(struct store *store, const struct perspective_advance *in,
                                  struct arena *arena, struct advance_result *out, pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_PERSPECTIVE_ADVANCE, "perspective_advance", arena, PAWL_OK);
    advance_params(in, &q.statement.params);
    pawl_status status = pg_ask(&q, err);
    if (status == PAWL_OK)
        status = items_take(q.statement.result, arena, out, err);
    pg_statement_clear(&q.statement);
    if (status == PAWL_OK && in->links_max > 0 && out->count > 0)
        links_ask(store, in, arena, out);
    return status;
}

/* The cuts that were taken move to the front; the streams of the others are busy. */
static pawl_status taken_first(struct applying *a, struct advance_result *out, pawl_error *err) {
    size_t taken = 0;
    TRY(result_make(out, a->count, a->arena, err));
    for (size_t i = 0; i < a->count; i++) {
        if (!a->cuts[i].held) {
            out->busy[out->busy_count++] = a->cuts[i].stream;
            continue;
        }
        out->streams[taken] = a->cuts[i].stream;
        a->cuts[taken++] = a->cuts[i];
    }
    a->count = out->count = taken;
    return PAWL_OK;
}

static pawl_status advance_end(struct applying *a, int64_t token, struct advance_result *out,
                               pawl_error *err) {
    int64_t given = 0;
    for (size_t i = 0; i < a->count; i++)
        given += a->cuts[i].events;
    struct statement end = pg_statement_new(POSTGRES_Q_ADVANCE_END, a->arena);
    struct params *p = &end.params;
    PARAMS(p, a->perspective, token, LIST_OF(a->cuts, stream, a->count),
           LIST_OF(a->cuts, from_version, a->count), LIST_OF(a->cuts, version, a->count),
           LIST_OF(a->cuts, head, a->count), LIST_OF(a->cuts, error, a->count),
           LIST_OF(a->cuts, failed_version, a->count), given);
    return cuts_end(a, &end, a->count, out->items, err);
}

static pawl_status advance_in(struct applying *a, const struct perspective_advance *in,
                              struct advance_result *out, pawl_error *err) {
    int64_t token = 0;
    struct statement begin = pg_statement_new(POSTGRES_Q_ADVANCE_BEGIN, a->arena);
    advance_params(in, &begin.params);
    pawl_status status = cuts_begin(a, &begin, err);
    for (int i = 0; status == PAWL_OK && i < (int)a->count; i++) /* a stream that is busy has none */
        if (a->cuts[i].held)
            token = pg_cell_int((struct cell){begin.result, i, (int)apply_cut_shape.count});
    pg_statement_clear(&begin);
    if (status == PAWL_OK)
        status = taken_first(a, out, err);
    if (status != PAWL_OK || a->count == 0)
        return status;
    status = cuts_apply(a, in->function, in->self, err);
    if (status == PAWL_OK)
        status = advance_links(in, a->events, a->given, a->arena, out, err);
    return status == PAWL_OK ? advance_end(a, token, out, err) : status;
}

pawl_status postgres_perspective_advance(struct store *store, const struct perspective_advance *in,
                                         struct arena *arena, struct advance_result *out, pawl_error *err) {
    struct applying a = {postgres_of(store), "perspective_advance", in->perspective, arena, NULL, 0, NULL, 0};
    struct advance_result result = {0};
    pawl_status status = check_advance(in, err);
    if (status == PAWL_OK && in->function == NULL) {
        status = advance_by_sql(store, in, arena, &result, err);
    } else if (status == PAWL_OK) {
        status = transaction_begin(a.self, err);
        if (status != PAWL_OK)
            return status;
        status = transaction_end(a.self, advance_in(&a, in, &result, err), err);
    }
    if (status == PAWL_OK)
        *out = result;
    return status;
}
