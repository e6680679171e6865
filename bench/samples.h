/* Durations of single calls, and what to say about them. */
#ifndef BENCH_SAMPLES_H
#define BENCH_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

/* Sorts values and returns the one below which the share lies (0.5 = median). count is at least 1. */
int64_t samples_percentile(int64_t *values, size_t count, double share);

#endif
