/* Advancing a perspective on SQLite: claim, apply and move in one transaction. */
#include "base/error.h"
#include "base/str.h"
#include "store/sqlite/events/events.h"
#include "store/sqlite/fleet/instance.h"

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
    struct stored_event *events; /* used */
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
    pawl_status status = checkpoints_take_streams(a->op, &look, &runnable, &behind);
    for (size_t i = 0; status == PAWL_OK && i < behind.count; i++)
        status = a->waiting < a->batch ? take(a, &behind.rows[i]) : checkpoint_wake(a->op, &behind.rows[i]);
    return status;
}

/* Oldest first, until what waits in those before fills the batch. */
static pawl_status take_due(struct advance *a) {
    struct picked idle = {0};
    pawl_status status = PAWL_OK;
    if (a->perspective.paused)
        return PAWL_OK;
    struct statement s = statement_begin(a->op, SQLITE_Q_CHECKPOINT_DUE);
    bind_text(&s, a->in->perspective);
    bind_int(&s, a->op->now_ms);
    bind_int(&s, a->batch);
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
static pawl_status cut(struct advance *a) {
    int64_t before = 0;
    pawl_status status = wanted_read(a->op, a->in->perspective, &a->wanted);
    a->cuts = arena_array(a->arena, a->taken.count, sizeof *a->cuts);
    a->events = arena_array(a->op->scratch, (size_t)a->batch, sizeof *a->events);
    if (a->cuts == NULL || a->events == NULL)
        return operation_no_memory(a->op);
    for (size_t i = 0; status == PAWL_OK && i < a->taken.count; i++) {
        const struct checkpoint_view *v = &a->taken.rows[i].view;
        struct apply_cut *one = &a->cuts[i];
        *one = (struct apply_cut){.stream = v->stream,
                                  .held = true,
                                  .from_version = v->version,
                                  .through_version = v->version,
                                  .head = v->head,
                                  .replay_to = v->replay_to,
                                  .first = a->used};
        status = events_cut(a->op, &a->wanted, one, (size_t)(a->batch - before), a->op->scratch, a->events);
        a->used += one->count;
        before += v->head - v->version;
    }
    return status;
}

static pawl_status move(struct advance *a, struct advance_result *out) {
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
    pawl_status status = instance_must_be_live(a->op, a->in->instance);
    if (status == PAWL_OK)
        status = perspective_read(a->op, a->in->perspective, &a->perspective);
    if (status == PAWL_OK && !perspective_fed(&a->perspective))
        status = error_set(a->op->err, PAWL_NOT_FOUND, a->op->name,
                           "perspective \"%.*s\" is not registered, or no longer fed",
                           STR_ARG(a->in->perspective));
    a->batch = a->in->batch > 0 ? a->in->batch : a->perspective.batch;
    if (status == PAWL_OK)
        status = a->in->stream_count > 0 ? take_named(a) : take_due(a);
    if (status != PAWL_OK || a->taken.count == 0)
        return status;
    out->streams = arena_array(a->arena, a->taken.count, sizeof *out->streams);
    out->items = arena_array(a->arena, a->taken.count, sizeof *out->items);
    if (out->streams == NULL || out->items == NULL)
        return operation_no_memory(a->op);
    struct perspective_apply apply = {.perspective = a->in->perspective,
                                      .stream_count = a->taken.count,
                                      .function = a->in->function,
                                      .self = a->in->self};
    status = cut(a);
    if (status == PAWL_OK)
        status = events_apply(a->op, &apply, &a->perspective, a->events, a->cuts, a->arena);
    if (status == PAWL_OK)
        status = advance_links(a->in, a->events, a->used, a->arena, out, a->op->err);
    return status == PAWL_OK ? move(a, out) : status;
}

pawl_status sqlite_perspective_advance(struct store *store, const struct perspective_advance *in,
                                       struct arena *arena, struct advance_result *out, pawl_error *err) {
    struct operation op;
    struct advance_result result = {0};
    pawl_status status = check_advance(in, err);
    if (!operation_begin(&op, store, OPERATION_WRITE, "perspective_advance", &status, err))
        return status;
    struct advance a = {.op = &op, .in = in, .arena = arena};
    return operation_give(&op, advance(&a, &result), out, &result);
}
