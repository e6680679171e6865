/* Listing messages on SQLite: each table by its own index, then the lowest seqs of all of them. */
#include <stdlib.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/str.h"
#include "store/sqlite/file/row.h"
#include "store/sqlite/messages/view.h"

/* One list call while it runs: the refs found so far, never more than twice the limit. */
struct listing {
    struct operation *op;
    const struct message_filter *filter;
    struct leased_list leased;
    struct view_ref *refs; /* room for 2 * limit */
    size_t count, limit;
    int64_t below_seq;    /* nothing from here on can be on this page */
    int64_t until_seq;    /* every table was read up to here */
    size_t scan, in_kind; /* rows to examine in total, and in one table of one kind */
    size_t in_lane;       /* and in one lane of the messages */
};

static int ref_by_seq(const void *a, const void *b) {
    const struct view_ref *x = a, *y = b;
    return (x->seq > y->seq) - (x->seq < y->seq);
}

/* Keeps the lowest `limit` that the page can have and remembers where they end. */
static void cut(struct listing *l) {
    if (l->count > 0)
        qsort(l->refs, l->count, sizeof(*l->refs), ref_by_seq);
    while (l->count > 0 && l->refs[l->count - 1].seq > l->until_seq)
        l->count--;
    if (l->count < l->limit)
        return;
    l->count = l->limit;
    l->below_seq = l->refs[l->limit - 1].seq;
}

/* A table was left before its end. */
static void stop_at(struct listing *l, int64_t seq) {
    if (seq < l->until_seq)
        l->until_seq = seq;
    if (seq < l->below_seq)
        l->below_seq = seq + 1;
}

static bool wants(const struct listing *l, enum message_state state) {
    return l->filter->state == 0 ? state != STATE_DONE : l->filter->state == (int)state;
}

/* A list statement with the parameters that each of them has. */
static struct statement list_of(const struct listing *l, enum sqlite_query query, int kind, int lane) {
    const struct message_filter *filter = l->filter;
    return SQL(l->op, query, kind, lane, filter->after_seq, l->below_seq, filter->stream, filter->type,
               filter->topic);
}

/* What a row of one table is, given that it is in flight or not. */
static enum message_state state_of(struct statement *s, enum view_place place, bool leased) {
    if (place == PLACE_DEAD || place == PLACE_HISTORY)
        return place == PLACE_DEAD ? STATE_DEAD : STATE_DONE;
    if (leased)
        return STATE_LEASED;
    if (place == PLACE_MESSAGE)
        return STATE_READY;
    return column_int(s, 3) != 0 ? STATE_SCHEDULED : STATE_BLOCKED;
}

/* Runs a list statement and adds what fits, at most `limit` of it, looking at `room` rows. */
static pawl_status collect(struct listing *l, struct statement *s, enum view_place place, int kind) {
    size_t added = 0, looked = 0, room = place == PLACE_MESSAGE ? l->in_lane : l->in_kind;
    int64_t seq = 0;
    while (added < l->limit && looked < room && statement_next(s)) {
        seq = column_int(s, 0);
        looked++;
        bool leased = view_find_leased(&l->leased, seq) != NULL;
        if (column_int(s, 2) == 0 || !wants(l, state_of(s, place, leased)))
            continue;
        l->refs[l->count++] = (struct view_ref){place, (enum store_kind)kind, (int)column_int(s, 1), seq};
        added++;
    }
    if (looked == room)
        stop_at(l, seq);
    TRY(statement_end(s));
    cut(l);
    return PAWL_OK;
}

/* The lane that a list is about; -1: every lane, -2: none, because the stream is in another. */
static int only_lane(const struct listing *l) {
    if (str_absent(l->filter->stream))
        return l->filter->lane;
    uint32_t partition = partition_of(l->filter->stream, (uint32_t)l->op->settings.partition_count);
    int lane = (int)lane_of(partition, (uint32_t)l->op->settings.lane_count);
    return l->filter->lane == -1 || l->filter->lane == lane ? lane : -2;
}

static pawl_status list_messages(struct listing *l, int kind) {
    pawl_status status = PAWL_OK;
    int only = only_lane(l);
    for (int lane = 0; lane < l->op->settings.lane_count && status == PAWL_OK; lane++) {
        if (only != -1 && only != lane)
            continue;
        struct statement s = list_of(l, SQLITE_Q_LIST_MESSAGE, kind, lane);
        status = collect(l, &s, PLACE_MESSAGE, kind);
    }
    return status;
}

static pawl_status list_aside(struct listing *l, int kind) {
    enum sqlite_query query = str_absent(l->filter->stream) ? SQLITE_Q_LIST_ASIDE
                                                            : SQLITE_Q_LIST_ASIDE_STREAM;
    struct statement s = list_of(l, query, kind, l->filter->lane);
    return collect(l, &s, PLACE_ASIDE, kind);
}

static pawl_status list_dead(struct listing *l, int kind) {
    bool cause = !str_absent(l->filter->fingerprint);
    enum sqlite_query query = cause                           ? SQLITE_Q_LIST_DEAD_CAUSE
                              : str_absent(l->filter->stream) ? SQLITE_Q_LIST_DEAD
                                                              : SQLITE_Q_LIST_DEAD_STREAM;
    struct statement s = list_of(l, query, kind, l->filter->lane);
    bind_int(&s, l->filter->before_ms);
    if (cause)
        bind_text(&s, l->filter->fingerprint);
    return collect(l, &s, PLACE_DEAD, kind);
}

static pawl_status list_history(struct listing *l, int kind) {
    struct statement s = list_of(l, SQLITE_Q_LIST_HISTORY, kind, l->filter->lane);
    bind_int(&s, l->filter->before_ms);
    return collect(l, &s, PLACE_HISTORY, kind);
}

static bool text_fits(pawl_str wanted, pawl_str text) {
    return str_absent(wanted) || (!str_absent(text) && str_equal(wanted, text));
}

/* What is in flight is known: nothing else is looked at. */
static pawl_status list_leased(struct listing *l) {
    const struct message_filter *filter = l->filter;
    size_t looked = 0;
    for (size_t i = 0; i < l->leased.count && l->count < l->limit; i++) {
        const struct view_ref *ref = &l->leased.at[i].ref;
        struct view_row row;
        bool found = false;
        if (ref->seq <= filter->after_seq || (filter->kind != 0 && filter->kind != ref->kind) ||
            (filter->lane != -1 && filter->lane != ref->lane))
            continue;
        if (looked++ == l->scan) {
            l->until_seq = ref->seq - 1;
            break;
        }
        TRY(view_load(l->op, ref, &l->leased, l->op->scratch, &row, &found));
        if (found && text_fits(filter->stream, row.row.item.stream) &&
            text_fits(filter->type, row.row.item.type) && text_fits(filter->topic, row.row.item.topic))
            l->refs[l->count++] = *ref;
    }
    return PAWL_OK;
}

static pawl_status list_kind(struct listing *l, int kind) {
    bool any_fingerprint = str_absent(l->filter->fingerprint); /* only dead letters have one */
    if (any_fingerprint && wants(l, STATE_READY))
        TRY(list_messages(l, kind));
    if (any_fingerprint && (wants(l, STATE_SCHEDULED) || wants(l, STATE_BLOCKED)))
        TRY(list_aside(l, kind));
    if (wants(l, STATE_DEAD))
        TRY(list_dead(l, kind));
    if (any_fingerprint && wants(l, STATE_DONE))
        TRY(list_history(l, kind));
    return PAWL_OK;
}

/* How many rows of each table to examine. Without a condition on the rows, each of them matches, and a page
 * is filled. */
static void share_scan(struct listing *l) {
    const struct message_filter *filter = l->filter;
    size_t kinds = filter->kind == 0 ? KIND_COUNT : 1;
    size_t lanes = only_lane(l) == -1 ? (size_t)l->op->settings.lane_count : 1;
    bool plain = str_absent(filter->stream) && str_absent(filter->type) && str_absent(filter->topic) &&
                 filter->before_ms == 0;
    size_t least = plain ? l->limit : 1;
    l->scan = filter->scan_max > 0 ? (size_t)filter->scan_max : PAWL_LIST_SCAN;
    l->in_kind = l->scan / kinds > least ? l->scan / kinds : least;
    l->in_lane = l->scan / (kinds * lanes) > least ? l->scan / (kinds * lanes) : least;
}

static pawl_status load_refs(struct operation *op, const struct view_ref *refs, size_t count,
                             const struct leased_list *leased, struct arena *arena,
                             struct message_rows *out) {
    struct message_rows list = {.rows = arena_array(arena, count, sizeof(*list.rows))};
    pawl_status status = list.rows != NULL ? PAWL_OK : operation_no_memory(op);
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        struct view_row row;
        bool found = false;
        status = view_load(op, &refs[i], leased, arena, &row, &found);
        if (status == PAWL_OK && found)
            list.rows[list.count++] = row.row;
    }
    *out = list;
    return status;
}

static pawl_status list_all(struct operation *op, const struct message_filter *filter, struct arena *arena,
                            struct message_rows *out) {
    struct listing l = {.op = op, .filter = filter, .below_seq = INT64_MAX, .until_seq = INT64_MAX};
    l.limit = filter->limit > 0 ? (size_t)filter->limit : PAWL_LIST_DEFAULT;
    l.refs = arena_array(op->scratch, 2 * l.limit, sizeof(*l.refs));
    share_scan(&l);
    TRY(l.refs != NULL ? view_load_leased(op, &l.leased) : operation_no_memory(op));
    if (filter->state == STATE_LEASED && str_absent(filter->fingerprint))
        TRY(list_leased(&l));
    for (int kind = 1; kind <= KIND_COUNT && filter->state != STATE_LEASED; kind++)
        if (filter->kind == 0 || (int)filter->kind == kind)
            TRY(list_kind(&l, kind));
    int64_t next = l.until_seq == INT64_MAX ? 0 : l.until_seq;
    if (l.count == l.limit)
        next = l.refs[l.limit - 1].seq;
    TRY(load_refs(op, l.refs, l.count, &l.leased, arena, out));
    out->next_seq = next;
    return PAWL_OK;
}

pawl_status sqlite_messages(struct store *store, const struct message_filter *filter, struct arena *arena,
                            struct message_rows *out, pawl_error *err) {
    struct message_rows rows = {0};
    struct operation op = operation_read(store, "messages", PAWL_OK, err);
    return operation_give(&op, list_all(&op, filter, arena, &rows), out, &rows);
}

pawl_status sqlite_message_find(struct store *store, pawl_uuid id, struct arena *arena,
                                struct message_rows *out, pawl_error *err) {
    struct message_rows rows = {0};
    struct leased_list leased = {0};
    struct view_ref *refs = NULL;
    size_t count = 0;
    struct operation op = operation_read(store, "message_find", PAWL_OK, err);
    if (op.status != PAWL_OK)
        return op.status;
    pawl_status status = view_load_leased(&op, &leased);
    if (status == PAWL_OK)
        status = view_refs_by_id(&op, id, &refs, &count);
    if (status == PAWL_OK)
        status = load_refs(&op, refs, count, &leased, arena, &rows);
    return operation_give(&op, status, out, &rows);
}
