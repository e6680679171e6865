/* The gauges and counters of messages and jobs: their names, as columns, in JSON and as metrics. */
#ifndef VIEW_COUNTS_H
#define VIEW_COUNTS_H

#include "base/json/json.h"
#include "store/store.h"
#include "view/output/output.h"

struct count {
    struct column column;
    const char *metric; /* NULL: none of its own */
    bool counter;       /* of the metric: it only grows */
    const char *help;   /* of the metric */
};

/* A table of counts of one kind of row. */
struct count_table {
    const struct count *rows;
    size_t count;
};
extern const struct count_table message_counts; /* of struct kind_counts */
extern const struct count_table job_counts;     /* of struct job_counts */

int64_t count_value(const struct count *count, const void *counts);

/* What is added up when two are shown as one: everything but the oldest, which is the older one. */
void job_counts_add(struct job_counts *sum, const struct job_counts *more);

/* The members of an object: every count, and the age of the oldest. */
void counts_write(struct json_writer *json, struct count_table table, const void *counts, int64_t now_ms);
/* KEY_ms and KEY_at, as everywhere. */
void counts_write_time(struct json_writer *json, const char *key, int64_t wall_ms);

#endif
