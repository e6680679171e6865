/* Granting checkpoints in a batch. */
#include "base/limits.h"
#include "base/str.h"
#include "store/apply.h"
#include "store/sqlite/claims/claim.h"
#include "store/sqlite/claims/report.h"
#include "store/sqlite/events/events.h"

/* Every live or filling perspective, for a call that names none. */
static pawl_status all_keys(struct operation *op, struct checkpoints_claim *claim) {
    pawl_status status = PAWL_OK;
    pawl_str *keys = arena_array(op->scratch, PAWL_PERSPECTIVES_MAX, sizeof *keys);
    if (keys == NULL)
        return operation_no_memory(op);
    claim->perspectives = keys;
    struct statement s = statement_begin(op, SQLITE_Q_PERSPECTIVE_FED);
    while (status == PAWL_OK && claim->perspective_count < PAWL_PERSPECTIVES_MAX && statement_next(&s))
        status = str_dup(op->scratch, column_borrow(&s, 0), &keys[claim->perspective_count++], op->err);
    return statement_close(&s, status);
}

/* The checkpoints now record what the messages said, so the messages end here. */
static pawl_status woken(struct operation *op, const struct checkpoints_claim *due, struct arena *arena,
                         struct checkpoint_grants *out) {
    struct item_list items = {NULL, 0};
    struct answer_list answers = {0};
    const struct messages_claim messages = {
        .instance = due->instance, .kind = KIND_PERSPECTIVE, .max = PAWL_WAKE_MAX, .lease_ms = due->lease_ms};
    struct checkpoints_claim claim = *due;
    TRY(claim_messages(op, &messages, op->scratch, &items));
    if (items.count == 0)
        return PAWL_OK;
    struct complete_item *done = arena_array(op->scratch, items.count, sizeof *done);
    pawl_str *streams = arena_array(op->scratch, items.count, sizeof *streams);
    if (done == NULL || streams == NULL)
        return operation_no_memory(op);
    claim.streams = streams;
    claim.stream_count = wakes_take(items.items, items.count, streams, done);
    if (claim.stream_count > 0)
        TRY(checkpoints_grant(op, &claim, arena, out));
    const struct messages_complete complete = {due->instance, KIND_PERSPECTIVE, done, items.count, false};
    return items_complete(op, &complete, op->scratch, &answers);
}

pawl_status checkpoints_batch(struct operation *op, const struct work_batch *in, bool used,
                              struct arena *arena, struct checkpoint_grants *out) {
    struct checkpoint_grants first = {0}, due = {0};
    struct checkpoints_claim claim = {.instance = in->instance.id,
                                      .perspectives = in->perspectives,
                                      .perspective_count = in->perspective_count,
                                      .max = in->checkpoint_max,
                                      .lease_ms = in->lease_ms,
                                      .request = in->request};
    if (used)
        return checkpoints_held(op, &claim, arena, out);
    if (in->perspective_count == 0)
        TRY(all_keys(op, &claim));
    TRY(woken(op, &claim, arena, &first));
    claim.max -= (int)first.count;
    if (claim.max > 0)
        TRY(checkpoints_grant(op, &claim, arena, &due));
    return grants_join(&first, &due, arena, out, op->err);
}
