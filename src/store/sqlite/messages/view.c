/* Reading one message in any state on SQLite. */
#include "store/sqlite/messages/view.h"

#include <stdlib.h>

#include "store/sqlite/claims/part.h"
#include "store/sqlite/file/row.h"
#include "store/sqlite/messages/aside.h"

static int leased_by_seq(const void *a, const void *b) {
    const struct leased *x = a, *y = b;
    return (x->ref.seq > y->ref.seq) - (x->ref.seq < y->ref.seq);
}

pawl_status view_load_leased(struct operation *op, struct leased_list *list) {
    TRY(part_load_active(op));
    size_t open = 0;
    for (struct part *part = op->parts; part != NULL; part = part->next)
        open += part->open;
    list->at = arena_array(op->scratch, open, sizeof(*list->at));
    list->count = 0;
    if (list->at == NULL)
        return operation_no_memory(op);
    for (struct part *part = op->parts; part != NULL; part = part->next)
        for (size_t i = 0; i < part->count; i++)
            if (part->items[i].mark == MARK_OPEN)
                list->at[list->count++] =
                    (struct leased){.ref = {part->source == SOURCE_MESSAGE ? PLACE_MESSAGE : PLACE_ASIDE,
                                            part->kind, part->lane, part->items[i].seq},
                                    .token = part->token,
                                    .lease_until_ms = part->lease_until_ms,
                                    .instance = part->instance};
    if (list->count > 0)
        qsort(list->at, list->count, sizeof(*list->at), leased_by_seq);
    return PAWL_OK;
}

const struct leased *view_find_leased(const struct leased_list *list, int64_t seq) {
    struct leased wanted = {.ref = {.seq = seq}};
    return list->count == 0 ? NULL : bsearch(&wanted, list->at, list->count, sizeof(wanted), leased_by_seq);
}

/* Whether no earlier row of the stream is aside. */
static pawl_status is_head(struct operation *op, const struct view_row *row, bool *head) {
    int64_t first = 0;
    bool found = false;
    TRY(statement_number(SQL(op, SQLITE_Q_ASIDE_FOLLOWERS, row->ref.kind, row->key, 0), &first, &found));
    *head = found && first == row->ref.seq;
    return PAWL_OK;
}

static pawl_status fill_state(struct operation *op, const struct leased_list *all, struct view_row *row) {
    static const enum message_state by_place[] = {0, STATE_READY, STATE_BLOCKED, STATE_DEAD, STATE_DONE};
    const struct leased *leased = view_find_leased(all, row->ref.seq);
    struct hold hold;
    bool held = false, head = false;
    row->row.state = by_place[row->ref.place];
    TRY(hold_find(op, row->ref.kind, row->key, &hold, &held));
    row->hold_state = held ? (int)hold.state : 0;
    row->hold_by_seq = held ? hold.by_seq : 0;
    if (leased != NULL) {
        row->row.state = STATE_LEASED;
        row->row.claimed_by = leased->instance;
        row->row.item.token = leased->token;
        row->row.item.lease_until_ms = leased->lease_until_ms;
    } else if (row->ref.place == PLACE_ASIDE && row->hold_state == HOLD_WAITING) {
        TRY(is_head(op, row, &head));
        row->row.state = head ? STATE_SCHEDULED : STATE_BLOCKED;
        row->row.scheduled_ms = head ? row->scheduled_ms : 0;
    }
    return PAWL_OK;
}

/* What the queries of view_load select after the message; of what is aside its losses follow. */
LOCAL_SHAPE(rest, struct view_row, M(row.attempts), M(row.item.deaths), M(row.item.out_of_order),
            M(row.reason), M(scheduled_ms), M(row.ended_ms), M(row.error), M(row.fingerprint), M(key));

pawl_status view_load(struct operation *op, const struct view_ref *ref, const struct leased_list *leased,
                      struct arena *arena, struct view_row *row, bool *found) {
    static const enum sqlite_query queries[] = {0, SQLITE_Q_VIEW_MESSAGE, SQLITE_Q_VIEW_ASIDE,
                                                SQLITE_Q_VIEW_DEAD, SQLITE_Q_VIEW_HISTORY};
    struct statement s = SQL(op, queries[ref->place], ref->kind, ref->lane, ref->seq);
    bool any = statement_next(&s);
    if (any) {
        const int after = 2 + (int)message_shape.count;
        struct item *item = &row->row.item;
        *row = (struct view_row){.ref = *ref};
        row_read(&s, 2, &message_shape, arena, item);
        row_read(&s, after, &rest_shape, arena, row);
        item->seq = column_int(&s, 0);
        item->kind = ref->kind;
        item->lane = (int)column_int(&s, 1);
        item->attempt = row->row.attempts + item->deaths + 1;
        item->suspect = ref->place == PLACE_ASIDE &&
                        column_int(&s, after + (int)rest_shape.count) >= PAWL_SUSPECT_LOSSES;
    }
    pawl_status status = statement_end(&s);
    if (status == PAWL_OK)
        *found = any;
    return status == PAWL_OK && any ? fill_state(op, leased, row) : status;
}

LOCAL_SHAPE(ref, struct view_ref, M(place), M(kind), M(lane), M(seq));

pawl_status view_refs_by_id(struct operation *op, pawl_uuid id, struct view_ref **refs, size_t *count) {
    struct row_list list = {NULL, 0};
    TRY(rows_read(SQL(op, SQLITE_Q_VIEW_BY_ID, id), &ref_shape, op->scratch, &list));
    *refs = list.rows;
    *count = list.count;
    return PAWL_OK;
}
