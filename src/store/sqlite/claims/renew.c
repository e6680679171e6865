/* Renewing leases on SQLite, of some messages of a claim or of all of it. */
#include "base/uuid.h"
#include "store/sqlite/claims/report.h"

/* While a renewal runs, the mark of a named open item; never written. */
enum { MARK_NAMED = 100 };

static void name_item(struct part *part, struct part_item *item) {
    item->mark = MARK_NAMED;
    part->named++;
}

/* Names every unfinished item of the token. */
static pawl_status name_token(struct operation *op, const struct reporter *by, struct part *first,
                              enum store_answer *answer) {
    bool any = false, active = false, ended_otherwise = false;
    for (struct part *part = first; part != NULL; part = part_next_of(part)) {
        if (!report_is_of(by, part))
            continue;
        any = true;
        active = active || part->state == CLAIM_ACTIVE;
        ended_otherwise = ended_otherwise || (part->state != CLAIM_ACTIVE && part->state != CLAIM_DONE);
        for (size_t i = 0; i < part->count && part->state == CLAIM_ACTIVE; i++)
            if (part->items[i].mark == MARK_OPEN)
                name_item(part, &part->items[i]);
    }
    *answer = ANSWER_STALE;
    if (active)
        *answer = ANSWER_APPLIED;
    else if (any && !ended_otherwise)
        *answer = ANSWER_DUPLICATE;
    else
        op->tally[by->kind].stale++;
    return PAWL_OK;
}

static bool is_named(const struct reporter *by, struct part *first, pawl_uuid id) {
    for (struct part *part = first; part != NULL; part = part_next_of(part))
        for (size_t i = 0; i < part->count && report_is_of(by, part); i++)
            if (part->items[i].mark == MARK_NAMED && uuid_equal(part->items[i].id, id))
                return true;
    return false;
}

static pawl_status name_one(struct operation *op, const struct reporter *by, const struct item_ref *ref,
                            enum store_answer *answer) {
    struct part *first = NULL, *part = NULL;
    struct part_item *item = NULL;
    TRY(part_load_token(op, ref->token, &first));
    if (uuid_is_nil(ref->id))
        return name_token(op, by, first, answer);
    TRY(report_find_held(op, by, ref, &part, &item));
    *answer = ANSWER_APPLIED;
    if (part != NULL)
        name_item(part, item);
    else if (!is_named(by, first, ref->id))
        return report_unheld(op, by, ref, answer);
    return PAWL_OK;
}

/* The named items move to a new part; the others keep their lease. */
static pawl_status split(struct operation *op, struct part *part, int64_t lease_until_ms) {
    struct part *renewed = part_make(op, part->token, part->named);
    if (renewed == NULL)
        return operation_no_memory(op);
    renewed->kind = part->kind;
    renewed->lane = part->lane;
    renewed->instance = part->instance;
    renewed->source = part->source;
    renewed->suspect = part->suspect;
    renewed->policy = part->policy;
    renewed->max_attempts = part->max_attempts;
    renewed->began_ms = part->began_ms;
    renewed->request = part->request;
    renewed->lease_until_ms = lease_until_ms;
    size_t moved = 0;
    for (size_t i = 0; i < part->count; i++) {
        if (part->items[i].mark != MARK_NAMED)
            continue;
        renewed->items[moved] = part->items[i];
        renewed->items[moved++].mark = MARK_OPEN;
        part_mark(part, &part->items[i], MARK_LEFT);
    }
    return PAWL_OK;
}

static pawl_status renew_part(struct operation *op, struct part *part, int64_t lease_until_ms) {
    if (part->named < part->open)
        TRY(split(op, part, lease_until_ms));
    else
        part->lease_until_ms = lease_until_ms;
    if (part->suspect == SUSPECT_GRANTED)
        part->suspect = SUSPECT_BEGUN; /* it is the only item, so it is named */
    for (size_t i = 0; i < part->count; i++)
        if (part->items[i].mark == MARK_NAMED)
            part->items[i].mark = MARK_OPEN;
    part->named = 0;
    part->dirty = true;
    return PAWL_OK;
}

pawl_status items_renew(struct operation *op, const struct messages_renew *in, struct arena *arena,
                        struct answer_list *out) {
    struct reporter by = {in->instance, in->kind};
    TRY(report_answers(op, arena, in->count, false, out));
    if (in->count == 0)
        return PAWL_OK;
    for (size_t i = 0; i < in->count; i++)
        TRY(name_one(op, &by, &in->items[i], &out->answers[i]));
    /* A part that a split makes is not named, so walking on over it is harmless. */
    for (struct part *part = op->parts; part != NULL; part = part->next)
        if (part->named > 0)
            TRY(renew_part(op, part, op->now_ms + in->lease_ms));
    return parts_flush(op);
}
