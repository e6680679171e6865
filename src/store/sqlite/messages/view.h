/* Shared by the view files: where messages are, and reading one of them. */
#ifndef STORE_SQLITE_MESSAGES_VIEW_H
#define STORE_SQLITE_MESSAGES_VIEW_H

#include "store/sqlite/file/operation.h"

enum view_place { PLACE_MESSAGE = 1, PLACE_ASIDE, PLACE_DEAD, PLACE_HISTORY };

/* Where a message is. */
struct view_ref {
    enum view_place place;
    enum store_kind kind;
    int lane;
    int64_t seq;
};

/* A message in an active claim. */
struct leased {
    struct view_ref ref;
    int64_t token, lease_until_ms;
    pawl_uuid instance;
};

/* Everything in flight, by seq; seqs are unique over all kinds. */
struct leased_list {
    struct leased *at;
    size_t count;
};

/* A message with what is needed to say why it waits. */
struct view_row {
    struct message_row row;
    struct view_ref ref;
    pawl_str key;
    int hold_state; /* enum hold_state; 0: no hold */
    int64_t hold_by_seq;
    int64_t scheduled_ms; /* aside, whatever its state */
};

PAWL_MUSTCHECK pawl_status view_load_leased(struct operation *op, struct leased_list *list);
const struct leased *view_find_leased(const struct leased_list *list, int64_t seq);

/* One message; *found false when it is not there. */
PAWL_MUSTCHECK pawl_status view_load(struct operation *op, const struct view_ref *ref,
                                     const struct leased_list *leased, struct arena *arena,
                                     struct view_row *row, bool *found);

/* The gauges and counters of a kind. */
PAWL_MUSTCHECK pawl_status view_count_kind(struct operation *op, int kind, struct kind_counts *out);

/* Where the messages with that id are, by seq. */
PAWL_MUSTCHECK pawl_status view_refs_by_id(struct operation *op, pawl_uuid id, struct view_ref **refs,
                                           size_t *count);

/* Adds problems of the file itself: permissions, size of the log, free disk space. */
PAWL_MUSTCHECK pawl_status problems_of_file(struct sqlite_store *store, struct arena *arena,
                                            struct violations *list, pawl_error *err);

#endif
