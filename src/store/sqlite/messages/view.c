/* One message in any state, as the views show it. */
#include "store/sqlite/messages/view.h"

#include <stdlib.h>

#include "store/sqlite/claims/flight.h"
#include "store/sqlite/messages/aside.h"
#include "store/sqlite/messages/item.h"

static int flying_by_seq(const void *a, const void *b) {
    const struct flying *x = a, *y = b;
    return (x->ref.seq > y->ref.seq) - (x->ref.seq < y->ref.seq);
}

pawl_status view_load_flight(struct operation *op, struct flight_list *list) {
    pawl_status status = part_load_active(op);
    size_t open = 0;
    for (struct part *part = op->parts; part != NULL; part = part->next)
        open += part->open;
    list->at = arena_array(op->scratch, open, sizeof(*list->at));
    list->count = 0;
    if (status == PAWL_OK && list->at == NULL)
        status = operation_no_memory(op);
    for (struct part *part = op->parts; part != NULL && status == PAWL_OK; part = part->next)
        for (size_t i = 0; i < part->count; i++)
            if (part->items[i].mark == MARK_OPEN)
                list->at[list->count++] =
                    (struct flying){.ref = {part->source == SOURCE_MESSAGE ? PLACE_MESSAGE : PLACE_ASIDE,
                                            part->kind, part->lane, part->items[i].seq},
                                    .token = part->token,
                                    .lease_until_ms = part->lease_until_ms,
                                    .instance = part->instance};
    if (list->count > 0)
        qsort(list->at, list->count, sizeof(*list->at), flying_by_seq);
    return status;
}

const struct flying *view_find_flying(const struct flight_list *list, int64_t seq) {
    struct flying wanted = {.ref = {.seq = seq}};
    return list->count == 0 ? NULL : bsearch(&wanted, list->at, list->count, sizeof(wanted), flying_by_seq);
}

/* Whether no earlier row of the stream is aside. */
static pawl_status is_head(struct operation *op, const struct view_row *row, bool *head) {
    int64_t first = 0;
    bool found = false;
    struct statement s = statement_begin(op, SQLITE_Q_ASIDE_FOLLOWERS);
    bind_int(&s, row->ref.kind);
    bind_text(&s, row->key);
    bind_int(&s, 0);
    pawl_status status = statement_number(&s, &first, &found);
    *head = found && first == row->ref.seq;
    return status;
}

static pawl_status fill_state(struct operation *op, const struct flight_list *flight, struct view_row *row) {
    static const enum message_state by_place[] = {0, STATE_READY, STATE_BLOCKED, STATE_DEAD, STATE_DONE};
    const struct flying *flying = view_find_flying(flight, row->ref.seq);
    struct hold hold;
    bool held = false, head = false;
    row->row.state = by_place[row->ref.place];
    pawl_status status = hold_find(op, row->ref.kind, row->key, &hold, &held);
    if (status != PAWL_OK)
        return status;
    row->hold_state = held ? (int)hold.state : 0;
    row->hold_by_seq = held ? hold.by_seq : 0;
    if (flying != NULL) {
        row->row.state = STATE_LEASED;
        row->row.claimed_by = flying->instance;
        row->row.item.token = flying->token;
        row->row.item.lease_until_ms = flying->lease_until_ms;
    } else if (row->ref.place == PLACE_ASIDE && row->hold_state == HOLD_WAITING) {
        status = is_head(op, row, &head);
        row->row.state = head ? STATE_SCHEDULED : STATE_BLOCKED;
        row->row.scheduled_ms = head ? row->scheduled_ms : 0;
    }
    return status;
}

pawl_status view_load(struct operation *op, const struct view_ref *ref, const struct flight_list *flight,
                      struct arena *arena, struct view_row *row, bool *found) {
    static const enum sqlite_query queries[] = {0, SQLITE_Q_VIEW_MESSAGE, SQLITE_Q_VIEW_ASIDE,
                                                SQLITE_Q_VIEW_DEAD, SQLITE_Q_VIEW_HISTORY};
    struct statement s = statement_begin(op, queries[ref->place]);
    bind_int(&s, ref->kind);
    bind_int(&s, ref->lane);
    bind_int(&s, ref->seq);
    bool any = statement_next(&s);
    if (any) {
        int at = 2 + ITEM_COLUMNS;
        *row = (struct view_row){.ref = *ref};
        item_read(&s, 2, arena, &row->row.item);
        row->row.item.seq = column_int(&s, 0);
        row->row.item.kind = ref->kind;
        row->row.item.lane = (int)column_int(&s, 1);
        row->row.attempts = (int)column_int(&s, at);
        row->row.item.deaths = (int)column_int(&s, at + 1);
        row->row.item.attempt = row->row.attempts + row->row.item.deaths + 1;
        row->row.item.out_of_order = column_int(&s, at + 2) != 0;
        row->row.item.suspect = ref->place == PLACE_ASIDE && column_int(&s, at + 9) >= PAWL_SUSPECT_LOSSES;
        row->row.reason = (int)column_int(&s, at + 3);
        row->scheduled_ms = column_int(&s, at + 4);
        row->row.ended_ms = column_int(&s, at + 5);
        row->row.error = column_copy(&s, at + 6, arena);
        row->row.fingerprint = column_copy(&s, at + 7, arena);
        row->key = column_copy(&s, at + 8, op->scratch);
    }
    pawl_status status = statement_end(&s);
    if (status == PAWL_OK)
        *found = any;
    return status == PAWL_OK && any ? fill_state(op, flight, row) : status;
}

pawl_status view_refs_by_id(struct operation *op, pawl_uuid id, struct view_ref **refs, size_t *count) {
    struct view_ref *list = NULL;
    size_t used = 0, cap = 0;
    struct statement s = statement_begin(op, SQLITE_Q_VIEW_BY_ID);
    bind_uuid(&s, id);
    while (statement_next(&s)) {
        if (used == cap) {
            size_t more = cap == 0 ? 8 : cap * 2;
            struct view_ref *grown = arena_array(op->scratch, more, sizeof(*grown));
            if (grown == NULL) {
                s.rc = SQLITE_NOMEM;
                break;
            }
            for (size_t i = 0; i < used; i++)
                grown[i] = list[i];
            list = grown;
            cap = more;
        }
        list[used++] = (struct view_ref){(enum view_place)column_int(&s, 0),
                                         (enum store_kind)column_int(&s, 1), (int)column_int(&s, 2),
                                         column_int(&s, 3)};
    }
    *refs = list;
    *count = used;
    return statement_end(&s);
}
