/* Applying events to a perspective on SQLite, of granted checkpoints or of what it takes itself (advance):
 * its SQL, or a C function in the same transaction. */
#include "store/apply.h"

#include "base/error.h"
#include "base/str.h"
#include "store/sqlite/events/event_table.h"
#include "store/sqlite/events/events.h"
#include "store/sqlite/events/user_sql.h"
#include "store/sqlite/fleet/instance.h"

/* Which events a perspective gets: looked up once if it has few types and no skips. */
enum { WANTED_TYPES_MAX = 16 };
struct wanted_events {
    pawl_str key;
    bool by_type, skips;
    pawl_str types[WANTED_TYPES_MAX + 1];
    size_t count;
};
/* Types in the scratch. */
static pawl_status wanted_read(struct operation *op, pawl_str key, struct wanted_events *out) {
    *out = (struct wanted_events){.key = key};
    TRY(statement_any(SQL(op, SQLITE_Q_SKIP_ANY, key), &out->skips));
    struct statement s = SQL(op, SQLITE_Q_MAPPING_TYPES, key, WANTED_TYPES_MAX + 1);
    while (out->count <= WANTED_TYPES_MAX && statement_next(&s))
        out->types[out->count++] = column_copy(&s, 0, op->scratch);
    out->by_type = !out->skips && out->count <= WANTED_TYPES_MAX;
    return statement_end(&s);
}

static bool is_wanted(const struct wanted_events *wanted, pawl_str type) {
    bool found = !wanted->by_type;
    for (size_t i = 0; i < wanted->count && !found; i++)
        found = str_equal(wanted->types[i], type);
    return found;
}

static pawl_status events_cut(struct operation *op, const struct wanted_events *wanted, struct apply_cut *cut,
                              size_t left, struct arena *arena, pawl_stored_event *events) {
    enum { TYPE = 4 };
    if (left == 0)
        return PAWL_OK;
    struct statement s =
        wanted->by_type
            ? SQL(op, SQLITE_Q_EVENT_RANGE, cut->stream, cut->from_version, cut->head)
            : SQL(op, SQLITE_Q_EVENT_NEXT, cut->stream, cut->from_version, cut->head, wanted->key, left);
    while (cut->count < left && statement_next(&s)) {
        if (!is_wanted(wanted, column_borrow(&s, TYPE)))
            continue;
        pawl_stored_event *event = &events[cut->first + cut->count++];
        *event = event_column(&s, arena);
        event->position = 0;
        event->replay = event->version <= cut->replay_to;
        cut->through_version = event->version;
    }
    if (cut->count < left)
        cut->through_version = cut->head;
    return statement_end(&s);
}

/* The perspective, which must be fed, and what it wants. */
static pawl_status fed_read(struct operation *op, pawl_str key, struct perspective_brief *perspective,
                            struct wanted_events *wanted) {
    TRY(perspective_read(op, key, perspective));
    if (!perspective_fed(perspective))
        return error_set(op->err, PAWL_NOT_FOUND, op->name,
                         "perspective \"%.*s\" is not registered, or no longer fed", STR_ARG(key));
    return wanted_read(op, key, wanted);
}

static struct apply_cut cut_of(const struct checkpoint_view *v, bool held, size_t first) {
    return (struct apply_cut){.stream = v->stream,
                              .held = held,
                              .from_version = v->version,
                              .through_version = v->version,
                              .head = v->head,
                              .replay_to = v->replay_to,
                              .first = first};
}

static pawl_status cut_all(struct operation *op, const struct perspective_apply *in, struct arena *arena,
                           struct perspective_brief *perspective, struct apply_cut **cuts,
                           pawl_stored_event **events) {
    struct wanted_events wanted;
    TRY(fed_read(op, in->perspective, perspective, &wanted));
    size_t left = (size_t)(in->batch > 0 ? in->batch : perspective->batch), used = 0;
    *cuts = arena_array(arena, in->stream_count, sizeof **cuts);
    *events = arena_array(arena, left, sizeof **events);
    if (*cuts == NULL || *events == NULL)
        return operation_no_memory(op);
    for (size_t i = 0; i < in->stream_count; i++) {
        struct checkpoint_state c;
        struct apply_cut *cut = &(*cuts)[i];
        TRY(checkpoint_read(op, in->streams[i], in->perspective, &c));
        c.view.stream = in->streams[i];
        *cut = cut_of(&c.view, c.found && c.view.status == CHECKPOINT_PROCESSING && c.view.token == in->token,
                      used);
        if (cut->held)
            TRY(events_cut(op, &wanted, cut, left - used, arena, *events));
        used += cut->count;
    }
    return PAWL_OK;
}

static pawl_status mark(void *store, pawl_error *err) {
    struct operation *op = store;
    (void)err;
    return statement_run(statement_begin(op, SQLITE_Q_SEND_SAVEPOINT));
}

static pawl_status keep(void *store, pawl_error *err) {
    struct operation *op = store;
    if (sqlite3_get_autocommit(op->store->db) != 0)
        return error_set(err, PAWL_UNAVAILABLE, op->name,
                         "the perspective ended the transaction; it must not");
    return statement_run(statement_begin(op, SQLITE_Q_SEND_RELEASE));
}

static pawl_status undo(void *store, pawl_error *err) {
    struct operation *op = store;
    TRY(statement_run(statement_begin(op, SQLITE_Q_SEND_ROLLBACK)));
    return keep(store, err);
}

/* A perspective in SQL is a function that runs it. */
struct sql_perspective {
    struct operation *op;
    pawl_str sql;
};

static pawl_status run_sql(const pawl_perspective_call *call, void *self, pawl_error *err) {
    struct sql_perspective *perspective = self;
    struct event_batch rows = {call->events, call->count};
    if (event_table_named(perspective->sql))
        return user_sql_rows(perspective->op, perspective->sql, &rows, err);
    struct buf json;
    buf_init(&json, 0);
    apply_json(&json, call->events, call->count);
    pawl_status status = buf_status(&json, "perspective_apply", err);
    if (status == PAWL_OK)
        status = user_sql_run(perspective->op, perspective->sql, buf_str(&json), err);
    buf_free(&json);
    return status;
}

static pawl_status move(struct operation *op, const struct perspective_apply *in,
                        const struct apply_cut *cuts, struct apply_result *out) {
    for (size_t i = 0; i < out->count; i++) {
        const struct apply_cut *cut = &cuts[i];
        struct checkpoint_state c;
        out->items[i] = apply_item_of(cut);
        if (!cut->held)
            continue;
        struct checkpoint_end end = apply_end_of(cut, in->token);
        out->items[i].more = end.status == CHECKPOINT_PROCESSING;
        TRY(checkpoint_read(op, cut->stream, in->perspective, &c));
        TRY(checkpoint_end(op, &c, &end, &out->items[i].outcome));
    }
    return PAWL_OK;
}

static pawl_status events_apply(struct operation *op, const struct perspective_apply *in,
                                const struct perspective_brief *perspective, const pawl_stored_event *events,
                                struct apply_cut *cuts, struct arena *arena) {
    if (in->function == NULL && perspective->run != RUN_SQL)
        return error_set(op->err, PAWL_INVALID, op->name, "perspective \"%.*s\" has no SQL to run",
                         STR_ARG(in->perspective));
    struct sql_perspective sql = {op, perspective->target};
    struct apply_job job = {
        .call = {.connection = op->store->db, .dialect = "sqlite", .perspective = in->perspective},
        .function = in->function != NULL ? in->function : run_sql,
        .self = in->function != NULL ? in->self : &sql,
        .marks = {.store = op, .mark = mark, .undo = undo, .keep = keep}};
    return apply_run(&job, events, cuts, in->stream_count, arena, op->err);
}

static pawl_status apply(struct operation *op, const struct perspective_apply *in, struct arena *arena,
                         struct apply_result *out) {
    struct perspective_brief perspective;
    struct apply_cut *cuts = NULL;
    pawl_stored_event *events = NULL;
    TRY(cut_all(op, in, arena, &perspective, &cuts, &events));
    out->count = in->stream_count;
    out->items = arena_array(arena, out->count, sizeof *out->items);
    if (out->items == NULL)
        return operation_no_memory(op);
    TRY(events_apply(op, in, &perspective, events, cuts, arena));
    return move(op, in, cuts, out);
}

pawl_status sqlite_perspective_apply(struct store *store, const struct perspective_apply *in,
                                     struct arena *arena, struct apply_result *out, pawl_error *err) {
    struct apply_result result = {0};
    struct operation op = operation_write(store, "perspective_apply", check_apply(in, err), err);
    return operation_give(&op, apply(&op, in, arena, &result), out, &result);
}

pawl_status sqlite_checkpoint_events(struct store *store, const struct checkpoint_ref *ref, int limit,
                                     struct arena *arena, struct checkpoint_batch *out, pawl_error *err) {
    struct perspective_brief perspective;
    struct apply_cut *cut = NULL;
    pawl_stored_event *events = NULL;
    struct checkpoint_batch batch = {0};
    struct perspective_apply in = {.perspective = ref->perspective,
                                   .token = ref->token,
                                   .streams = &ref->stream,
                                   .stream_count = 1,
                                   .batch = limit};
    struct operation op =
        operation_read(store, "checkpoint_events", check_checkpoint_events(ref, limit, err), err);
    if (op.status != PAWL_OK)
        return op.status;
    pawl_status status = cut_all(&op, &in, arena, &perspective, &cut, &events);
    if (status == PAWL_OK && !cut->held)
        status =
            error_set(err, PAWL_STALE, op.name, "the grant of stream %.*s has ended", STR_ARG(ref->stream));
    if (status == PAWL_OK)
        batch = (struct checkpoint_batch){.list = {.events = events, .count = cut->count, .head = cut->head},
                                          .through = cut->through_version,
                                          .more = cut->through_version < cut->head};
    return operation_give(&op, status, out, &batch);
}

/* ---- Advance: claim, apply and move in one transaction */

/* The state of one call. */
struct advance {
    struct operation *op;
    const struct perspective_advance *in;
    struct perspective_brief perspective;
    struct arena *arena;
    int64_t batch, waiting; /* waiting: versions after the checkpoints that were taken */
    struct picked taken;
    struct wanted_events wanted;
    struct apply_cut *cuts;
    pawl_stored_event *events; /* used */
    size_t used;
};

static pawl_status take(struct advance *a, const struct checkpoint_state *c) {
    a->waiting += c->view.head - c->view.version;
    return checkpoint_pick(a->op, &a->taken, c);
}

/* Takes the named streams; those without room are marked as due. */
static pawl_status take_named(struct advance *a) {
    const pawl_str *key = &a->in->perspective;
    struct runnable runnable = {.keys = &key, .count = a->perspective.paused ? 0 : 1};
    struct checkpoints_claim claim;
    struct picked behind = {0};
    pawl_str *except = arena_array(a->op->scratch, a->in->mine_count, sizeof *except);
    if (except == NULL)
        return operation_no_memory(a->op);
    struct checkpoint_look look = advance_look(a->in, &claim, except);
    claim.max = (int)a->batch;
    TRY(checkpoints_take_streams(a->op, &look, &runnable, &behind));
    for (size_t i = 0; i < behind.count; i++)
        TRY(a->waiting < a->batch ? take(a, &behind.rows[i]) : checkpoint_wake(a->op, &behind.rows[i]));
    return PAWL_OK;
}

/* Oldest first, until what waits in those before fills the batch. */
static pawl_status take_due(struct advance *a) {
    struct picked idle = {0};
    pawl_status status = PAWL_OK;
    if (a->perspective.paused)
        return PAWL_OK;
    struct statement s = SQL(a->op, SQLITE_Q_CHECKPOINT_DUE, a->in->perspective, a->op->now_ms, a->batch);
    while (status == PAWL_OK && a->waiting < a->batch && statement_next(&s)) {
        struct checkpoint_state c = checkpoint_column(&s, a->op->scratch);
        status = c.view.version < c.view.head ? take(a, &c) : checkpoint_pick(a->op, &idle, &c);
    }
    status = statement_close(&s, status);
    for (size_t i = 0; status == PAWL_OK && i < idle.count; i++)
        status = checkpoint_idle(a->op, &idle.rows[i]);
    return status;
}

/* A stream gets what the streams before it leave of the batch. */
static pawl_status advance_cut(struct advance *a) {
    int64_t before = 0;
    a->cuts = arena_array(a->arena, a->taken.count, sizeof *a->cuts);
    a->events = arena_array(a->op->scratch, (size_t)a->batch, sizeof *a->events);
    if (a->cuts == NULL || a->events == NULL)
        return operation_no_memory(a->op);
    for (size_t i = 0; i < a->taken.count; i++) {
        const struct checkpoint_view *v = &a->taken.rows[i].view;
        struct apply_cut *one = &a->cuts[i];
        *one = cut_of(v, true, a->used);
        TRY(events_cut(a->op, &a->wanted, one, (size_t)(a->batch - before), a->op->scratch, a->events));
        a->used += one->count;
        before += v->head - v->version;
    }
    return PAWL_OK;
}

static pawl_status advance_move(struct advance *a, struct advance_result *out) {
    int64_t token = operation_next_token(a->op), given = 0;
    bool failed = false;
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < a->taken.count; i++) {
        failed = failed || !str_absent(a->cuts[i].error);
        given += a->cuts[i].events;
    }
    bool counted = !a->wanted.skips && !failed; /* else what was passed over is counted stream by stream */
    for (size_t i = 0; status == PAWL_OK && i < a->taken.count; i++) {
        struct checkpoint_end end = advance_end_of(&a->cuts[i], token);
        end.counted = counted;
        out->items[i] = apply_item_of(&a->cuts[i]);
        out->items[i].more = end.status == CHECKPOINT_PENDING;
        status = checkpoint_end(a->op, &a->taken.rows[i], &end, &out->items[i].outcome);
        if (status == PAWL_OK)
            status = str_dup(a->arena, a->cuts[i].stream, &out->streams[i], a->op->err);
    }
    out->count = a->taken.count;
    return status == PAWL_OK && counted ? perspective_count_applied(a->op, a->in->perspective, given)
                                        : status;
}

static pawl_status advance(struct advance *a, struct advance_result *out) {
    TRY(instance_must_be_live(a->op, a->in->instance));
    TRY(fed_read(a->op, a->in->perspective, &a->perspective, &a->wanted));
    a->batch = a->in->batch > 0 ? a->in->batch : a->perspective.batch;
    TRY(a->in->stream_count > 0 ? take_named(a) : take_due(a));
    if (a->taken.count == 0)
        return PAWL_OK;
    out->streams = arena_array(a->arena, a->taken.count, sizeof *out->streams);
    out->items = arena_array(a->arena, a->taken.count, sizeof *out->items);
    if (out->streams == NULL || out->items == NULL)
        return operation_no_memory(a->op);
    struct perspective_apply apply = {.perspective = a->in->perspective,
                                      .stream_count = a->taken.count,
                                      .function = a->in->function,
                                      .self = a->in->self};
    TRY(advance_cut(a));
    TRY(events_apply(a->op, &apply, &a->perspective, a->events, a->cuts, a->arena));
    TRY(advance_links(a->in, a->events, a->used, a->arena, out, a->op->err));
    return advance_move(a, out);
}

pawl_status sqlite_perspective_advance(struct store *store, const struct perspective_advance *in,
                                       struct arena *arena, struct advance_result *out, pawl_error *err) {
    struct advance_result result = {0};
    struct operation op = operation_write(store, "perspective_advance", check_advance(in, err), err);
    struct advance a = {.op = &op, .in = in, .arena = arena};
    return operation_give(&op, advance(&a, &result), out, &result);
}
