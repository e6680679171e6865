/* The queue of jobs in numbers. */
#include "cli/queue_view.h"

#include <inttypes.h>

#include "base/limits.h"
#include "base/uuid.h"

enum { HOUR_MS = 3600000, RUNS_READ = 1000, WORKERS_MAX = 1000 };

static pawl_status read_backlog(struct store *store, struct arena *arena, struct queue_stats *stats,
                                pawl_error *err) {
    struct job_backlog backlog = {.count = 0};
    pawl_status status = store->ops->jobs->backlog(store, PAWL_BACKLOG_LOOK, arena, &backlog, err);
    if (status != PAWL_OK)
        return status;
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

static pawl_status read_hour(struct store *store, struct arena *arena, int64_t now_ms,
                             struct queue_stats *stats, pawl_error *err) {
    struct run_filter filter = {.since_ms = now_ms - HOUR_MS, .limit = RUNS_READ, .scan_max = RUNS_READ};
    struct task_run_list found = {.count = 0};
    pawl_uuid workers[WORKERS_MAX];
    pawl_status status = store->ops->jobs->runs(store, &filter, arena, &found, err);
    if (status != PAWL_OK)
        return status;
    stats->runs_all = found.count < (size_t)filter.limit;
    stats->total_runs = (int64_t)found.count;
    for (size_t i = 0; i < found.count; i++) {
        const struct task_run *run = &found.runs[i];
        bool known = false;
        stats->successful_runs += run->outcome == RUN_SUCCEEDED;
        stats->duration_ms += run->finished_ms - run->started_ms;
        for (int64_t j = 0; j < stats->active_workers; j++)
            known = known || uuid_equal(workers[j], run->instance);
        if (!known && stats->active_workers < WORKERS_MAX)
            workers[stats->active_workers++] = run->instance;
    }
    return PAWL_OK;
}

pawl_status queue_stats_read(struct store *store, struct arena *arena, struct queue_stats *stats,
                             pawl_error *err) {
    struct job_counts_list queues = {.count = 0};
    *stats = (struct queue_stats){.runs_all = true, .priorities_all = true};
    buf_init(&stats->priorities, 0);
    pawl_status status = store->ops->jobs->counts(store, arena, &queues, err);
    for (size_t i = 0; status == PAWL_OK && i < queues.count; i++) {
        const struct job_counts *counts = &queues.queues[i];
        int64_t age_ms = counts->oldest_ready_ms > 0 ? queues.now_ms - counts->oldest_ready_ms : 0;
        stats->total_pending += counts->ready + counts->running + counts->later + counts->waiting;
        stats->ready_now += counts->ready;
        stats->currently_leased += counts->running;
        stats->dead += counts->dead;
        if (age_ms > stats->oldest_age_ms)
            stats->oldest_age_ms = age_ms;
    }
    if (status == PAWL_OK)
        status = read_backlog(store, arena, stats, err);
    if (status == PAWL_OK)
        status = read_hour(store, arena, queues.now_ms, stats, err);
    return status;
}

void queue_stats_free(struct queue_stats *stats) { buf_free(&stats->priorities); }
