/* The queue of jobs in numbers. */
#include "cli/queue_view.h"

#include <inttypes.h>
#include <string.h>

#include "base/limits.h"
#include "base/uuid.h"

enum { HOUR_MS = 3600000, PRIORITIES = 2 * PAWL_JOB_PRIORITY_MAX + 1, WORKERS_MAX = 1000 };

/* Who reads, from where, and how much. */
struct reader {
    struct store *store;
    struct arena *arena;
    int pages;
    void (*take)(void *self, const struct job_row *row);
    void *self;
    bool all; /* nothing was left out */
};

/* Jobs in one state, page by page. */
static pawl_status each_job(struct reader *reader, enum job_state state, pawl_error *err) {
    /* What is not running is ready: to look at more rows than a page holds finds the next page's. */
    struct job_filter filter = {
        .state = (int)state, .limit = QUEUE_PAGE, .scan_max = state == JOB_READY ? QUEUE_PAGE : 0};
    for (int page = 0; page < reader->pages; page++) {
        struct job_rows rows = {.count = 0};
        pawl_status status =
            reader->store->ops->jobs->jobs(reader->store, &filter, reader->arena, &rows, err);
        if (status != PAWL_OK)
            return status;
        for (size_t i = 0; i < rows.count; i++)
            reader->take(reader->self, &rows.rows[i]);
        if (rows.next_id == 0)
            return PAWL_OK;
        filter.after_id = rows.next_id;
    }
    reader->all = false;
    return PAWL_OK;
}

static void count_priority(void *self, const struct job_row *row) {
    int64_t *counts = self;
    if (row->job.priority >= -PAWL_JOB_PRIORITY_MAX && row->job.priority <= PAWL_JOB_PRIORITY_MAX)
        counts[row->job.priority + PAWL_JOB_PRIORITY_MAX]++;
}

static pawl_status read_priorities(struct store *store, struct arena *arena, int pages,
                                   struct queue_stats *stats, pawl_error *err) {
    int64_t *counts = arena_array(arena, PRIORITIES, sizeof *counts);
    if (counts == NULL)
        return buf_status(&stats->priorities, "queue", err);
    memset(counts, 0, PRIORITIES * sizeof *counts);
    struct reader reader = {store, arena, pages, count_priority, counts, true};
    pawl_status status = each_job(&reader, JOB_READY, err);
    if (status == PAWL_OK)
        status = each_job(&reader, JOB_LATER, err);
    stats->priorities_all = reader.all;
    buf_append_char(&stats->priorities, '{');
    for (int i = PRIORITIES - 1; i >= 0; i--) {
        if (counts[i] > 0)
            buf_printf(&stats->priorities, "%s\"%d\":%" PRId64, stats->priorities.len > 1 ? "," : "",
                       i - PAWL_JOB_PRIORITY_MAX, counts[i]);
    }
    buf_append_char(&stats->priorities, '}');
    return status == PAWL_OK ? buf_status(&stats->priorities, "queue", err) : status;
}

static pawl_status read_hour(struct store *store, struct arena *arena, int64_t now_ms,
                             struct queue_stats *stats, pawl_error *err) {
    struct run_filter filter = {.since_ms = now_ms - HOUR_MS, .limit = QUEUE_PAGE};
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

struct overdue {
    int64_t now_ms, count;
};

static void count_overdue(void *self, const struct job_row *row) {
    struct overdue *overdue = self;
    overdue->count += row->job.lease_until_ms <= overdue->now_ms;
}

pawl_status queue_stats_read(struct store *store, struct arena *arena, int pages, struct queue_stats *stats,
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
    struct overdue overdue = {.now_ms = queues.now_ms};
    struct reader reader = {store, arena, pages, count_overdue, &overdue, true};
    if (status == PAWL_OK)
        status = each_job(&reader, JOB_RUNNING, err);
    stats->expired_leases = overdue.count;
    stats->currently_leased -= stats->currently_leased >= overdue.count ? overdue.count : 0;
    if (status == PAWL_OK)
        status = read_priorities(store, arena, pages, stats, err);
    if (status == PAWL_OK)
        status = read_hour(store, arena, queues.now_ms, stats, err);
    return status;
}

void queue_stats_free(struct queue_stats *stats) { buf_free(&stats->priorities); }
