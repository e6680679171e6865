/* Dead letters: driven again, or thrown away. */
#include "store/model/dead.h"

#include <stdlib.h>

#include "store/model/aside.h"
#include "store/model/report.h"

static void revive(struct model *model, struct record *record, bool out_of_order) {
    record->attempts = 0;
    record->deaths = 0;
    record->losses = 0;
    record->out_of_order = out_of_order;
    model_record_to_aside(model, record, ASIDE_REDRIVEN, model->now_ms);
    model->tally[record->kind].redriven++;
}

/* The stream goes on: what was parked behind the letter goes aside, in order, and waits for its turn. */
static void hold_go_on(struct model *model, struct stream *stream) {
    size_t count = stream->dead.count;
    struct record **dead = model_list_copy(&stream->dead);
    for (size_t i = 0; i < count; i++) {
        if (dead[i]->reason == DEAD_PARKED)
            revive(model, dead[i], false);
    }
    free(dead);
    if (stream->aside.first != NULL)
        model_hold_set(model, stream, HOLD_WAITING, 0);
    else
        model_hold_drop(model, stream);
}

static enum store_answer dead_end(struct model *model, struct dead_ref ref, bool again) {
    struct record *record = model_record_find_seq(model, ref.kind, ref.seq);
    if (record == NULL || record->place != PLACE_DEAD)
        return ANSWER_NOT_FOUND;
    if (record->reason == DEAD_PARKED)
        return ANSWER_CONFLICT;
    struct stream *stream = record->home;
    bool waited_for = (stream->hold == HOLD_BLOCKED || stream->hold == HOLD_PARKED) &&
                      stream->by_seq == record->seq;
    if (again)
        revive(model, record, !waited_for && !stream->alone);
    if (waited_for)
        hold_go_on(model, stream);
    if (!again) {
        model->tally[ref.kind].discarded++;
        model_record_remove(model, record);
    }
    return ANSWER_APPLIED;
}

struct numbered_ref {
    struct dead_ref ref;
    size_t index;
};

static int ref_compare(const void *a, const void *b) {
    const struct numbered_ref *x = a, *y = b;
    if (x->ref.kind != y->ref.kind)
        return x->ref.kind < y->ref.kind ? -1 : 1;
    if (x->ref.seq != y->ref.seq)
        return x->ref.seq < y->ref.seq ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* In seq order, whatever the order of the call; the answers are in the order of the call. */
static void dead_end_all(struct model *model, const struct dead_ref *refs, bool again,
                         struct answer_list *out) {
    struct numbered_ref *sorted = model_alloc(out->count * sizeof *sorted);
    for (size_t i = 0; i < out->count; i++)
        sorted[i] = (struct numbered_ref){refs[i], i};
    if (out->count > 0)
        qsort(sorted, out->count, sizeof *sorted, ref_compare);
    for (size_t i = 0; i < out->count; i++)
        out->answers[sorted[i].index] = dead_end(model, sorted[i].ref, again);
    free(sorted);
}

pawl_status model_dead_redrive(struct store *store, const struct dead_ref *refs, size_t count,
                               struct arena *arena, struct answer_list *out, pawl_error *err) {
    struct answer_list list = {0};
    pawl_status status = check_dead_refs("dead_redrive", refs, count, err);
    if (status == PAWL_OK)
        status = model_answers_new(arena, count, false, &list, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    dead_end_all(model, refs, true, &list);
    *out = list;
    return model_leave(model, PAWL_OK);
}

pawl_status model_dead_discard(struct store *store, const struct dead_ref *refs, size_t count,
                               struct arena *arena, struct answer_list *out, pawl_error *err) {
    struct answer_list list = {0};
    pawl_status status = check_dead_refs("dead_discard", refs, count, err);
    if (status == PAWL_OK)
        status = model_answers_new(arena, count, false, &list, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    dead_end_all(model, refs, false, &list);
    *out = list;
    return model_leave(model, PAWL_OK);
}
