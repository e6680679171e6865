/* Rollups: counting durations in buckets, and the quantiles of the sums. */
#include "domain/rollup.h"

const double rollup_bounds[ROLLUP_BUCKETS - 1] = {
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,  0.25, 0.5,   1,     2.5,   5,
    10,     20,      30,     60,    120,    300,   600,  1200,  1800, 3600, 7200, 14400, 28800, 43200, 86400};

const char *rollup_kind_name(enum rollup_kind kind) {
    static const char *const names[ROLLUP_KINDS] = {"messages",    "outbox", "inbox",
                                                    "perspective", "job",    "page"};
    return names[kind];
}

const char *rollup_result_name(enum rollup_result result) {
    static const char *const names[ROLLUP_RESULTS] = {"done", "retry", "permanent", "other", "empty"};
    return names[result];
}

size_t rollup_bucket(int64_t took_us) {
    size_t bucket = 0;
    while (bucket < ROLLUP_BUCKETS - 1 && (double)took_us > rollup_bounds[bucket] * 1e6)
        bucket++;
    return bucket;
}

void rollups_add_time(struct rollups *rollups, struct rollup_series at, int64_t took_us) {
    int64_t us = took_us > 0 ? took_us : 0;
    atomic_fetch_add_explicit(&rollups->sums[at.measure][at.kind][at.result], us, memory_order_relaxed);
    atomic_fetch_add_explicit(&rollups->counts[at.measure][at.kind][at.result][rollup_bucket(us)], 1,
                              memory_order_relaxed);
}

void rollups_add_count(struct rollups *rollups, struct rollup_series at, int64_t count) {
    atomic_fetch_add_explicit(&rollups->counts[at.measure][at.kind][at.result][0], count,
                              memory_order_relaxed);
}

/* The cells of one series; its sum goes with the first. */
static size_t take_series(struct rollups *rollups, struct rollup_cell at, struct rollup_cell *cells) {
    size_t made = 0;
    for (int bucket = 0; bucket < ROLLUP_BUCKETS; bucket++) {
        _Atomic int64_t *count = &rollups->counts[at.measure][at.kind][at.result][bucket];
        if (atomic_load_explicit(count, memory_order_relaxed) == 0)
            continue;
        at.bucket = bucket;
        at.count = atomic_exchange_explicit(count, 0, memory_order_relaxed);
        at.sum = made == 0 ? atomic_exchange_explicit(&rollups->sums[at.measure][at.kind][at.result], 0,
                                                      memory_order_relaxed)
                           : 0;
        cells[made++] = at;
    }
    return made;
}

size_t rollups_take(struct rollups *rollups, struct rollup_cell *cells) {
    size_t made = 0;
    for (int measure = 1; measure < ROLLUP_MEASURES; measure++)
        for (int kind = 0; kind < ROLLUP_KINDS; kind++)
            for (int result = 0; result < ROLLUP_RESULTS; result++)
                made +=
                    take_series(rollups, (struct rollup_cell){measure, kind, result, 0, 0, 0}, cells + made);
    return made;
}

void rollups_put_back(struct rollups *rollups, const struct rollup_cell *cells, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const struct rollup_cell *at = &cells[i];
        atomic_fetch_add_explicit(&rollups->counts[at->measure][at->kind][at->result][at->bucket], at->count,
                                  memory_order_relaxed);
        atomic_fetch_add_explicit(&rollups->sums[at->measure][at->kind][at->result], at->sum,
                                  memory_order_relaxed);
    }
}

struct rollup_histogram rollup_histogram(const struct rollup_cell *cells, size_t count, int measure, int kind,
                                         int result) {
    struct rollup_histogram made = {.count = 0};
    for (size_t i = 0; i < count; i++) {
        const struct rollup_cell *at = &cells[i];
        if (at->measure != measure || (kind >= 0 && at->kind != kind) ||
            (result >= 0 && at->result != result))
            continue;
        made.counts[at->bucket] += at->count;
        made.count += at->count;
        made.sum += at->sum;
    }
    return made;
}

struct rollup_histogram rollup_since(const struct rollup_histogram *now,
                                     const struct rollup_histogram *before) {
    struct rollup_histogram made = *now;
    for (int i = 0; i < ROLLUP_BUCKETS; i++) {
        made.counts[i] -= before->counts[i];
        if (made.counts[i] < 0)
            return *now;
    }
    made.count -= before->count;
    made.sum -= before->sum;
    return made;
}

double rollup_quantile_ms(const struct rollup_histogram *histogram, int per_mille) {
    double wanted = (double)histogram->count * per_mille / 1000.0, below = 0;
    if (histogram->count <= 0)
        return -1;
    for (int i = 0; i < ROLLUP_BUCKETS - 1; i++) {
        double here = (double)histogram->counts[i], low = i > 0 ? rollup_bounds[i - 1] : 0;
        if (here > 0 && below + here >= wanted)
            return (low + (rollup_bounds[i] - low) * (wanted - below) / here) * 1000.0;
        below += here;
    }
    return rollup_bounds[ROLLUP_BUCKETS - 2] * 1000.0;
}
