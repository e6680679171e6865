/* Quantiles of wait and handler times over the last minute, by kind. */
#ifndef VIEW_STATUS_LATENCY_H
#define VIEW_STATUS_LATENCY_H

#include "base/json/json.h"
#include "store/types.h"

/* What the workers had counted at one moment. */
struct latency {
    struct rollup_histogram handle[ROLLUP_KINDS], wait[ROLLUP_KINDS];
};

struct latency latency_of(const struct rollup_cells *cells);

/* Samples of the last minute, to compare with; start with zeros. */
enum {
    LATENCY_WINDOW_MS = 60000,
    LATENCY_STEP_MS = 5000,
    LATENCY_KEPT = LATENCY_WINDOW_MS / LATENCY_STEP_MS + 1
};
struct latency_past {
    struct latency moments[LATENCY_KEPT];
    int64_t at_ms[LATENCY_KEPT];
    size_t first, count;
};

/* The oldest sample of the last minute (NULL: none yet); `now` is added if the latest is old enough. */
const struct latency *latency_before(struct latency_past *past, const struct latency *now, int64_t now_ms);

/* The p95 of all kinds since before, or of all time without one; below 0 when nothing was counted. */
struct latency_p95 {
    double handle_ms, wait_ms;
};
struct latency_p95 latency_p95(const struct latency *now, const struct latency *before);

/* An object: p50, p95 and p99 of both, over all kinds and by kind. Without
 * `before` it covers everything ever counted. */
void latency_write(struct json_writer *json, const struct latency *now, const struct latency *before);

#endif
