/* Applying events to a perspective in the model: C functions only, there is no SQL. */
#include "store/apply.h"

#include "base/error.h"
#include "base/str.h"
#include "store/model/event_state.h"
#include "store/model/events.h"
#include "store/model/log.h"

#define OP "perspective_apply"

static pawl_status no_memory(pawl_error *err) {
    return error_set(err, PAWL_NO_MEMORY, OP, "no memory for the events");
}

pawl_status model_cut_one(struct model *model, const struct kept_perspective *perspective,
                          struct apply_cut *cut, size_t left, struct arena *arena,
                          struct stored_event *events, pawl_error *err) {
    const struct kept_stream *stream = model_event_stream(model, cut->stream);
    pawl_status status = PAWL_OK;
    if (left == 0)
        return PAWL_OK;
    for (int64_t v = cut->from_version + 1; status == PAWL_OK && v <= cut->head && cut->count < left; v++) {
        cut->through_version = v;
        if (!model_perspective_maps(perspective, stream->events[v - 1]->type) ||
            model_skipped(model, perspective->key, cut->stream, v))
            continue;
        struct stored_event *event = &events[cut->first + cut->count++];
        status = model_event_copy(arena, stream->events[v - 1], event, err);
        event->position = 0;
        event->replay = v <= cut->replay_to;
    }
    if (cut->count < left)
        cut->through_version = cut->head;
    return status;
}

pawl_status model_cut(struct model *model, const struct perspective_apply *in, struct arena *arena,
                      struct apply_cut **cuts, struct stored_event **events, pawl_error *err) {
    const struct kept_perspective *perspective = model_perspective_find(model, in->perspective);
    if (!model_perspective_fed(perspective))
        return error_set(err, PAWL_NOT_FOUND, OP, "perspective \"%.*s\" is not registered, or no longer fed",
                         STR_ARG(in->perspective));
    size_t left = (size_t)(in->batch > 0 ? in->batch : perspective->batch);
    *cuts = arena_array(arena, in->stream_count, sizeof **cuts);
    *events = arena_array(arena, left, sizeof **events);
    if (*cuts == NULL || *events == NULL)
        return no_memory(err);
    size_t used = 0;
    pawl_status status = PAWL_OK;
    for (size_t i = 0; status == PAWL_OK && i < in->stream_count; i++) {
        struct apply_cut *cut = &(*cuts)[i];
        const struct checkpoint *c = model_checkpoint_find(model, in->streams[i], in->perspective);
        *cut = (struct apply_cut){.stream = in->streams[i],
                                  .held = c != NULL && c->status == CHECKPOINT_PROCESSING &&
                                          c->token == in->token,
                                  .from_version = c != NULL ? c->version : 0,
                                  .head = model_stream_version(model, in->streams[i]),
                                  .replay_to = c != NULL ? c->replay_to : 0,
                                  .first = used};
        cut->through_version = cut->from_version;
        if (cut->held)
            status = model_cut_one(model, perspective, cut, left - used, arena, *events, err);
        used += cut->count;
    }
    return status;
}

static pawl_status nothing(void *store, pawl_error *err) {
    (void)store;
    (void)err;
    return PAWL_OK;
}

struct apply_marks model_no_marks(void) {
    return (struct apply_marks){.mark = nothing, .undo = nothing, .keep = nothing};
}

static pawl_status move(struct model *model, const struct perspective_apply *in, struct apply_cut *cuts,
                        struct arena *arena, struct apply_result *out, pawl_error *err) {
    out->count = in->stream_count;
    out->items = arena_array(arena, out->count, sizeof *out->items);
    if (out->items == NULL)
        return no_memory(err);
    for (size_t i = 0; i < out->count; i++) {
        struct apply_cut *cut = &cuts[i];
        out->items[i] = apply_item_of(cut);
        if (!cut->held)
            continue;
        struct checkpoint_end end = apply_end_of(cut, in->token);
        out->items[i].more = end.status == CHECKPOINT_PROCESSING;
        out->items[i].outcome =
            model_checkpoint_end(model, model_checkpoint_make(model, cut->stream, in->perspective), &end);
    }
    return PAWL_OK;
}

pawl_status model_perspective_apply(struct store *store, const struct perspective_apply *in,
                                    struct arena *arena, struct apply_result *out, pawl_error *err) {
    pawl_status status = check_apply(in, err);
    if (status == PAWL_OK && in->function == NULL)
        status = error_set(err, PAWL_CONFLICT, OP, "this store runs no SQL; give a function");
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct apply_cut *cuts = NULL;
    struct stored_event *events = NULL;
    struct apply_result result = {0};
    struct apply_job job = {.call = {.dialect = store->dialect, .perspective = in->perspective},
                            .function = in->function,
                            .self = in->self,
                            .marks = model_no_marks()};
    status = model_cut(model, in, arena, &cuts, &events, err);
    if (status == PAWL_OK)
        status = apply_run(&job, events, cuts, in->stream_count, arena, err);
    if (status == PAWL_OK)
        status = move(model, in, cuts, arena, &result, err);
    if (status == PAWL_OK)
        *out = result;
    return model_leave(model, status);
}

pawl_status model_checkpoint_events(struct store *store, const struct checkpoint_ref *ref, int limit,
                                    struct arena *arena, struct checkpoint_batch *out, pawl_error *err) {
    pawl_status status = check_checkpoint_events(ref, limit, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct apply_cut *cut = NULL;
    struct stored_event *events = NULL;
    struct perspective_apply in = {.perspective = ref->perspective,
                                   .token = ref->token,
                                   .streams = &ref->stream,
                                   .stream_count = 1,
                                   .batch = limit};
    status = model_cut(model, &in, arena, &cut, &events, err);
    if (status == PAWL_OK && !cut->held)
        status = error_set(err, PAWL_STALE, "checkpoint_events", "the grant of stream %.*s is over",
                           STR_ARG(ref->stream));
    if (status == PAWL_OK)
        *out = (struct checkpoint_batch){.list = {.events = events, .count = cut->count, .head = cut->head},
                                         .through = cut->through_version,
                                         .more = cut->through_version < cut->head};
    return model_leave(model, status);
}
