/* Counters of the server's own requests. */
#ifndef SERVER_STATS_H
#define SERVER_STATS_H

#include <pthread.h>
#include <stdint.h>

#include "base/buf.h"

struct exchange;

enum { STATS_BUCKETS = 10, STATS_CLASSES = 6 };

struct stats {
    pthread_mutex_t lock;
    int64_t requests[STATS_CLASSES]; /* by the first digit of the status */
    int64_t buckets[STATS_BUCKETS];  /* of durations, not cumulated */
    int64_t duration_us, count;
    int64_t refused; /* 401, 403, 421 */
    int64_t streams_dropped;
    int64_t claims_waiting; /* now */
};

void stats_init(struct stats *stats);
void stats_count(struct stats *stats, const struct exchange *exchange);

/* Upper ends of the buckets in seconds; the last bucket has none. */
extern const double stats_bounds[STATS_BUCKETS - 1];

/* A copy at one moment. */
void stats_read(struct stats *stats, struct stats *copy);

#endif
