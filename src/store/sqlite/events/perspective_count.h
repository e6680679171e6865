/* The counts of perspectives: added up during an operation, written once at its end. */
#ifndef STORE_SQLITE_EVENTS_PERSPECTIVE_COUNT_H
#define STORE_SQLITE_EVENTS_PERSPECTIVE_COUNT_H

#include "store/sqlite/file/operation.h"
#include "store/types.h"

/* The state of a checkpoint as the counts see it. */
struct counted_state {
    enum checkpoint_status status;
    bool stopped;
};

/* Keys must stay until the operation ends. */
PAWL_MUSTCHECK pawl_status perspective_count_applied(struct operation *op, pawl_str key, int64_t count);
PAWL_MUSTCHECK pawl_status perspective_count_moved(struct operation *op, pawl_str key,
                                                   struct counted_state from, struct counted_state to);
/* After a statement that changed many checkpoints of a perspective; key absent: of any. */
PAWL_MUSTCHECK pawl_status perspective_count_again(struct operation *op, pawl_str key);
/* Writes what was added up; called by the operation's end. */
PAWL_MUSTCHECK pawl_status perspective_count_write(struct operation *op);

#endif
