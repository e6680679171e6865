/* Counting what is left to do, for workers that stop when idle. */
#include "base/limits.h"
#include "base/str.h"
#include "store/store.h"

pawl_status store_left(struct store *store, int kinds, pawl_str queue, struct arena *arena,
                       struct work_left *out, pawl_error *err) {
    struct work_left left = {0};
    struct counts counts;
    struct job_counts_list jobs = {0};
    pawl_status status = store->ops->view.counts(store, &counts, err);
    if (status == PAWL_OK && (kinds & KIND_BIT_JOBS) != 0)
        status = store->ops->jobs->counts(store, arena, &jobs, err);
    if (status != PAWL_OK)
        return status;
    for (int kind = 1; kind <= KIND_COUNT; kind++) {
        const struct kind_counts *c = &counts.kind[kind];
        if ((kinds & KIND_BIT(kind)) == 0)
            continue;
        bool due = c->next_due_ms != 0 && c->next_due_ms <= counts.now_ms;
        left.due += c->ready + c->leased + due;
        if (c->next_due_ms > counts.now_ms) {
            bool paused = c->next_due_ms == PAWL_UNTIL_RESUMED_MS;
            int64_t wait_ms = paused ? 0 : c->next_due_ms - counts.now_ms;
            left.later += c->aside;
            if (wait_ms > 0)
                left.next_ms = left.next_ms == 0 || wait_ms < left.next_ms ? wait_ms : left.next_ms;
        }
    }
    for (size_t i = 0; i < jobs.count; i++) {
        if (str_absent(queue) || str_equal(queue, jobs.queues[i].queue))
            left.due += jobs.queues[i].running;
    }
    *out = left;
    return PAWL_OK;
}
