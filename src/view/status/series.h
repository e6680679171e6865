/* Series as charts draw them: a time and a value for every step. */
#ifndef VIEW_STATUS_SERIES_H
#define VIEW_STATUS_SERIES_H

#include "base/json/json.h"
#include "store/types.h"

/* What was asked for; from_ms is a multiple of the step. */
struct series_range {
    int64_t from_ms, to_ms, step_ms;
    int64_t now_ms;
};

/* A range that ends before now_ms: from, to and step as they were asked for, 0 where they were not. The step
 * is one that is still kept for all of the range. PAWL_INVALID. */
PAWL_MUSTCHECK pawl_status series_range_of(struct series_range *range, pawl_error *err);

/* The sums of a whole range, and what was seen last. */
struct series_totals {
    int64_t done, failed, ready, dead, oldest_age_ms; /* -1: it has none */
    struct rollup_histogram handle, wait;
};

/* The first of these rows is what was seen last of a series; the others are its steps. Writes the arrays of
 * an object, and adds up. Returns how many of the rows are of the series. */
size_t series_write(struct json_writer *json, const struct series_rows *rows, size_t first,
                    const struct series_range *range, struct series_totals *sums);

/* "kind", "queue", "handler". */
extern const char *const series_scopes[SERIES_HANDLER + 1];

/* In percent; below 0: nothing ended. */
double series_error_percent(int64_t done, int64_t failed);

#endif
