/* Shared code of reports on granted messages, and their store operations. */
#include "store/sqlite/claims/report.h"

#include "base/uuid.h"

bool report_is_of(const struct reporter *by, const struct part *part) {
    return part->kind == by->kind && uuid_equal(part->instance, by->instance);
}

pawl_status report_unheld(struct operation *op, const struct reporter *by, const struct item_ref *ref,
                          enum store_answer *answer) {
    struct part *part = NULL;
    pawl_status status = part_load_token(op, ref->token, &part);
    for (; part != NULL && status == PAWL_OK; part = part_next_of(part)) {
        bool done = part->forgotten;
        for (size_t i = 0; i < part->count && !done; i++)
            done = part->items[i].mark == MARK_DONE && uuid_equal(part->items[i].id, ref->id);
        if (done && report_is_of(by, part)) {
            *answer = ANSWER_DUPLICATE;
            return PAWL_OK;
        }
    }
    op->tally[by->kind].stale++;
    *answer = ANSWER_STALE;
    return status;
}

pawl_status report_find_held(struct operation *op, const struct reporter *by, const struct item_ref *ref,
                             struct part **part, struct part_item **item) {
    struct part *at = NULL;
    pawl_status status = part_load_token(op, ref->token, &at);
    *part = NULL;
    *item = NULL;
    for (; at != NULL && status == PAWL_OK; at = part_next_of(at)) {
        if (at->state != CLAIM_ACTIVE || !report_is_of(by, at))
            continue;
        for (size_t i = 0; i < at->count; i++) {
            struct part_item *candidate = &at->items[i];
            if (candidate->mark != MARK_OPEN || !uuid_equal(candidate->id, ref->id))
                continue;
            if (*item == NULL || candidate->seq < (*item)->seq) {
                *part = at;
                *item = candidate;
            }
            break;
        }
    }
    return status;
}

pawl_status report_answers(struct operation *op, struct arena *arena, size_t count, bool outcomes,
                           struct answer_list *out) {
    struct answer_list list = {.count = count};
    list.answers = arena_array(arena, count, sizeof(*list.answers));
    if (outcomes)
        list.outcomes = arena_array(arena, count, sizeof(*list.outcomes));
    if (list.answers == NULL || (outcomes && list.outcomes == NULL))
        return operation_no_memory(op);
    *out = list;
    return PAWL_OK;
}

pawl_status sqlite_messages_complete(struct store *store, const struct messages_complete *in,
                                     struct arena *arena, struct answer_list *out, pawl_error *err) {
    struct operation op;
    struct answer_list list = {0};
    pawl_status status = check_complete(in, err);
    if (!operation_begin(&op, store, OPERATION_WRITE, "messages_complete", &status, err))
        return status;
    status = report_answers(&op, arena, in->count, false, &list);
    if (status == PAWL_OK)
        status = items_complete(&op, in, &list);
    return operation_give(&op, status, out, &list);
}

pawl_status sqlite_messages_fail(struct store *store, const struct messages_fail *in, struct arena *arena,
                                 struct answer_list *out, pawl_error *err) {
    struct operation op;
    struct answer_list list = {0};
    pawl_status status = check_fail(in, err);
    if (!operation_begin(&op, store, OPERATION_WRITE, "messages_fail", &status, err))
        return status;
    status = report_answers(&op, arena, in->count, true, &list);
    if (status == PAWL_OK)
        status = items_fail(&op, in, &list);
    return operation_give(&op, status, out, &list);
}

pawl_status sqlite_messages_release(struct store *store, const struct messages_release *in,
                                    struct arena *arena, struct answer_list *out, pawl_error *err) {
    struct operation op;
    struct answer_list list = {0};
    pawl_status status = check_release(in, err);
    if (!operation_begin(&op, store, OPERATION_WRITE, "messages_release", &status, err))
        return status;
    status = report_answers(&op, arena, in->count, false, &list);
    if (status == PAWL_OK)
        status = items_release(&op, in, &list);
    return operation_give(&op, status, out, &list);
}

pawl_status sqlite_messages_renew(struct store *store, const struct messages_renew *in, struct arena *arena,
                                  struct answer_list *out, pawl_error *err) {
    struct operation op;
    struct answer_list list = {0};
    pawl_status status = check_renew(in, err);
    if (!operation_begin(&op, store, OPERATION_WRITE, "messages_renew", &status, err))
        return status;
    status = report_answers(&op, arena, in->count, false, &list);
    if (status == PAWL_OK)
        status = items_renew(&op, in, &list);
    return operation_give(&op, status, out, &list);
}
