/* Adding up the counts of perspectives during an operation, and writing them at its end. */
#include "store/sqlite/events/perspective_count.h"

#include "base/str.h"

static void add(struct perspective_delta *delta, struct counted_state state, int64_t sign) {
    delta->by_status[state.status] += sign;
    delta->stopped += state.stopped ? sign : 0;
}

/* An operation is nearly always about one perspective: another one writes what came before. */
static pawl_status turn_to(struct operation *op, pawl_str key) {
    pawl_status status = str_equal(op->perspective.key, key) ? PAWL_OK : perspective_count_write(op);
    op->perspective.key = key;
    return status;
}

pawl_status perspective_count_applied(struct operation *op, pawl_str key, int64_t count) {
    TRY(turn_to(op, key));
    op->perspective.applied += count;
    return PAWL_OK;
}

pawl_status perspective_count_moved(struct operation *op, pawl_str key, struct counted_state from,
                                    struct counted_state to) {
    TRY(turn_to(op, key));
    add(&op->perspective, from, -1);
    add(&op->perspective, to, 1);
    return PAWL_OK;
}

pawl_status perspective_count_again(struct operation *op, pawl_str key) {
    TRY(perspective_count_write(op));
    return statement_run(SQL(op, SQLITE_Q_PERSPECTIVE_TALLY_AGAIN, key));
}

pawl_status perspective_count_write(struct operation *op) {
    struct perspective_delta delta = op->perspective;
    bool any = delta.applied != 0 || delta.stopped != 0;
    op->perspective = (struct perspective_delta){0};
    for (size_t i = 0; i < sizeof delta.by_status / sizeof delta.by_status[0]; i++)
        any = any || delta.by_status[i] != 0;
    if (!any)
        return PAWL_OK;
    return statement_run(SQL(op, SQLITE_Q_PERSPECTIVE_TALLY_MOVED, delta.key,
                             delta.by_status[CHECKPOINT_PENDING], delta.by_status[CHECKPOINT_PROCESSING],
                             delta.by_status[CHECKPOINT_COMPLETED], delta.by_status[CHECKPOINT_FAILED],
                             delta.stopped, delta.applied));
}
