/* Rollups: histograms of durations, summed over all workers. Each worker keeps its own sums and adds them to
 * the store's with its heartbeat, so a message costs no extra write. */
#ifndef DOMAIN_ROLLUP_H
#define DOMAIN_ROLLUP_H

#include <stdatomic.h>

#include "pawl.h"

/* The numbers are stored: only append to this list. */
enum rollup_measure {
    ROLLUP_HANDLE = 1, /* µs from the start of a handler to its end */
    ROLLUP_WAIT,       /* µs from put, or from when it was due, to the start of its first attempt */
    ROLLUP_CLAIM,      /* µs of a call that asks the store for work */
    ROLLUP_SPANS,      /* no time: spans of traces */
    ROLLUP_MEASURES
};

enum rollup_kind {
    ROLLUP_MESSAGES = 0, /* a claim covers every kind of message at once */
    ROLLUP_OUTBOX,       /* these three as enum store_kind */
    ROLLUP_INBOX,
    ROLLUP_PERSPECTIVE,
    ROLLUP_JOB,
    ROLLUP_PAGE,
    ROLLUP_KINDS
};

enum rollup_result {
    ROLLUP_DONE = 0, /* of spans: exported */
    ROLLUP_RETRY,    /* failed; of spans: the collector did not accept them */
    ROLLUP_PERMANENT,
    ROLLUP_OTHER, /* put off or cancelled; of spans: dropped because the queue was full */
    ROLLUP_EMPTY, /* a claim that found nothing */
    ROLLUP_RESULTS
};

enum {
    ROLLUP_BUCKETS = 31,
    ROLLUP_CELLS_MAX = ROLLUP_MEASURES * ROLLUP_KINDS * ROLLUP_RESULTS * ROLLUP_BUCKETS
};

/* Upper ends of the buckets in seconds, each at most 2.5 times the one before, since a quantile is somewhere
 * in its bucket; up to a day, the last bucket has none. Stored counts depend on them: changing the bounds
 * needs a migration that empties the table. */
extern const double rollup_bounds[ROLLUP_BUCKETS - 1];

const char *rollup_kind_name(enum rollup_kind kind);
const char *rollup_result_name(enum rollup_result result);

/* One bucket of one series. sum may be in any bucket of its series. */
struct rollup_cell {
    int measure, kind, result, bucket;
    int64_t count, sum;
};

/* What one worker has counted but not yet added to the store; start with zeros. Any thread may add. */
struct rollups {
    _Atomic int64_t counts[ROLLUP_MEASURES][ROLLUP_KINDS][ROLLUP_RESULTS][ROLLUP_BUCKETS];
    _Atomic int64_t sums[ROLLUP_MEASURES][ROLLUP_KINDS][ROLLUP_RESULTS];
};

struct rollup_series {
    enum rollup_measure measure;
    enum rollup_kind kind;
    enum rollup_result result;
};

/* The bucket of something that took so long. */
size_t rollup_bucket(int64_t took_us);

/* Something took this many µs; less than 0 counts as 0. */
void rollups_add_time(struct rollups *rollups, struct rollup_series series, int64_t took_us);
/* Something happened this many times. */
void rollups_add_count(struct rollups *rollups, struct rollup_series series, int64_t count);

/* Takes everything out into cells (ROLLUP_CELLS_MAX of them); returns how many. */
size_t rollups_take(struct rollups *rollups, struct rollup_cell *cells);
/* Puts what was taken back in. */
void rollups_put_back(struct rollups *rollups, const struct rollup_cell *cells, size_t count);

/* A histogram summed up from cells. */
struct rollup_histogram {
    int64_t counts[ROLLUP_BUCKETS], count, sum;
};

/* Everything that fits; kind or result -1 = any. */
struct rollup_histogram rollup_histogram(const struct rollup_cell *cells, size_t count, int measure, int kind,
                                         int result);
/* The difference between two moments; if a histogram went back (another database), it counts from zero. */
struct rollup_histogram rollup_since(const struct rollup_histogram *now,
                                     const struct rollup_histogram *before);

/* The quantile in ms (per mille), interpolated within its bucket; -1 = nothing was counted. In the last
 * bucket it is the lower bound. */
double rollup_quantile_ms(const struct rollup_histogram *histogram, int per_mille);

#endif
