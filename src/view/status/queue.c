/* Statistics of the job queue. */
#include "view/status/queue.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/uuid.h"

enum { HOUR_MS = 3600000 };

static pawl_status read_backlog(struct store *store, struct arena *arena, struct queue_stats *stats,
                                pawl_error *err) {
    struct job_backlog backlog = {.count = 0};
    TRY(store->ops->jobs->backlog(store, PAWL_BACKLOG_LOOK, arena, &backlog, err));
    stats->priorities_all = backlog.all;
    stats->expired_leases = backlog.overdue;
    stats->currently_leased -= stats->currently_leased >= backlog.overdue ? backlog.overdue : 0;
    buf_append_char(&stats->priorities, '{');
    for (size_t i = 0; i < backlog.count; i++) {
        const struct job_priority *waits = &backlog.priorities[i];
        buf_printf(&stats->priorities, "%s\"%d\":%" PRId64, i > 0 ? "," : "", waits->priority,
                   waits->ready + waits->later);
    }
    buf_append_char(&stats->priorities, '}');
    return buf_status(&stats->priorities, "queue", err);
}

static pawl_status read_hour(struct store *store, int64_t now_ms, struct queue_stats *stats,
                             pawl_error *err) {
    struct run_sums sums = {0};
    TRY(store->ops->jobs->run_sums(store, now_ms - HOUR_MS, uuid_nil(), &sums, err));
    stats->total_runs = sums.runs;
    stats->successful_runs = sums.succeeded;
    stats->duration_ms = sums.duration_ms;
    stats->active_workers = sums.workers;
    return PAWL_OK;
}

/* A worker that is running its first job of the hour has not ended any. */
static pawl_status count_busy(struct store *store, int64_t now_ms, struct arena *arena,
                              struct queue_stats *stats, pawl_error *err) {
    struct instance_rows found = {.count = 0};
    pawl_status status = store->ops->view.instances(store, arena, &found, err);
    for (size_t i = 0; status == PAWL_OK && i < found.count; i++) {
        const struct instance_row *row = &found.rows[i];
        struct run_sums sums = {0};
        if (row->jobs == 0 || row->lease_until_ms <= now_ms)
            continue;
        status = store->ops->jobs->run_sums(store, now_ms - HOUR_MS, row->id, &sums, err);
        stats->active_workers += status == PAWL_OK && sums.runs == 0;
    }
    return status;
}

pawl_status queue_stats_read(struct store *store, struct arena *arena, struct queue_stats *stats,
                             pawl_error *err) {
    struct job_counts_list queues = {.count = 0};
    *stats = (struct queue_stats){.priorities_all = true};
    buf_init(&stats->priorities, 0);
    pawl_status status = store->ops->jobs->counts(store, arena, &queues, err);
    for (size_t i = 0; status == PAWL_OK && i < queues.count; i++) {
        const struct job_counts *counts = &queues.queues[i];
        int64_t age_ms = counts->oldest_ready_ms > 0 ? queues.now_ms - counts->oldest_ready_ms : 0;
        stats->total_pending += job_counts_unfinished(counts);
        stats->ready_now += counts->ready;
        stats->currently_leased += counts->running;
        stats->dead += counts->dead;
        if (age_ms > stats->oldest_age_ms)
            stats->oldest_age_ms = age_ms;
    }
    if (status == PAWL_OK)
        status = read_backlog(store, arena, stats, err);
    if (status == PAWL_OK)
        status = read_hour(store, queues.now_ms, stats, err);
    if (status == PAWL_OK)
        status = count_busy(store, queues.now_ms, arena, stats, err);
    return status;
}

void queue_stats_free(struct queue_stats *stats) { buf_free(&stats->priorities); }
