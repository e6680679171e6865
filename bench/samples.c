/* Percentiles. */
#include "samples.h"

#include <assert.h>
#include <stdlib.h>

static int compare(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a;
    int64_t right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

int64_t samples_percentile(int64_t *values, size_t count, double share) {
    assert(count > 0);
    qsort(values, count, sizeof(*values), compare);
    size_t index = (size_t)(share * (double)(count - 1) + 0.5);
    return values[index];
}
