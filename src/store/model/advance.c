/* Taking, applying and moving what a perspective lacks in one step, in the model. */
#include <stdlib.h>

#include "base/error.h"
#include "base/str.h"
#include "store/model/event_state.h"
#include "store/model/events.h"
#include "store/model/log.h"

#define OP "perspective_advance"

static pawl_status no_memory(pawl_error *err) {
    return error_set(err, PAWL_NO_MEMORY, OP, "no memory for the events");
}

/* What one call works with. */
struct advance {
    struct model *model;
    const struct kept_perspective *perspective;
    struct arena *arena;
    size_t batch;
    struct checkpoint **taken; /* count */
    struct apply_cut *cuts;
    struct stored_event *events;
    size_t count, used;
    int64_t waiting; /* versions behind the checkpoints that were taken */
};

static bool room_left(const struct advance *a) { return a->waiting < (int64_t)a->batch; }

static pawl_status take(struct advance *a, struct checkpoint *c, pawl_error *err) {
    struct apply_cut *cut = &a->cuts[a->count];
    *cut = (struct apply_cut){.held = true,
                              .from_version = c->version,
                              .head = model_stream_version(a->model, c->stream),
                              .replay_to = c->replay_to,
                              .first = a->used};
    size_t room = a->batch - (size_t)a->waiting;
    pawl_status status = str_dup(a->arena, c->stream, &cut->stream, err);
    if (status == PAWL_OK)
        status = model_cut_one(a->model, a->perspective, cut, room, a->arena, a->events, err);
    a->taken[a->count++] = c;
    a->used += cut->count;
    a->waiting += cut->head - cut->from_version;
    return status;
}

/* In order, until what waits in those before fills the batch; named ones that find no room are woken. */
static pawl_status take_all(struct advance *a, const struct perspective_advance *in, struct checkpoint **list,
                            size_t total, pawl_error *err) {
    struct checkpoints_claim claim;
    pawl_status status = PAWL_OK;
    pawl_str *except = arena_array(a->arena, in->mine_count, sizeof *except);
    if (except == NULL)
        return no_memory(err);
    struct checkpoint_look look = advance_look(in, &claim, except);
    claim.max = (int)a->batch;
    if (in->stream_count > 0) {
        size_t behind = model_checkpoints_behind(a->model, &look, list, total);
        for (size_t i = 0; status == PAWL_OK && i < behind; i++) {
            if (room_left(a))
                status = take(a, list[i], err);
            else
                model_checkpoint_wake(a->model, list[i]);
        }
        return status;
    }
    size_t due = model_checkpoints_due(a->model, &claim, list, total);
    for (size_t i = 0; status == PAWL_OK && i < due && room_left(a); i++) {
        if (!model_checkpoint_idle(a->model, list[i]))
            status = take(a, list[i], err);
    }
    return status;
}

static pawl_status move(struct advance *a, struct advance_result *out, pawl_error *err) {
    int64_t token = a->count > 0 ? model_token_next(a->model) : 0;
    out->count = a->count;
    out->streams = arena_array(a->arena, a->count, sizeof *out->streams);
    out->items = arena_array(a->arena, a->count, sizeof *out->items);
    if (out->streams == NULL || out->items == NULL)
        return no_memory(err);
    for (size_t i = 0; i < a->count; i++) {
        struct checkpoint_end end = advance_end_of(&a->cuts[i], token);
        out->streams[i] = a->cuts[i].stream;
        out->items[i] = apply_item_of(&a->cuts[i]);
        out->items[i].more = end.status == CHECKPOINT_PENDING;
        out->items[i].outcome = model_checkpoint_end(a->model, a->taken[i], &end);
    }
    return PAWL_OK;
}

static pawl_status advance(struct advance *a, const struct perspective_advance *in,
                           struct advance_result *out, pawl_error *err) {
    size_t total = 0;
    struct checkpoint **list = model_checkpoints_sorted(a->model, &total);
    a->batch = (size_t)(in->batch > 0 ? in->batch : a->perspective->batch);
    a->taken = arena_array(a->arena, total, sizeof(void *));
    a->cuts = arena_array(a->arena, total, sizeof *a->cuts);
    a->events = arena_array(a->arena, a->batch, sizeof *a->events);
    struct apply_job job = {.call = {.dialect = "model", .perspective = in->perspective},
                            .function = in->function,
                            .self = in->self,
                            .marks = model_no_marks()};
    pawl_status status = a->taken == NULL || a->cuts == NULL || a->events == NULL
                             ? no_memory(err)
                             : take_all(a, in, list, total, err);
    if (status == PAWL_OK)
        status = apply_run(&job, a->events, a->cuts, a->count, a->arena, err);
    if (status == PAWL_OK)
        status = move(a, out, err);
    if (status == PAWL_OK)
        status = advance_links(in, a->events, a->used, a->arena, out, err);
    free(list);
    return status;
}

pawl_status model_perspective_advance(struct store *store, const struct perspective_advance *in,
                                      struct arena *arena, struct advance_result *out, pawl_error *err) {
    pawl_status status = check_advance(in, err);
    if (status == PAWL_OK && in->function == NULL)
        status = error_set(err, PAWL_CONFLICT, OP, "this store runs no SQL; give a function");
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    const struct instance *caller = model_instance_find(model, in->instance);
    struct advance a = {
        .model = model, .perspective = model_perspective_find(model, in->perspective), .arena = arena};
    struct advance_result result = {0};
    if (caller == NULL || !model_instance_live(model, caller))
        status = error_set(err, PAWL_STALE, OP, "the instance is evicted: drop everything and register anew");
    else if (!model_perspective_fed(a.perspective))
        status = error_set(err, PAWL_NOT_FOUND, OP,
                           "perspective \"%.*s\" is not registered, or no longer fed",
                           STR_ARG(in->perspective));
    else
        status = advance(&a, in, &result, err);
    if (status == PAWL_OK)
        *out = result;
    return model_leave(model, status);
}
