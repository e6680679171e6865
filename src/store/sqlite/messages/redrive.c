/* Redriving, discarding and editing dead letters on SQLite. */
#include <stdlib.h>

#include "base/str.h"
#include "store/sqlite/file/row.h"
#include "store/sqlite/messages/dead.h"

struct letter {
    struct dead_ref ref;
    int lane;
    pawl_str key;
    enum dead_reason reason;
    bool has_stream;
};

LOCAL_SHAPE(letter, struct letter, M(lane), M(key), M(reason), M(has_stream));

static pawl_status find_letter(struct operation *op, const struct dead_ref *ref, struct letter *letter,
                               bool *found) {
    *letter = (struct letter){.ref = *ref};
    return row_find(SQL(op, SQLITE_Q_DEAD_FIND, ref->kind, ref->seq), &letter_shape, op->scratch, letter,
                    found);
}

static pawl_status delete_letter(struct operation *op, enum store_kind kind, int64_t seq) {
    op->tally[kind].dead--;
    return statement_run(SQL(op, SQLITE_Q_DEAD_DELETE, kind, seq));
}

static pawl_status revive(struct operation *op, enum store_kind kind, int64_t seq, bool out_of_order) {
    TRY(statement_run(SQL(op, SQLITE_Q_DEAD_TO_ASIDE, kind, seq, op->now_ms, out_of_order)));
    op->tally[kind].aside++;
    op->tally[kind].redriven++;
    return delete_letter(op, kind, seq);
}

static pawl_status revive_parked(struct operation *op, const struct letter *letter) {
    bool more = true;
    while (more) {
        int64_t seq = 0;
        TRY(statement_number(SQL(op, SQLITE_Q_DEAD_PARKED, letter->ref.kind, letter->key), &seq, &more));
        if (more)
            TRY(revive(op, letter->ref.kind, seq, false));
    }
    return PAWL_OK;
}

/* One reference; `discard`: without the message itself. */
static pawl_status bring_back(struct operation *op, const struct dead_ref *ref, bool discard,
                              enum store_answer *answer) {
    struct letter letter;
    struct hold hold = {0};
    bool found = false, held = false;
    pawl_status status = find_letter(op, ref, &letter, &found);
    if (status != PAWL_OK)
        return status;
    if (!found || letter.reason == DEAD_PARKED) {
        *answer = found ? ANSWER_CONFLICT : ANSWER_NOT_FOUND;
        return PAWL_OK;
    }
    *answer = ANSWER_APPLIED;
    status = hold_find(op, ref->kind, letter.key, &hold, &held);
    bool waited_for = held && hold.state != HOLD_WAITING && hold.by_seq == ref->seq;
    if (status == PAWL_OK && discard) {
        op->tally[ref->kind].discarded++;
        status = statement_run(SQL(op, SQLITE_Q_ATTEMPT_FORGET, ref->kind, ref->seq));
        if (status == PAWL_OK)
            status = delete_letter(op, ref->kind, ref->seq);
    } else if (status == PAWL_OK) {
        status = revive(op, ref->kind, ref->seq, letter.has_stream && !waited_for);
    }
    if (status == PAWL_OK && waited_for)
        status = revive_parked(op, &letter);
    if (status == PAWL_OK)
        status = hold_settle(op, ref->kind, letter.lane, letter.key, waited_for);
    return status;
}

static int by_kind_and_seq(const void *a, const void *b, void *refs_) {
    const struct dead_ref *refs = refs_;
    size_t i = *(const size_t *)a, j = *(const size_t *)b;
    if (refs[i].kind != refs[j].kind)
        return refs[i].kind < refs[j].kind ? -1 : 1;
    if (refs[i].seq != refs[j].seq)
        return refs[i].seq < refs[j].seq ? -1 : 1;
    return i < j ? -1 : 1; /* the first of two equal ones is the one that is found */
}

struct redrive {
    const struct dead_ref *refs;
    size_t count;
    bool discard;
    struct arena *arena;
};

static pawl_status redrive_all(struct operation *op, const struct redrive *in, struct answer_list *list) {
    size_t *order = arena_array(op->scratch, in->count, sizeof(*order));
    list->answers = arena_array(in->arena, in->count, sizeof(*list->answers));
    list->count = in->count;
    if (order == NULL || list->answers == NULL)
        return operation_no_memory(op);
    for (size_t i = 0; i < in->count; i++)
        order[i] = i;
    if (in->count > 0)
        qsort_r(order, in->count, sizeof(*order), by_kind_and_seq, (void *)in->refs);
    for (size_t i = 0; i < in->count; i++)
        TRY(bring_back(op, &in->refs[order[i]], in->discard, &list->answers[order[i]]));
    return PAWL_OK;
}

static pawl_status run(struct store *store, const struct redrive *in, struct answer_list *out,
                       pawl_error *err) {
    const char *name = in->discard ? "dead_discard" : "dead_redrive";
    struct operation op = operation_write(store, name, check_dead_refs(name, in->refs, in->count, err), err);
    struct answer_list list = {0};
    return operation_give(&op, redrive_all(&op, in, &list), out, &list);
}

pawl_status sqlite_dead_redrive(struct store *store, const struct dead_ref *refs, size_t count,
                                struct arena *arena, struct answer_list *out, pawl_error *err) {
    struct redrive in = {refs, count, false, arena};
    return run(store, &in, out, err);
}

pawl_status sqlite_dead_discard(struct store *store, const struct dead_ref *refs, size_t count,
                                struct arena *arena, struct answer_list *out, pawl_error *err) {
    struct redrive in = {refs, count, true, arena};
    return run(store, &in, out, err);
}

pawl_status sqlite_dead_edit(struct store *store, const struct dead_ref *ref, pawl_str payload,
                             enum store_answer *answer, pawl_error *err) {
    struct operation op = operation_write(store, "dead_edit", check_dead_edit(ref, payload, err), err);
    int64_t changed = 0;
    if (op.status != PAWL_OK)
        return op.status;
    pawl_status status =
        statement_run_count(SQL(&op, SQLITE_Q_DEAD_EDIT, ref->kind, ref->seq, payload), &changed);
    enum store_answer result = changed > 0 ? ANSWER_APPLIED : ANSWER_NOT_FOUND;
    return operation_give(&op, status, answer, &result);
}
