/* Taking, applying and moving what a perspective lacks: its SQL in one call, or a C function inside a
 * transaction of ours. */
#include "base/error.h"
#include "base/str.h"
#include "store/postgres/calls.h"
#include "store/postgres/events/apply.h"
#include "store/postgres/events/event_calls.h"

#define OP "perspective_advance"

/* The streams that are busy and, after them, those that were taken. */
static pawl_status result_make(struct advance_result *out, size_t rows, struct arena *arena,
                               pawl_error *err) {
    *out = (struct advance_result){.streams = arena_array(arena, rows, sizeof *out->streams),
                                   .items = arena_array(arena, rows, sizeof *out->items),
                                   .busy = arena_array(arena, rows, sizeof *out->busy)};
    return out->streams == NULL || out->items == NULL || out->busy == NULL ? pg_answer_no_memory(OP, err)
                                                                           : PAWL_OK;
}

static void params_fill(struct params *p, const struct perspective_advance *in) {
    pg_params_uuid(p, in->instance);
    pg_params_text(p, in->perspective);
    pg_params_texts(p, (struct strided){in->streams, sizeof *in->streams, in->stream_count});
    pg_params_texts(p, (struct strided){in->mine, sizeof *in->mine, in->mine_count});
    pg_params_int(p, in->batch);
}

static pawl_status items_take(const PGresult *r, struct arena *arena, struct advance_result *out,
                              pawl_error *err) {
    bool failed = false;
    pawl_status status = result_make(out, (size_t)PQntuples(r), arena, err);
    for (int i = 0; status == PAWL_OK && i < PQntuples(r); i++) {
        pawl_str stream = pg_cell_text((struct cell){r, i, 0}, arena, &failed);
        struct apply_item item = pg_apply_item((struct cell){r, i, 1}, arena, &failed);
        if ((int)item.answer == 0) {
            out->busy[out->busy_count++] = stream;
            continue;
        }
        out->streams[out->count] = stream;
        out->items[out->count++] = item;
    }
    return failed ? pg_answer_no_memory(OP, err) : status;
}

/* The events of SQL never leave the database: tracing asks for what it needs of them, once the batch is
 * committed. An answer without links is better than none, so a failure here is ignored. */
static void links_ask(struct store *store, const struct perspective_advance *in, struct arena *arena,
                      struct advance_result *out) {
    pawl_error ignored;
    bool failed = false;
    int64_t *versions = arena_array(arena, out->count, sizeof *versions);
    int64_t *counts = arena_array(arena, out->count, sizeof *counts);
    pawl_str *links = arena_array(arena, in->links_max, sizeof *links);
    if (versions == NULL || counts == NULL || links == NULL)
        return;
    for (size_t i = 0; i < out->count; i++) { /* the one that failed was given, too */
        const struct apply_item *item = &out->items[i];
        bool stopped = item->failed_version > item->version;
        versions[i] = stopped ? item->failed_version : item->version;
        counts[i] = item->events + (stopped ? 1 : 0);
    }
    struct statement statement = pg_statement_new(POSTGRES_Q_ADVANCE_LINKS, arena);
    struct params *p = &statement.params;
    pg_params_text(p, in->perspective);
    pg_params_texts(p, (struct strided){out->streams, sizeof *out->streams, out->count});
    pg_params_bigs(p, (struct strided){versions, sizeof *versions, out->count});
    pg_params_bigs(p, (struct strided){counts, sizeof *counts, out->count});
    pg_params_int(p, (int)in->links_max);
    if (pg_statement_run(postgres_of(store), OP, &statement, EFFECT_READ, &ignored) == PAWL_OK) {
        size_t count = (size_t)PQntuples(statement.result);
        for (size_t i = 0; i < count; i++)
            links[i] = pg_cell_text((struct cell){statement.result, (int)i, 0}, arena, &failed);
        out->links = links;
        out->link_count = failed ? 0 : count;
    }
    pg_statement_clear(&statement);
}

static pawl_status by_sql(struct store *store, const struct perspective_advance *in, struct arena *arena,
                          struct advance_result *out, pawl_error *err) {
    struct statement statement = pg_statement_new(POSTGRES_Q_PERSPECTIVE_ADVANCE, arena);
    struct advance_result result = {0};
    params_fill(&statement.params, in);
    pawl_status status = pg_statement_run(postgres_of(store), OP, &statement, EFFECT_WRITE, err);
    if (status == PAWL_OK)
        status = items_take(statement.result, arena, &result, err);
    pg_statement_clear(&statement);
    if (status == PAWL_OK && in->links_max > 0 && result.count > 0)
        links_ask(store, in, arena, &result);
    if (status == PAWL_OK)
        *out = result;
    return status;
}

static pawl_status begin(struct postgres *self, const struct perspective_advance *in, struct arena *arena,
                         struct apply_cut **cuts, int64_t *token, struct advance_result *out,
                         pawl_error *err) {
    struct statement statement = pg_statement_new(POSTGRES_Q_ADVANCE_BEGIN, arena);
    params_fill(&statement.params, in);
    pawl_status status = pg_step_run(self, OP, &statement, err);
    const PGresult *r = statement.result;
    bool failed = false;
    if (status == PAWL_OK)
        status = result_make(out, (size_t)PQntuples(r), arena, err);
    if (status == PAWL_OK) {
        *cuts = arena_array(arena, (size_t)PQntuples(r), sizeof **cuts);
        failed = *cuts == NULL;
    }
    for (int i = 0; status == PAWL_OK && !failed && i < PQntuples(r); i++) {
        pawl_str stream = pg_cell_text((struct cell){r, i, 1}, arena, &failed);
        if (!pg_cell_bool((struct cell){r, i, 0})) {
            out->busy[out->busy_count++] = stream;
            continue;
        }
        out->streams[out->count] = stream;
        (*cuts)[out->count++] = (struct apply_cut){
            .stream = stream,
            .held = true,
            .from_version = pg_cell_int((struct cell){r, i, 2}),
            .through_version = pg_cell_int((struct cell){r, i, 3}),
            .head = pg_cell_int((struct cell){r, i, 4}),
            .replay_to = pg_cell_int((struct cell){r, i, 5}),
        };
        *token = pg_cell_int((struct cell){r, i, 6});
    }
    pg_statement_clear(&statement);
    return failed ? pg_answer_no_memory(OP, err) : status;
}

static pawl_status end(struct postgres *self, const struct perspective_advance *in, struct arena *arena,
                       const struct apply_cut *cuts, int64_t token, struct advance_result *out,
                       pawl_error *err) {
    int64_t given = 0;
    for (size_t i = 0; i < out->count; i++) {
        out->items[i] = apply_item_of(&cuts[i]);
        given += cuts[i].events;
    }
    struct statement statement = pg_statement_new(POSTGRES_Q_ADVANCE_END, arena);
    struct params *p = &statement.params;
    pg_params_text(p, in->perspective);
    pg_params_big(p, token);
    pg_params_texts(p, STRIDED(cuts, stream, out->count));
    pg_params_bigs(p, STRIDED(cuts, from_version, out->count));
    pg_params_bigs(p, STRIDED(cuts, version, out->count));
    pg_params_bigs(p, STRIDED(cuts, head, out->count));
    pg_params_texts(p, STRIDED(cuts, error, out->count));
    pg_params_bigs(p, STRIDED(cuts, failed_version, out->count));
    pg_params_big(p, given);
    pawl_status status = pg_step_run(self, OP, &statement, err);
    if (status == PAWL_OK && (size_t)PQntuples(statement.result) != out->count)
        status = pg_answer_malformed(OP, err);
    for (size_t i = 0; status == PAWL_OK && i < out->count; i++) {
        out->items[i].more = pg_cell_bool((struct cell){statement.result, (int)i, 0});
        out->items[i].outcome = (enum fail_outcome)pg_cell_int((struct cell){statement.result, (int)i, 1});
    }
    pg_statement_clear(&statement);
    return status;
}

static size_t given_count(const struct apply_cut *cuts, size_t count) {
    size_t given = 0;
    for (size_t i = 0; i < count; i++)
        given += cuts[i].count;
    return given;
}

static pawl_status by_function(struct store *store, const struct perspective_advance *in, struct arena *arena,
                               struct advance_result *out, pawl_error *err) {
    struct postgres *self = postgres_of(store);
    struct apply_cut *cuts = NULL;
    struct stored_event *events = NULL;
    struct advance_result result = {0};
    int64_t token = 0;
    pawl_status status = pg_apply_open(self, err);
    if (status != PAWL_OK)
        return status;
    struct apply_job job = {
        .call = {.connection = self->conn, .dialect = store->dialect, .perspective = in->perspective},
        .function = in->function,
        .self = in->self,
        .marks = pg_apply_marks(self)};
    status = begin(self, in, arena, &cuts, &token, &result, err);
    if (status == PAWL_OK && result.count > 0)
        status = pg_apply_events(self, in->perspective, cuts, result.count, arena, &events, err);
    if (status == PAWL_OK && result.count > 0)
        status = apply_run(&job, events, cuts, result.count, arena, err);
    if (status == PAWL_OK && result.count > 0)
        status = advance_links(in, events, given_count(cuts, result.count), arena, &result, err);
    if (status == PAWL_OK && result.count > 0)
        status = end(self, in, arena, cuts, token, &result, err);
    status = pg_apply_close(self, status, err);
    if (status == PAWL_OK)
        *out = result;
    return status;
}

pawl_status postgres_perspective_advance(struct store *store, const struct perspective_advance *in,
                                         struct arena *arena, struct advance_result *out, pawl_error *err) {
    pawl_status status = check_advance(in, err);
    if (status != PAWL_OK)
        return status;
    return in->function == NULL ? by_sql(store, in, arena, out, err)
                                : by_function(store, in, arena, out, err);
}
