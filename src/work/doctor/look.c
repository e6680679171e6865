/* The doctor's checks of the state of the work. */
#include "work/doctor/look.h"

#include <inttypes.h>
#include <stdarg.h>

#include "base/limits.h"
#include "base/str.h"
#include "work/doctor/fleet_facts.h"

enum {
    CLOCK_AHEAD_MS_MAX = 2000,
    BACKLOG_MS_MAX = 10 * 60 * 1000,
    SCHEDULE_LATE_MS_MAX = 60 * 1000,
    DEDUPE_MS_MIN = 60 * 60 * 1000,
    SHARE_OF_LEASE = 2 /* an execution may take at most this fraction of its lease */
};
#define HISTORY_MS_MAX (INT64_C(90) * 24 * 60 * 60 * 1000)

static const char *const kind_words[KIND_COUNT + 1] = {"", "outbox", "inbox", "perspective"};

/* The next finding of a check; it is separated from the one before. */
static void tell(struct buf *found, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void tell(struct buf *found, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    if (found->len > 0)
        buf_append_cstr(found, "; ");
    buf_vprintf(found, fmt, args);
    va_end(args);
}

/* "1 dead job", "2 dead jobs": for the format %lld %s. */
#define COUNTED(count, one, many) (long long)(count), (count) == 1 ? (one) : (many)

void look_clock_skew(const struct doctor_facts *facts, struct buf *found) {
    if (facts->settings.test_now_ms == 0 &&
        (facts->clock_ahead_ms > CLOCK_AHEAD_MS_MAX || facts->clock_ahead_ms < -CLOCK_AHEAD_MS_MAX))
        buf_printf(found, "this machine's clock is %" PRId64 " ms ahead of the database's",
                   facts->clock_ahead_ms);
}

void look_clock_of_tests(const struct doctor_facts *facts, struct buf *found) {
    if (facts->settings.test_now_ms != 0)
        buf_printf(found, "the store's clock is fixed at %" PRId64, facts->settings.test_now_ms);
}

void look_epoch_raised(const struct doctor_facts *facts, struct buf *found) {
    static const char *const causes[EPOCH_CAUSE_LAST + 1] = {
        [EPOCH_TIMELINE] = "the server was promoted, or recovered to a point in time",
        [EPOCH_COPY] = "it is a copy, or was restored",
        [EPOCH_WENT_BACK] = "a worker had seen tokens that the store did not know"};
    const struct settings *settings = &facts->settings;
    int64_t age_ms = facts->counts.now_ms - settings->epoch_ms;
    if (fleet_epoch_raised(settings, facts->counts.now_ms))
        buf_printf(found, "the epoch was raised to %" PRId64 " %" PRId64 " s ago: %s", settings->epoch,
                   age_ms / 1000, causes[settings->epoch_cause]);
}

void look_session_shared(const struct doctor_facts *facts, struct buf *found) {
    if (!facts->store->caps.sessions)
        buf_append_cstr(found, "the connection goes through a pooler that shares sessions");
}

void look_stale_short(const struct doctor_facts *facts, struct buf *found) {
    const struct settings *settings = &facts->settings;
    if (settings->stale_ms < 2 * settings->instance_lease_ms)
        buf_printf(found,
                   "stale is %" PRId64 " ms, the instance lease is %" PRId64 " ms: make it %" PRId64
                   " ms or more",
                   settings->stale_ms, settings->instance_lease_ms,
                   settings->instance_lease_ms > PAWL_STALE_MS_DEFAULT / 2 ? 2 * settings->instance_lease_ms
                                                                           : PAWL_STALE_MS_DEFAULT);
}

void look_attempts_one(const struct doctor_facts *facts, struct buf *found) {
    if (facts->settings.max_attempts == 1)
        buf_append_cstr(found, "max_attempts is 1");
}

void look_dedupe_short(const struct doctor_facts *facts, struct buf *found) {
    if (facts->settings.dedupe_ms < DEDUPE_MS_MIN)
        buf_printf(found, "the dedupe window is %" PRId64 " ms", facts->settings.dedupe_ms);
}

void look_history_long(const struct doctor_facts *facts, struct buf *found) {
    if (facts->settings.history_ms > HISTORY_MS_MAX)
        buf_printf(found, "the history is kept for %" PRId64 " ms", facts->settings.history_ms);
}

/* Advice for work that takes this long; beyond five minutes only renewing helps. */
static const char *lease_advice(int64_t longest_ms) {
    return longest_ms < 30000    ? "2 minutes are enough"
           : longest_ms < 120000 ? "give it 5 minutes"
           : longest_ms < 300000 ? "give it 10 minutes"
                                 : "it must be renewed while it runs, which pawl worker does";
}

/* Partitions per worker: with fewer, some workers get less than their share. */
void look_partitions_few(const struct doctor_facts *facts, struct buf *found) {
    int workers = 0;
    for (size_t i = 0; i < facts->instances.count; i++)
        workers += doctor_alive(facts, &facts->instances.rows[i]) && facts->instances.rows[i].kinds != 0;
    int wanted = workers <= 5 ? 1000 : workers <= 20 ? 10000 : workers <= 100 ? 50000 : 100000;
    if (workers > 5 && facts->settings.partition_count < wanted)
        buf_printf(found, "%d workers share %d partitions; %d are advised", workers,
                   facts->settings.partition_count, wanted);
}

void look_lease_short(const struct doctor_facts *facts, struct buf *found) {
    int64_t longest_ms = 0;
    for (size_t i = 0; i < facts->executions.count; i++) {
        const struct task_run *run = &facts->executions.runs[i];
        if (run->finished_ms - run->started_ms > longest_ms)
            longest_ms = run->finished_ms - run->started_ms;
    }
    if (longest_ms > facts->input->job_lease_ms / SHARE_OF_LEASE)
        buf_printf(found,
                   "one of the last %zu executions took %" PRId64 " ms, the lease is %" PRId64 " ms: %s",
                   facts->executions.count, longest_ms, facts->input->job_lease_ms, lease_advice(longest_ms));
}

/* How many live instances handle any of the kinds. */
static int alive(const struct doctor_facts *facts, int kinds) {
    int count = 0;
    for (size_t i = 0; i < facts->instances.count; i++)
        count += doctor_alive(facts, &facts->instances.rows[i]) &&
                 (facts->instances.rows[i].kinds & kinds) != 0;
    return count;
}

void look_workers_missing(const struct doctor_facts *facts, struct buf *found) {
    for (int kind = KIND_OUTBOX; kind <= KIND_INBOX; kind++) {
        int64_t waiting = facts->counts.kind[kind].ready + facts->counts.kind[kind].aside;
        if (waiting == 0 || alive(facts, KIND_BIT(kind)) > 0)
            continue;
        tell(found, "%lld %s of the %s %s and no live worker serves it",
             COUNTED(waiting, "message", "messages"), kind_words[kind], waiting == 1 ? "waits" : "wait");
    }
}

void look_instances_silent(const struct doctor_facts *facts, struct buf *found) {
    size_t silent = 0;
    for (size_t i = 0; i < facts->instances.count; i++) {
        const struct instance_row *row = &facts->instances.rows[i];
        silent += row->state == INSTANCE_ACTIVE && !doctor_alive(facts, row);
    }
    if (silent > 0)
        tell(found, "%lld %s",
             COUNTED(silent, "instance is registered and silent", "instances are registered and silent"));
}

void look_lanes_silent(const struct doctor_facts *facts, struct buf *found) {
    int lanes = 0;
    for (size_t i = 0; i < facts->instances.count; i++)
        for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++)
            if (!doctor_alive(facts, &facts->instances.rows[i]))
                lanes += facts->instances.rows[i].lanes[kind];
    if (lanes > 0)
        tell(found, "%lld %s",
             COUNTED(lanes, "lane belongs to a silent instance", "lanes belong to silent instances"));
}

void look_lanes_unowned(const struct doctor_facts *facts, struct buf *found) {
    for (int kind = KIND_OUTBOX; kind <= KIND_INBOX; kind++) {
        const struct kind_counts *counts = &facts->counts.kind[kind];
        if (counts->lanes_free == 0 || counts->ready == 0 || alive(facts, KIND_BIT(kind)) == 0)
            continue;
        tell(found, "%lld %s of the %s %s no owner while %lld %s",
             COUNTED(counts->lanes_free, "lane", "lanes"), kind_words[kind],
             counts->lanes_free == 1 ? "has" : "have",
             COUNTED(counts->ready, "message waits", "messages wait"));
    }
}

void look_claims_overdue(const struct doctor_facts *facts, struct buf *found) {
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++) {
        if (facts->counts.kind[kind].claims_overdue == 0)
            continue;
        tell(found, "%lld %s of the %s over the lease",
             COUNTED(facts->counts.kind[kind].claims_overdue, "claim", "claims"), kind_words[kind]);
    }
}

void look_backlog_old(const struct doctor_facts *facts, struct buf *found) {
    for (int kind = KIND_OUTBOX; kind <= KIND_INBOX; kind++) {
        int64_t oldest_ms = facts->counts.kind[kind].oldest_ready_ms;
        if (oldest_ms == 0 || facts->counts.now_ms - oldest_ms <= BACKLOG_MS_MAX)
            continue;
        tell(found, "the oldest message of the %s waits for %" PRId64 " s", kind_words[kind],
             (facts->counts.now_ms - oldest_ms) / 1000);
    }
}

void look_dead_letters(const struct doctor_facts *facts, struct buf *found) {
    for (int kind = KIND_OUTBOX; kind <= KIND_INBOX; kind++) {
        if (facts->counts.kind[kind].dead == 0)
            continue;
        tell(found, "%lld %s in the %s",
             COUNTED(facts->counts.kind[kind].dead, "dead letter", "dead letters"), kind_words[kind]);
    }
}

void look_jobs_unserved(const struct doctor_facts *facts, struct buf *found) {
    for (size_t i = 0; i < facts->jobs.count && alive(facts, KIND_BIT_JOBS) == 0; i++) {
        const struct job_counts *queue = &facts->jobs.queues[i];
        if (queue->ready == 0)
            continue;
        tell(found, "%lld %s of queue %.*s %s ready and no live worker takes jobs",
             COUNTED(queue->ready, "job", "jobs"), STR_ARG(queue->queue), queue->ready == 1 ? "is" : "are");
    }
}

void look_jobs_old(const struct doctor_facts *facts, struct buf *found) {
    for (size_t i = 0; i < facts->jobs.count; i++) {
        const struct job_counts *queue = &facts->jobs.queues[i];
        if (queue->oldest_ready_ms == 0 || facts->jobs.now_ms - queue->oldest_ready_ms <= BACKLOG_MS_MAX)
            continue;
        tell(found, "the first job of queue %.*s is due for %" PRId64 " s", STR_ARG(queue->queue),
             (facts->jobs.now_ms - queue->oldest_ready_ms) / 1000);
    }
}

void look_jobs_dead(const struct doctor_facts *facts, struct buf *found) {
    for (size_t i = 0; i < facts->jobs.count; i++) {
        if (facts->jobs.queues[i].dead == 0)
            continue;
        tell(found, "%lld %s in queue %.*s", COUNTED(facts->jobs.queues[i].dead, "dead job", "dead jobs"),
             STR_ARG(facts->jobs.queues[i].queue));
    }
}

void look_schedules_late(const struct doctor_facts *facts, struct buf *found) {
    for (size_t i = 0; i < facts->due.count; i++) {
        const struct job_schedule *schedule = &facts->due.schedules[i];
        if (facts->due.now_ms - schedule->next_ms <= SCHEDULE_LATE_MS_MAX)
            continue;
        tell(found, "%.*s is %" PRId64 " s late", STR_ARG(schedule->name),
             (facts->due.now_ms - schedule->next_ms) / 1000);
    }
}

void look_schedules_paused(const struct doctor_facts *facts, struct buf *found) {
    for (size_t i = 0; i < facts->schedules.count; i++) {
        if (!facts->schedules.schedules[i].paused)
            continue;
        tell(found, "%.*s is paused", STR_ARG(facts->schedules.schedules[i].name));
    }
}

void look_perspectives_failed(const struct doctor_facts *facts, struct buf *found) {
    for (size_t i = 0; i < facts->perspectives.count; i++) {
        const struct perspective_row *row = &facts->perspectives.rows[i];
        if (row->failed == 0)
            continue;
        tell(found, "%.*s has %lld %s, stopped: %" PRId64, STR_ARG(row->key),
             COUNTED(row->failed, "failed checkpoint", "failed checkpoints"), row->stopped);
    }
}

void look_perspectives_paused(const struct doctor_facts *facts, struct buf *found) {
    for (size_t i = 0; i < facts->perspectives.count; i++) {
        if (!facts->perspectives.rows[i].paused)
            continue;
        tell(found, "%.*s is paused", STR_ARG(facts->perspectives.rows[i].key));
    }
}

void look_perspectives_lag(const struct doctor_facts *facts, struct buf *found) {
    for (size_t i = 0; i < facts->perspectives.count; i++) {
        const struct perspective_row *row = &facts->perspectives.rows[i];
        if (row->lag_ms <= BACKLOG_MS_MAX)
            continue;
        tell(found, "%.*s is %lld %s and %s%" PRId64 " s behind", STR_ARG(row->key),
             COUNTED(row->lag_events, "event", "events"), row->lag_whole ? "" : "at most ",
             row->lag_ms / 1000);
    }
}

void look_paused(const struct doctor_facts *facts, struct buf *found) {
    for (size_t i = 0; i < facts->pauses.count; i++) {
        tell(found, "%.*s is paused by %.*s", STR_ARG(facts->pauses.rows[i].name),
             STR_ARG(facts->pauses.rows[i].actor));
    }
}

void look_refused(const struct doctor_facts *facts, struct buf *found) {
    if (facts->refused.count > 0)
        tell(found, "%lld %s",
             COUNTED(facts->refused.count, "delivery was refused and kept",
                     "deliveries were refused and kept"));
}

void look_runs_failed(const struct doctor_facts *facts, struct buf *found) {
    for (size_t i = 0; i < facts->runs.count; i++) {
        if (facts->runs.runs[i].failed == 0)
            continue;
        tell(found, "run %" PRId64 " has %lld %s", facts->runs.runs[i].id,
             COUNTED(facts->runs.runs[i].failed, "failed partition", "failed partitions"));
    }
}

void look_runs_paused(const struct doctor_facts *facts, struct buf *found) {
    for (size_t i = 0; i < facts->runs.count; i++) {
        if (!facts->runs.runs[i].paused)
            continue;
        tell(found, "run %" PRId64 " is paused", facts->runs.runs[i].id);
    }
}
