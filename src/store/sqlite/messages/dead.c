/* Making messages dead letters on SQLite, and applying the stream's policy. */
#include "store/sqlite/messages/dead.h"

#include "base/str.h"
#include "domain/failure/fingerprint.h"

static pawl_status message_to_dead(struct operation *op, const struct death *death, pawl_str mark) {
    const struct stream_ref *stream = &death->stream;
    TRY(statement_run(SQL(op, SQLITE_Q_MESSAGE_TO_DEAD, stream->kind, stream->lane, stream->seq,
                          death->attempts, 0, death->reason, op->now_ms, death->error, mark)));
    return statement_run(SQL(op, SQLITE_Q_MESSAGE_DELETE, stream->kind, stream->lane, stream->seq));
}

static pawl_status aside_to_dead(struct operation *op, const struct death *death, pawl_str mark) {
    TRY(statement_run(SQL(op, SQLITE_Q_ASIDE_TO_DEAD, death->stream.kind, death->stream.seq, death->reason,
                          op->now_ms, mark)));
    return aside_delete(op, death->stream.kind, death->stream.seq);
}

/* The row moves; nothing happens to its stream yet. */
static pawl_status move_to_dead(struct operation *op, const struct death *death) {
    char text[FINGERPRINT_BYTES];
    pawl_str mark = {NULL, 0};
    if (death->reason != DEAD_PARKED)
        mark = str_from(fingerprint(death->error, text));
    op->tally[death->stream.kind].dead++;
    return death->source == SOURCE_MESSAGE ? message_to_dead(op, death, mark)
                                           : aside_to_dead(op, death, mark);
}

static pawl_status park_row(struct operation *op, const struct stream_ref *stream, enum part_source source) {
    struct death death = {.stream = *stream, .source = source, .reason = DEAD_PARKED};
    return move_to_dead(op, &death);
}

pawl_status dead_park_message(struct operation *op, enum store_kind kind, int lane, int64_t seq) {
    struct stream_ref stream = {.kind = kind, .lane = lane, .seq = seq};
    return park_row(op, &stream, SOURCE_MESSAGE);
}

/* Those in flight have gone aside before. */
static pawl_status park_followers(struct operation *op, const struct stream_ref *stream) {
    struct stream_ref follower = *stream;
    bool more = true;
    while (more) {
        TRY(statement_number(SQL(op, SQLITE_Q_ASIDE_FOLLOWERS, stream->kind, stream->key, follower.seq),
                             &follower.seq, &more));
        if (more)
            TRY(park_row(op, &follower, SOURCE_ASIDE));
    }
    return PAWL_OK;
}

static bool is_alone(const struct stream_ref *stream) {
    return stream->key.len > 0 && stream->key.ptr[0] == '\001';
}

pawl_status dead_bury(struct operation *op, const struct death *death) {
    const struct stream_ref *stream = &death->stream;
    TRY(move_to_dead(op, death));
    if (is_alone(stream) || death->policy == POLICY_SKIP)
        return hold_settle(op, stream->kind, stream->lane, stream->key, false);
    bool parks = death->policy == POLICY_PARK;
    TRY(hold_stop(op, stream, parks ? HOLD_PARKED : HOLD_BLOCKED));
    TRY(aside_put_followers_behind(op, stream));
    if (parks)
        TRY(park_followers(op, stream));
    return PAWL_OK;
}
