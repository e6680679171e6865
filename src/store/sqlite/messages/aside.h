/* Setting messages aside, and the holds of their streams. */
#ifndef STORE_SQLITE_MESSAGES_ASIDE_H
#define STORE_SQLITE_MESSAGES_ASIDE_H

#include "store/sqlite/claims/part.h"

/* How a message goes aside. */
struct aside_new {
    int attempts, deaths, losses;
    enum aside_reason reason;
    int64_t scheduled_ms;
    pawl_str error;
};

/* Moves a row of message aside. The caller must settle its hold (hold_settle). */
PAWL_MUSTCHECK pawl_status aside_take(struct operation *op, enum store_kind kind, int lane, int64_t seq,
                                      const struct aside_new *as);

/* How a row aside is given back without counting an attempt. */
struct aside_back {
    int deaths; /* added */
    int losses; /* 0: as it is; 1: lost once more; PAWL_SUSPECT_LOSSES: a suspect */
    enum aside_reason reason;
    int64_t scheduled_ms;
};
PAWL_MUSTCHECK pawl_status aside_return(struct operation *op, enum store_kind kind, int64_t seq,
                                        struct aside_back back);

/* An unfinished item of a part comes back as a row of aside; its hold is the caller's business. */
PAWL_MUSTCHECK pawl_status part_give_back(struct operation *op, const struct part *part,
                                          const struct part_item *item, struct aside_back back);

PAWL_MUSTCHECK pawl_status aside_delete(struct operation *op, enum store_kind kind, int64_t seq);

struct stream_ref {
    enum store_kind kind;
    int lane;
    pawl_str key;
    uint64_t key_hash;
    int64_t seq;
};
struct stream_ref stream_of(const struct part *part, const struct part_item *item);

/* Whether the item belongs to the stream and comes after stream.seq. */
bool stream_follows(const struct stream_ref *stream, const struct part_item *item);

/* Sets aside the later items of the stream that are in flight on the lane. */
PAWL_MUSTCHECK pawl_status aside_put_followers_behind(struct operation *op, const struct stream_ref *stream);

struct hold {
    enum hold_state state;
    int64_t by_seq;
    int64_t due_ms;
};
PAWL_MUSTCHECK pawl_status hold_find(struct operation *op, enum store_kind kind, pawl_str key,
                                     struct hold *hold, bool *found);

/* Blocks or parks the stream because of the dead letter stream->seq. */
PAWL_MUSTCHECK pawl_status hold_stop(struct operation *op, const struct stream_ref *stream,
                                     enum hold_state state);

/* Makes the hold agree with the rows aside: due with the first of them, gone without any. A blocked or parked
 * hold is unchanged, unless `release` says that what it waited for has ended. */
PAWL_MUSTCHECK pawl_status hold_settle(struct operation *op, enum store_kind kind, int lane, pawl_str key,
                                       bool release);

#endif
