/* Building a read model of options->messages events over options->streams streams. */
#ifndef BENCH_PROJECT_H
#define BENCH_PROJECT_H

#include "bench.h"

enum { PROJECT_QUANTITY = 3 /* of every event: the model's sum is known */ };

/* By hand: a page of events by position, an upsert, a cursor, in one transaction. The time from the first
 * page to the last commit. The store is prepared and, on SQLite, holds the events. */
pawl_status project_floor_postgres(const struct bench_options *options, int64_t *spent_us, pawl_error *err);
pawl_status project_floor_sqlite(const struct bench_options *options, int64_t *spent_us, pawl_error *err);

/* Runs the statements of the file NAME.sql on a SQLite file; value: the first column of the first row, may be
 * NULL. */
pawl_status project_sqlite_run(const struct bench_options *options, const char *name, int64_t *value,
                               pawl_error *err);

#endif
