/* Finding out why a message is not done yet on SQLite. */
#include "base/error.h"
#include "base/str.h"
#include "base/uuid.h"
#include "store/sqlite/messages/view.h"

/* The state of one query. */
struct asking {
    struct operation *op;
    struct leased_list leased;
    struct arena *arena;
};

/* A message that is not finished, or a dead letter, known by its seq. */
static pawl_status load_by_seq(struct asking *a, const struct view_row *near, int64_t seq,
                               struct view_row *row, bool *found) {
    struct view_ref ref = near->ref;
    ref.seq = seq;
    *found = false;
    for (int place = PLACE_MESSAGE; place <= PLACE_DEAD && !*found; place++) {
        ref.place = (enum view_place)place;
        TRY(view_load(a->op, &ref, &a->leased, a->arena, row, found));
    }
    return PAWL_OK;
}

/* The first unfinished message of its stream; *seq 0 when that is the message itself. */
static pawl_status find_blocker(struct asking *a, const struct view_row *row, int64_t *seq,
                                bool *many_ahead) {
    int64_t first = 0;
    struct statement s =
        SQL(a->op, SQLITE_Q_VIEW_FIRST_OF_STREAM, row->ref.kind, row->key, row->ref.lane, row->ref.seq);
    if (statement_next(&s)) {
        first = column_int(&s, 0);
        *many_ahead = column_int(&s, 1) != 0;
    }
    TRY(statement_end(&s));
    bool later = row->ref.place == PLACE_ASIDE && first > row->ref.seq;
    *seq = first == row->ref.seq || later ? 0 : first;
    return PAWL_OK;
}

static pawl_status ask_lane(struct asking *a, const struct view_row *row, enum why_cause *cause,
                            struct why *out) {
    struct statement s = SQL(a->op, SQLITE_Q_VIEW_LANE, row->ref.kind, row->ref.lane);
    *cause = WHY_NO_OWNER;
    if (statement_next(&s) && !column_is_null(&s, 0)) {
        out->instance = column_uuid(&s, 0);
        if (column_is_null(&s, 2) || column_int(&s, 2) <= a->op->now_ms)
            *cause = WHY_OWNER_SILENT;
        else if (column_int(&s, 1) != 0)
            *cause = WHY_DRAINING;
        else
            *cause = row->row.item.suspect ? WHY_SUSPECT : WHY_READY;
    }
    return statement_end(&s);
}

/* The cause of one message; *blocker is the seq of what it waits for, when it waits for another. */
static pawl_status find_cause(struct asking *a, const struct view_row *row, int64_t *blocker,
                              struct why *out) {
    *blocker = 0;
    switch (row->row.state) {
    case STATE_DONE:
        out->cause = WHY_DONE;
        return PAWL_OK;
    case STATE_DEAD:
        out->cause = WHY_DEAD;
        return PAWL_OK;
    case STATE_LEASED:
        out->instance = row->row.claimed_by;
        out->until_ms = row->row.item.lease_until_ms;
        out->cause = out->until_ms > a->op->now_ms ? WHY_RUNNING : WHY_LEASE_OVER;
        return PAWL_OK;
    default:
        break;
    }
    if (row->hold_state == HOLD_BLOCKED || row->hold_state == HOLD_PARKED) {
        *blocker = row->hold_by_seq;
        out->cause = WHY_BLOCKED;
        return PAWL_OK;
    }
    bool many_ahead = false;
    TRY(find_blocker(a, row, blocker, &many_ahead));
    out->many_ahead = *blocker == 0 && many_ahead && !str_absent(row->row.item.stream);
    if (*blocker != 0) {
        out->cause = WHY_BEHIND;
    } else if (row->ref.place == PLACE_ASIDE && row->scheduled_ms > a->op->now_ms) {
        out->until_ms = row->scheduled_ms;
        out->cause = WHY_SCHEDULED;
    } else {
        TRY(ask_lane(a, row, &out->cause, out));
    }
    return PAWL_OK;
}

/* Unfinished ones first, then dead, then done; each by seq. */
static const struct view_ref *pick(const struct view_ref *refs, size_t count) {
    const struct view_ref *best = NULL;
    int best_rank = 0;
    for (size_t i = 0; i < count; i++) {
        int rank = refs[i].place <= PLACE_ASIDE ? 0 : (int)refs[i].place;
        if (best == NULL || rank < best_rank) {
            best = &refs[i];
            best_rank = rank;
        }
    }
    return best;
}

static pawl_status answer(struct asking *a, pawl_uuid id, struct why *out) {
    char text[UUID_TEXT_BYTES];
    struct view_ref *refs = NULL;
    struct view_row row, other;
    size_t count = 0;
    int64_t blocker = 0, ignored = 0;
    bool found = false;
    TRY(view_load_leased(a->op, &a->leased));
    TRY(view_refs_by_id(a->op, id, &refs, &count));
    const struct view_ref *ref = pick(refs, count);
    if (ref != NULL)
        TRY(view_load(a->op, ref, &a->leased, a->arena, &row, &found));
    if (!found)
        return error_set(a->op->err, PAWL_NOT_FOUND, a->op->name,
                         "no message %s is known: it was never put, or it is done and gone",
                         uuid_format(id, text));
    TRY(find_cause(a, &row, &blocker, out));
    out->row = row.row;
    out->now_ms = a->op->now_ms;
    if (blocker == 0)
        return PAWL_OK;
    struct why step = {0};
    TRY(load_by_seq(a, &row, blocker, &other, &found));
    if (found) {
        out->blocker_id = other.row.item.id;
        out->blocker_seq = blocker;
        TRY(find_cause(a, &other, &ignored, &step));
        out->blocker_cause = step.cause;
    }
    return PAWL_OK;
}

pawl_status sqlite_why(struct store *store, pawl_uuid id, struct arena *arena, struct why *out,
                       pawl_error *err) {
    struct why why = {0};
    struct operation op = operation_read(store, "why", PAWL_OK, err);
    struct asking a = {.op = &op, .arena = arena};
    return operation_give(&op, answer(&a, id, &why), out, &why);
}
