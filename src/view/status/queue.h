/* Statistics of the job queue: what is waiting, by priority, and the last hour. */
#ifndef VIEW_STATUS_QUEUE_H
#define VIEW_STATUS_QUEUE_H

#include "base/buf.h"
#include "store/store.h"

struct queue_stats {
    int64_t total_pending, ready_now, currently_leased, expired_leases, dead;
    int64_t oldest_age_ms;
    int64_t total_runs, successful_runs; /* of the last hour, as far as executions are audited */
    int64_t duration_ms;                 /* of them all */
    int64_t active_workers;              /* that ended any of them or hold a job now */
    bool priorities_all;                 /* false: there are more than were counted */
    struct buf priorities;               /* JSON: {"0":12,"5":3}; the highest first */
};

/* Counts come from the tallies; waiting jobs by priority are counted up to PAWL_BACKLOG_LOOK. Call
 * queue_stats_free even if it failed. */
PAWL_MUSTCHECK pawl_status queue_stats_read(struct store *store, struct arena *arena,
                                            struct queue_stats *stats, pawl_error *err);
void queue_stats_free(struct queue_stats *stats);

#endif
