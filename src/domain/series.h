/* Series: how much was handled, how long it waited and took, and what waited, over the last 30 days. */
#ifndef DOMAIN_SERIES_H
#define DOMAIN_SERIES_H

#include "domain/rollup.h"

/* What a series is about; the numbers are stored. */
enum series_scope {
    SERIES_KIND = 1, /* everything of an enum rollup_kind */
    SERIES_QUEUE,    /* the jobs of a queue, pages among them */
    SERIES_HANDLER   /* messages of a type, jobs of a task, or a perspective */
};

/* A point is the sum over its step. An hour is kept in steps of ten seconds, a day in minutes, 30 days in
 * quarters of an hour, each point in one row: at most 372 + 1,408 + 2,782 rows of each series, and what the
 * next housekeeping folds. */
enum {
    SERIES_STEP_MS = 10000,
    SERIES_MINUTE_MS = 60000,
    SERIES_QUARTER_MS = 900000,
    SERIES_STEP_KEPT_MS = 3720000, /* an hour, and what a question about an hour rounds up to */
    SERIES_MINUTE_KEPT_MS = 88200000,
    SERIES_FOLD_STEPS = 16, /* intervals that one housekeeping folds or removes of a resolution */
    SERIES_NAMES_MAX = 32   /* queues, and handlers, with a series of their own; the rest share one */
};
#define SERIES_KEPT_MS INT64_C(2592000000)

/* What a worker has counted of one series since it last told the store. */
struct series_point {
    int scope, kind; /* of a queue: ROLLUP_JOB */
    pawl_str name;   /* of a kind, or of all that have no series of their own: empty */
    int64_t done, failed;
    int64_t handle[ROLLUP_BUCKETS], wait[ROLLUP_BUCKETS];
};

/* The points of the kinds, from what was counted anyway (ROLLUP_KINDS of them); returns how many. */
size_t series_of_kinds(const struct rollup_cell *cells, size_t count, struct series_point *points);

/* The finest step that is a multiple of step_ms and still kept for that long ago. */
int64_t series_step_ms(int64_t step_ms, int64_t ago_ms);

/* ---- What a worker has counted by name but not yet told the store; start with zeros. Any thread may add. */

enum { SERIES_SUMS_MAX = SERIES_NAMES_MAX, SERIES_NAME_BYTES = 128 };

/* The first two are for what has no room of its own: of queues, and of handlers. */
struct series_sums {
    struct series_sum {
        _Atomic int state; /* 0: free; 1: it is being given a name; 2: it has one, for good */
        int scope, kind;
        size_t len;
        char name[SERIES_NAME_BYTES];
        _Atomic int64_t done, failed, handle[ROLLUP_BUCKETS], wait[ROLLUP_BUCKETS];
    } sums[2 + SERIES_SUMS_MAX];
};

struct series_name {
    int scope, kind;
    pawl_str name;
};

/* It waited, or was handled, for this many µs. */
void series_waited(struct series_sums *sums, const struct series_name *name, int64_t took_us);
void series_handled(struct series_sums *sums, const struct series_name *name, enum rollup_result result,
                    int64_t took_us);

/* Takes everything out into points (2 + SERIES_SUMS_MAX of them), whose names are the sums' own; returns how
 * many. */
size_t series_take(struct series_sums *sums, struct series_point *points);
/* Puts what was taken back in. */
void series_put_back(struct series_sums *sums, const struct series_point *points, size_t count);

#endif
