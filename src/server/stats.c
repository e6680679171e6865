/* Counting the server's own requests. */
#include "server/stats.h"

#include <string.h>

#include "base/time/clock.h"
#include "server/http/exchange.h"

const double stats_bounds[STATS_BUCKETS - 1] = {0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.3, 1, 5};

void stats_init(struct stats *stats) {
    *stats = (struct stats){.count = 0};
    pthread_mutex_init(&stats->lock, NULL);
}

void stats_count(struct stats *stats, const struct exchange *exchange) {
    int status = exchange->call.status;
    int64_t took_us = clock_boot_us() - exchange->began_us;
    if (status < 100 || status >= STATS_CLASSES * 100)
        return; /* no answer was sent */
    bool stream = exchange->call.route != NULL && exchange->call.route->shape == ANSWER_STREAM;
    pthread_mutex_lock(&stats->lock);
    stats->requests[status / 100]++;
    stats->refused += status == 401 || status == 403 || status == 421;
    if (!stream) {
        size_t bucket = 0;
        while (bucket < STATS_BUCKETS - 1 && (double)took_us / 1e6 > stats_bounds[bucket])
            bucket++;
        stats->buckets[bucket]++;
        stats->duration_us += took_us;
        stats->count++;
    }
    pthread_mutex_unlock(&stats->lock);
}

void stats_read(struct stats *stats, struct stats *copy) {
    pthread_mutex_lock(&stats->lock);
    *copy = *stats;
    pthread_mutex_unlock(&stats->lock);
}
