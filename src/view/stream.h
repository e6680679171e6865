/* Streams with waiting messages, gathered from the messages. */
#ifndef VIEW_STREAM_H
#define VIEW_STREAM_H

#include "base/arena.h"
#include "store/store.h"
#include "view/output/output.h"

enum { STREAM_COLUMNS = 12 };

struct stream_row {
    enum store_kind kind;
    pawl_str stream;
    int64_t counts[STATE_DONE + 1]; /* by enum message_state, of what was read */
    bool complete;                  /* everything was read: the counts are exact */
    int64_t first_seq, first_put_ms;
    pawl_uuid first_id;
    pawl_str first_type;
    enum message_state first_state;
};

struct stream_rows {
    struct stream_row *rows;
    size_t count;
};

extern const struct column stream_columns[STREAM_COLUMNS];

/* How many messages of each state a list of streams may read. */
enum { STREAMS_LOOK_MAX = 100000 };

/* Reads at most per_state messages of every state but done, so that it costs the same whatever the backlog;
 * when there are more, no row is complete. Blocked streams come first, then those with dead letters. kind 0 =
 * any. */
PAWL_MUSTCHECK pawl_status streams_waiting(struct store *store, enum store_kind kind, int per_state,
                                           struct arena *arena, struct stream_rows *out, pawl_error *err);

#endif
