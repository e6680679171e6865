/* Setting messages aside on SQLite, and the holds of their streams. */
#include "store/sqlite/messages/aside.h"

#include "base/str.h"
#include "store/sqlite/file/row.h"

static pawl_status delete_message(struct operation *op, enum store_kind kind, int lane, int64_t seq) {
    return statement_run(SQL(op, SQLITE_Q_MESSAGE_DELETE, kind, lane, seq));
}

pawl_status aside_take(struct operation *op, enum store_kind kind, int lane, int64_t seq,
                       const struct aside_new *as) {
    TRY(statement_run(SQL(op, SQLITE_Q_MESSAGE_TO_ASIDE, kind, lane, seq, as->attempts, as->deaths,
                          as->reason, as->scheduled_ms, as->error, as->losses)));
    TRY(delete_message(op, kind, lane, seq));
    op->tally[kind].aside++;
    return PAWL_OK;
}

pawl_status aside_return(struct operation *op, enum store_kind kind, int64_t seq, struct aside_back back) {
    return statement_run(
        SQL(op, SQLITE_Q_ASIDE_RETURN, kind, seq, back.deaths, back.reason, back.scheduled_ms, back.losses));
}

pawl_status part_give_back(struct operation *op, const struct part *part, const struct part_item *item,
                           struct aside_back back) {
    if (part->source == SOURCE_ASIDE)
        return aside_return(op, part->kind, item->seq, back);
    struct aside_new as = {.losses = back.losses, .reason = back.reason, .scheduled_ms = back.scheduled_ms};
    return aside_take(op, part->kind, part->lane, item->seq, &as);
}

pawl_status aside_delete(struct operation *op, enum store_kind kind, int64_t seq) {
    op->tally[kind].aside--;
    return statement_run(SQL(op, SQLITE_Q_ASIDE_DELETE, kind, seq));
}

/*
 * An open item leaves its claim: a message goes aside, a row that is aside already stays as it is. Its mark
 * is MARK_LEFT, its hold is not settled.
 */
static pawl_status aside_put_behind(struct operation *op, struct part *part, struct part_item *item) {
    part_mark(part, item, MARK_LEFT);
    if (part->source == SOURCE_ASIDE)
        return PAWL_OK;
    struct aside_new as = {.reason = ASIDE_BEHIND, .scheduled_ms = op->now_ms};
    return aside_take(op, part->kind, part->lane, item->seq, &as);
}

struct stream_ref stream_of(const struct part *part, const struct part_item *item) {
    return (struct stream_ref){part->kind, part->lane, item->key, item->key_hash, item->seq};
}

bool stream_follows(const struct stream_ref *stream, const struct part_item *item) {
    return item->mark == MARK_OPEN && item->seq > stream->seq && item->key_hash == stream->key_hash &&
           str_equal(item->key, stream->key);
}

pawl_status aside_put_followers_behind(struct operation *op, const struct stream_ref *stream) {
    TRY(part_load_lane(op, stream->kind, stream->lane));
    struct part *part = NULL;
    while ((part = part_next_active(op, part, stream->kind, stream->lane)) != NULL) {
        TRY(part_load_keys(op, part));
        for (size_t i = 0; i < part->count; i++)
            if (stream_follows(stream, &part->items[i]))
                TRY(aside_put_behind(op, part, &part->items[i]));
    }
    return PAWL_OK;
}

LOCAL_SHAPE(hold, struct hold, M(state), M(by_seq), M(due_ms));

pawl_status hold_find(struct operation *op, enum store_kind kind, pawl_str key, struct hold *hold,
                      bool *found) {
    return row_find(SQL(op, SQLITE_Q_HOLD_FIND, kind, key), &hold_shape, op->scratch, hold, found);
}

static pawl_status put_hold(struct operation *op, const struct stream_ref *stream, struct hold hold) {
    return statement_run(SQL(op, SQLITE_Q_HOLD_PUT, stream->kind, stream->key, stream->lane, hold.due_ms,
                             hold.state, hold.by_seq));
}

pawl_status hold_stop(struct operation *op, const struct stream_ref *stream, enum hold_state state) {
    return put_hold(op, stream, (struct hold){state, stream->seq, 0});
}

static pawl_status delete_hold(struct operation *op, enum store_kind kind, pawl_str key) {
    return statement_run(SQL(op, SQLITE_Q_HOLD_DELETE, kind, key));
}

pawl_status hold_settle(struct operation *op, enum store_kind kind, int lane, pawl_str key, bool release) {
    struct hold hold;
    bool held = false;
    TRY(hold_find(op, kind, key, &hold, &held));
    if (held && hold.state != HOLD_WAITING && !release)
        return PAWL_OK;
    int64_t due_ms = 0;
    bool any = false;
    TRY(statement_number(SQL(op, SQLITE_Q_ASIDE_HEAD, kind, key), &due_ms, &any));
    if (!any && !held)
        return PAWL_OK;
    if (!any)
        return delete_hold(op, kind, key);
    struct stream_ref stream = {.kind = kind, .lane = lane, .key = key};
    return put_hold(op, &stream, (struct hold){HOLD_WAITING, 0, due_ms});
}
