/* Completing messages on SQLite: a prefix per stream, and a whole claim in one statement. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/uuid.h"
#include "domain/workstatus.h"
#include "store/sqlite/claims/keyset.h"
#include "store/sqlite/claims/report.h"
#include "store/sqlite/messages/aside.h"

/* An unfinished message under the token, in any of its parts. */
struct open_item {
    struct part *part;
    struct part_item *item;
    size_t named_by; /* item of the call + 1; 0: not named */
    bool accepted;
};

/* The items of the call that name one token, and what is open under it. */
struct token_group {
    struct operation *op;
    const struct messages_complete *in;
    struct answer_list *out;
    size_t *order; /* indexes of the call, by token */
    size_t count;
    int64_t token;
    struct part *first;     /* all parts of the token; NULL: unknown */
    bool single;            /* the token has one part: nothing of it was split off */
    struct open_item *open; /* by seq */
    size_t open_count;
    size_t named;             /* without slots: how many of the first are named, in order */
    struct open_item **slots; /* by id, once needed */
    size_t slot_count;        /* a power of two */
};

static int by_token(const void *a, const void *b, void *in_) {
    const struct messages_complete *in = in_;
    size_t i = *(const size_t *)a, j = *(const size_t *)b;
    int64_t x = in->items[i].ref.token, y = in->items[j].ref.token;
    if (x != y)
        return x < y ? -1 : 1;
    return (i > j) - (i < j);
}

static int open_by_seq(const void *a, const void *b) {
    const struct open_item *x = a, *y = b;
    return (x->item->seq > y->item->seq) - (x->item->seq < y->item->seq);
}

/* What the reporter holds under the token, in seq order. */
static pawl_status load_open(struct token_group *g) {
    struct reporter by = {g->in->instance, g->in->kind};
    size_t open = 0, parts = 0;
    TRY(part_load_token(g->op, g->token, &g->first));
    for (struct part *part = g->first; part != NULL; part = part_next_of(part), parts++)
        if (part->state == CLAIM_ACTIVE && report_is_of(&by, part))
            open += part->open;
    g->single = parts == 1;
    g->open = arena_array(g->op->scratch, open, sizeof(*g->open));
    if (g->open == NULL)
        return operation_no_memory(g->op);
    for (struct part *part = g->first; part != NULL; part = part_next_of(part)) {
        if (part->state != CLAIM_ACTIVE || !report_is_of(&by, part))
            continue;
        for (size_t i = 0; i < part->count; i++)
            if (part->items[i].mark == MARK_OPEN)
                g->open[g->open_count++] = (struct open_item){.part = part, .item = &part->items[i]};
    }
    if (!g->single && g->open_count > 0)
        qsort(g->open, g->open_count, sizeof(*g->open), open_by_seq);
    return PAWL_OK;
}

static size_t slot_of(const struct token_group *g, pawl_uuid id) {
    uint64_t low;
    memcpy(&low, id.b + sizeof(id.b) - sizeof(low), sizeof(low)); /* the random half of a UUID */
    return (size_t)(low * 0x9e3779b97f4a7c15u >> 20) & (g->slot_count - 1);
}

/* Open items by id, which a token grants once. */
static pawl_status index_open(struct token_group *g) {
    g->slot_count = 64;
    while (g->slot_count < g->open_count * 2)
        g->slot_count *= 2;
    g->slots = arena_array(g->op->scratch, g->slot_count, sizeof(*g->slots));
    if (g->slots == NULL)
        return operation_no_memory(g->op);
    for (size_t i = 0; i < g->open_count; i++) {
        size_t at = slot_of(g, g->open[i].item->id);
        while (g->slots[at] != NULL)
            at = (at + 1) & (g->slot_count - 1);
        g->slots[at] = &g->open[i];
    }
    return PAWL_OK;
}

/*
 * The open item with that id, as *surplus if an item of the call has already matched it; NULL if there is
 * none. Whole claims are mostly reported in the order of the grant, so usually no index is needed.
 */
static pawl_status find_open(struct token_group *g, pawl_uuid id, struct open_item **found,
                             struct open_item **surplus) {
    *found = *surplus = NULL;
    if (g->slots == NULL) {
        if (g->named < g->open_count && uuid_equal(g->open[g->named].item->id, id)) {
            *found = &g->open[g->named++];
            return PAWL_OK;
        }
        TRY(index_open(g));
    }
    for (size_t at = slot_of(g, id); g->slots[at] != NULL; at = (at + 1) & (g->slot_count - 1)) {
        if (!uuid_equal(g->slots[at]->item->id, id))
            continue;
        *(g->slots[at]->named_by == 0 ? found : surplus) = g->slots[at];
        break;
    }
    return PAWL_OK;
}

/* From the first gap of a stream on, nothing of it is accepted. */
static pawl_status accept_prefixes(struct token_group *g) {
    size_t gap = 0, last = g->open_count;
    while (gap < g->open_count && g->open[gap].named_by != 0)
        g->open[gap++].accepted = true;
    while (last > gap && g->open[last - 1].named_by == 0)
        last--;
    struct keyset gapped = {0};
    for (size_t i = gap; i < last; i++) {
        struct open_item *open = &g->open[i];
        TRY(part_load_keys(g->op, open->part));
        if (open->named_by == 0) {
            if (!keyset_add(&gapped, g->op->scratch, open->item->key))
                return operation_no_memory(g->op);
        } else {
            open->accepted = !keyset_has(&gapped, open->item->key);
        }
    }
    return PAWL_OK;
}

static bool keeps_history(const struct token_group *g) {
    return g->in->debug || g->op->settings.history_ms > 0;
}

/* Messages from first to last, all of one part and all accepted; the table has no others in between. */
static pawl_status finish_range(struct token_group *g, struct open_item *first, struct open_item *last) {
    struct operation *op = g->op;
    const struct part *part = first->part;
    const int64_t low = first->item->seq, high = last->item->seq;
    int64_t deleted = 0, count = last - first + 1;
    if (keeps_history(g))
        TRY(statement_run(
            SQL(op, SQLITE_Q_MESSAGE_TO_HISTORY, part->kind, part->lane, low, high, op->now_ms)));
    TRY(statement_run_count(SQL(op, SQLITE_Q_MESSAGE_DELETE_RANGE, part->kind, part->lane, low, high),
                            &deleted));
    if (deleted != count)
        return error_set(op->err, PAWL_INTERNAL, op->name,
                         "a claim of %" PRId64 " messages has %" PRId64
                         " rows: nothing was changed, run pawl check",
                         count, deleted);
    return PAWL_OK;
}

static pawl_status finish_aside(struct token_group *g, struct open_item *open) {
    struct operation *op = g->op;
    struct part *part = open->part;
    TRY(part_load_keys(op, part));
    if (keeps_history(g))
        TRY(statement_run(SQL(op, SQLITE_Q_ASIDE_TO_HISTORY, part->kind, open->item->seq, op->now_ms)));
    TRY(aside_delete(op, part->kind, open->item->seq));
    return hold_settle(op, part->kind, part->lane, open->item->key, false);
}

/* Removes the rows of the accepted items, in runs where they are neighbours in one claim. */
static pawl_status finish_rows(struct token_group *g) {
    size_t i = 0;
    while (i < g->open_count) {
        struct open_item *first = &g->open[i++];
        if (!first->accepted)
            continue;
        if (first->part->source == SOURCE_ASIDE) {
            TRY(finish_aside(g, first));
            continue;
        }
        struct open_item *last = first;
        while (g->single && i < g->open_count && g->open[i].accepted)
            last = &g->open[i++];
        TRY(finish_range(g, first, last));
    }
    return PAWL_OK;
}

/* Marks the accepted items; a part that this call alone completed forgets its lists. */
static void mark_done(struct token_group *g) {
    size_t accepted = 0;
    for (size_t i = 0; i < g->open_count; i++)
        accepted += g->open[i].accepted;
    if (g->single && accepted == g->first->count)
        g->first->forgotten = true;
    for (size_t i = 0; i < g->open_count; i++)
        if (g->open[i].accepted)
            part_mark(g->open[i].part, g->open[i].item, MARK_DONE);
    g->op->tally[g->in->kind].done += (int64_t)accepted;
}

static pawl_status complete_token(struct token_group *g) {
    struct reporter by = {g->in->instance, g->in->kind};
    struct open_item **named = arena_array(g->op->scratch, g->count, sizeof(struct open_item *));
    if (named == NULL)
        return operation_no_memory(g->op);
    TRY(load_open(g));
    for (size_t i = 0; i < g->count; i++) {
        size_t index = g->order[i];
        struct open_item *surplus = NULL;
        TRY(find_open(g, g->in->items[index].ref.id, &named[i], &surplus));
        if (named[i] != NULL)
            named[i]->named_by = index + 1;
        else if (surplus != NULL)
            named[i] = surplus; /* named more often than held */
        else
            TRY(report_unheld(g->op, &by, &g->in->items[index].ref, &g->out->answers[index]));
    }
    TRY(accept_prefixes(g));
    for (size_t i = 0; i < g->count; i++) {
        size_t index = g->order[i];
        if (named[i] == NULL)
            continue;
        enum store_answer applied = named[i]->named_by == index + 1 ? ANSWER_APPLIED : ANSWER_DUPLICATE;
        g->out->answers[index] = named[i]->accepted ? applied : ANSWER_CONFLICT;
    }
    TRY(finish_rows(g));
    if (g->open_count > 0)
        mark_done(g);
    return PAWL_OK;
}

pawl_status items_complete(struct operation *op, const struct messages_complete *in, struct arena *arena,
                           struct answer_list *out) {
    TRY(report_answers(op, arena, in->count, false, out));
    if (in->count == 0)
        return PAWL_OK;
    size_t *order = arena_array(op->scratch, in->count, sizeof(*order));
    size_t count = 0;
    bool sorted = true;
    if (order == NULL)
        return operation_no_memory(op);
    for (size_t i = 0; i < in->count; i++) {
        if (!work_status_ends(in->items[i].status)) {
            out->answers[i] = ANSWER_INVALID;
            continue;
        }
        if (count > 0 && in->items[order[count - 1]].ref.token > in->items[i].ref.token)
            sorted = false;
        order[count++] = i;
    }
    if (!sorted)
        qsort_r(order, count, sizeof(*order), by_token, (void *)in);
    for (size_t i = 0; i < count;) {
        struct token_group g = {.op = op, .in = in, .out = out, .order = order + i};
        g.token = in->items[order[i]].ref.token;
        while (i < count && in->items[order[i]].ref.token == g.token)
            i++, g.count++;
        TRY(complete_token(&g));
    }
    return parts_flush(op);
}
