/* The parts of claims, which say what is in flight, loaded once per operation, changed in memory, written
 * back at its end. */
#ifndef STORE_SQLITE_CLAIMS_PART_H
#define STORE_SQLITE_CLAIMS_PART_H

#include "store/sqlite/file/operation.h"

/* The state of an item of a part. */
enum item_mark {
    MARK_OPEN = 0, /* in flight */
    MARK_DONE,     /* reported: its id is one of the part's done_ids */
    MARK_LEFT      /* taken away, or the part ended: its reports are stale */
};

struct part_item {
    int64_t seq;
    pawl_uuid id;
    uint8_t mark;
    pawl_str key; /* of its stream; absent until part_load_keys */
    uint64_t key_hash;
};

struct part {
    struct part *next;
    int64_t token;
    int part;
    enum store_kind kind;
    int lane;
    pawl_uuid instance;
    enum part_source source;
    enum suspect_state suspect;
    int lost; /* granted with it after a loss; only in a new part */
    enum claim_state state;
    enum dead_policy policy;
    int max_attempts;
    int64_t began_ms, lease_until_ms;
    pawl_uuid request;       /* nil: none */
    struct part_item *items; /* in seq order */
    size_t count;
    size_t open;    /* how many are MARK_OPEN */
    bool forgotten; /* completed whole by one call: its lists were dropped */
    bool dirty, fresh, keys_loaded;
    size_t named; /* scratch of a renewal */
};

/* Loads every part of a token, of any state; *first is the one with the lowest number and the rest follow by
 * part_next_of. NULL when the token is unknown. */
PAWL_MUSTCHECK pawl_status part_load_token(struct operation *op, int64_t token, struct part **first);
struct part *part_next_of(struct part *part);

/* Loads the active parts of a lane. Walk them with part_next_active, from NULL. */
PAWL_MUSTCHECK pawl_status part_load_lane(struct operation *op, enum store_kind kind, int lane);

/* The active parts of a request key, loaded. */
PAWL_MUSTCHECK pawl_status part_load_request(struct operation *op, const struct messages_claim *in);

/* Every active part, for the views. */
PAWL_MUSTCHECK pawl_status part_load_active(struct operation *op);

/* Gives every open item of the part its key. */
PAWL_MUSTCHECK pawl_status part_load_keys(struct operation *op, struct part *part);

/* A new part with room for count items, written by parts_flush. NULL when out of memory. */
struct part *part_make(struct operation *op, int64_t token, size_t count);

/* Marks an open item as done or gone; a part without open items is done. */
void part_mark(struct part *part, struct part_item *item, enum item_mark mark);

/* Writes the changed parts and forgets them all: pointers into them are no longer valid. */
PAWL_MUSTCHECK pawl_status parts_flush(struct operation *op);

/* The active parts of a lane that are loaded, one after the other; NULL at the end. */
struct part *part_next_active(struct operation *op, struct part *after, enum store_kind kind, int lane);

#endif
