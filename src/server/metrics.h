/* Metrics as text: Prometheus 0.0.4, or OpenMetrics 1.0 on request. */
#ifndef SERVER_METRICS_H
#define SERVER_METRICS_H

#include "base/buf.h"
#include "pawl.h"

struct metrics {
    struct buf *buf;
    bool open; /* OpenMetrics */
    const char *name;
    const char *type;
};

/* Begins a family. A counter's name is given without _total. */
void metrics_family(struct metrics *metrics, const char *name, const char *type, const char *help);

/* A label of a sample; the last one has no name. */
struct metric_label {
    const char *name;
    pawl_str value;
};

/* One sample of the family. labels may be NULL. */
void metrics_int(struct metrics *metrics, const struct metric_label *labels, int64_t value);
void metrics_double(struct metrics *metrics, const struct metric_label *labels, double value);

/* A histogram's samples; counts are per bucket, not cumulated, one more than bounds. */
struct metric_buckets {
    const double *bounds;
    const int64_t *counts;
    size_t count;
    double sum;
};
void metrics_histogram(struct metrics *metrics, const struct metric_label *labels,
                       const struct metric_buckets *buckets);

void metrics_end(struct metrics *metrics);

#endif
