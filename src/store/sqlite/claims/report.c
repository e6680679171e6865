/* Shared code of reports on granted messages, and their store operations. */
#include "store/sqlite/claims/report.h"

#include "base/uuid.h"

bool report_is_of(const struct reporter *by, const struct part *part) {
    return part->kind == by->kind && uuid_equal(part->instance, by->instance);
}

pawl_status report_unheld(struct operation *op, const struct reporter *by, const struct item_ref *ref,
                          enum store_answer *answer) {
    struct part *part = NULL;
    TRY(part_load_token(op, ref->token, &part));
    for (; part != NULL; part = part_next_of(part)) {
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
    return PAWL_OK;
}

pawl_status report_find_held(struct operation *op, const struct reporter *by, const struct item_ref *ref,
                             struct part **part, struct part_item **item) {
    struct part *at = NULL;
    TRY(part_load_token(op, ref->token, &at));
    *part = NULL;
    *item = NULL;
    for (; at != NULL; at = part_next_of(at)) {
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
    return PAWL_OK;
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
    struct answer_list list = {0};
    struct operation op = operation_write(store, "messages_complete", check_complete(in, err), err);
    return operation_give(&op, items_complete(&op, in, arena, &list), out, &list);
}

pawl_status sqlite_messages_fail(struct store *store, const struct messages_fail *in, struct arena *arena,
                                 struct answer_list *out, pawl_error *err) {
    struct answer_list list = {0};
    struct operation op = operation_write(store, "messages_fail", check_fail(in, err), err);
    return operation_give(&op, items_fail(&op, in, arena, &list), out, &list);
}

pawl_status sqlite_messages_release(struct store *store, const struct messages_release *in,
                                    struct arena *arena, struct answer_list *out, pawl_error *err) {
    struct answer_list list = {0};
    struct operation op = operation_write(store, "messages_release", check_release(in, err), err);
    return operation_give(&op, items_release(&op, in, arena, &list), out, &list);
}

pawl_status sqlite_messages_renew(struct store *store, const struct messages_renew *in, struct arena *arena,
                                  struct answer_list *out, pawl_error *err) {
    struct answer_list list = {0};
    struct operation op = operation_write(store, "messages_renew", check_renew(in, err), err);
    return operation_give(&op, items_renew(&op, in, arena, &list), out, &list);
}
