/* Measuring the metrics for alert rules, from numbers that the store keeps anyway. */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "work/alerts/round.h"
#include "work/doctor/fleet_facts.h"

static void measure_workers(const struct fleet_facts *facts, int64_t values[static METRIC_COUNT],
                            int *kinds) {
    for (size_t i = 0; i < facts->instances.count; i++) {
        const struct instance_row *row = &facts->instances.rows[i];
        bool live = row->state == INSTANCE_ACTIVE && row->lease_until_ms > facts->counts.now_ms;
        bool worker = row->kinds != 0;
        values[METRIC_WORKERS_LIVE] += live && worker;
        values[METRIC_WORKERS_LOST] += !live && worker;
        *kinds |= live ? row->kinds : 0;
    }
}

static void at_least(int64_t *value, int64_t other) {
    if (other > *value)
        *value = other;
}

static void measure_messages(const struct fleet_facts *facts, int kinds, int64_t values[static METRIC_COUNT],
                             struct alert_totals *totals) {
    static const enum alert_metric ready[] = {[KIND_OUTBOX] = METRIC_OUTBOX_READY,
                                              [KIND_INBOX] = METRIC_INBOX_READY,
                                              [KIND_PERSPECTIVE] = METRIC_PERSPECTIVE_READY};
    static const enum alert_metric dead[] = {[KIND_OUTBOX] = METRIC_OUTBOX_DEAD,
                                             [KIND_INBOX] = METRIC_INBOX_DEAD,
                                             [KIND_PERSPECTIVE] = METRIC_PERSPECTIVE_DEAD};
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++) {
        const struct kind_counts *counts = &facts->counts.kind[kind];
        values[ready[kind]] = counts->ready;
        values[dead[kind]] = counts->dead;
        values[METRIC_LEASES_ACTIVE] += counts->claims_active;
        values[METRIC_LEASES_OVERDUE] += counts->claims_overdue;
        values[METRIC_WORK_UNSERVED] += (kinds & KIND_BIT(kind)) == 0 ? counts->ready : 0;
        at_least(&values[METRIC_OLDEST_READY_S], fleet_age_s(facts->counts.now_ms, counts->oldest_ready_ms));
        totals->done += counts->done;
        totals->failed += counts->failed;
        totals->stale += counts->stale;
    }
}

static void measure_jobs(const struct fleet_facts *facts, int kinds, int64_t values[static METRIC_COUNT],
                         struct alert_totals *totals) {
    for (size_t i = 0; i < facts->queues.count; i++) {
        const struct job_counts *counts = &facts->queues.queues[i];
        values[METRIC_JOBS_READY] += counts->ready;
        values[METRIC_JOBS_DEAD] += counts->dead;
        values[METRIC_WORK_UNSERVED] += (kinds & KIND_BIT_JOBS) == 0 ? counts->ready : 0;
        at_least(&values[METRIC_OLDEST_READY_S], fleet_age_s(facts->queues.now_ms, counts->oldest_ready_ms));
        totals->done += counts->done;
        totals->failed += counts->failed;
        totals->lost += counts->lost;
        totals->stale += counts->stale;
    }
}

/* A number after a word at the beginning of a line, such as MemTotal; -1 when it is not there. */
static int64_t file_number(const char *path, const char *word) {
    char line[128];
    long long found = -1;
    FILE *file = fopen(path, "re");
    size_t len = strlen(word);
    while (file != NULL && found < 0 && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, word, len) == 0 && sscanf(line + len, "%lld", &found) != 1)
            found = -1;
    }
    if (file != NULL)
        fclose(file);
    return found;
}

/* The machine's memory, or the container's when it has a limit of its own; the fuller one counts. */
static int64_t memory_used_percent(void) {
    int64_t total = file_number("/proc/meminfo", "MemTotal:");
    int64_t available = file_number("/proc/meminfo", "MemAvailable:");
    int64_t limit = file_number("/sys/fs/cgroup/memory.max", "");
    int64_t used = file_number("/sys/fs/cgroup/memory.current", "");
    int64_t percent = total > 0 && available >= 0 ? 100 - available * 100 / total : 0;
    /* Memory used as a cache counts as available. */
    int64_t cached = file_number("/sys/fs/cgroup/memory.stat", "inactive_file ");
    if (limit > 0 && used >= 0)
        at_least(&percent, (used - (cached > 0 && cached < used ? cached : 0)) * 100 / limit);
    return percent;
}

void alert_measure(const struct fleet_facts *facts, const struct alert_window *window,
                   int64_t values[static METRIC_COUNT], struct alert_totals *totals) {
    int kinds = 0;
    memset(values, 0, METRIC_COUNT * sizeof *values);
    *totals = (struct alert_totals){.at_ms = facts->counts.now_ms};
    measure_workers(facts, values, &kinds);
    measure_messages(facts, kinds, values, totals);
    measure_jobs(facts, kinds, values, totals);
    for (size_t i = 0; i < facts->perspectives.count; i++) {
        values[METRIC_PERSPECTIVES_FAILED] += facts->perspectives.rows[i].failed;
        at_least(&values[METRIC_PERSPECTIVE_LAG_S], facts->perspectives.rows[i].lag_ms / 1000);
    }
    int64_t workers = values[METRIC_WORKERS_LIVE];
    values[METRIC_LEASES_PER_WORKER] = workers > 0 ? (values[METRIC_LEASES_ACTIVE] + workers - 1) / workers
                                                   : values[METRIC_LEASES_ACTIVE];
    struct alert_totals sums = alert_window_sums(window, totals);
    values[METRIC_LEASES_LOST] = sums.lost;
    values[METRIC_REPORTS_STALE] = sums.stale;
    values[METRIC_FAILURES] = sums.failed;
    if (sums.done + sums.failed >= PAWL_ALERT_RATE_ENDS_MIN)
        values[METRIC_ERROR_RATE_PERCENT] = sums.failed * 100 / (sums.done + sums.failed);
    values[METRIC_DATABASE_USED_PERCENT] = facts->pressure;
    values[METRIC_MEMORY_USED_PERCENT] = memory_used_percent();
    values[METRIC_EPOCH_RAISED] = fleet_epoch_raised(&facts->settings, facts->counts.now_ms);
}
