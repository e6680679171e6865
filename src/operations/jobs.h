/* Parts of operations on jobs that the fronts use in their own ways. */
#ifndef OPERATIONS_JOBS_H
#define OPERATIONS_JOBS_H

#include "operations/request.h"

enum { ENQUEUED_COLUMNS = 2, WOKEN_COLUMNS = 2 };
extern const struct column enqueued_columns[ENQUEUED_COLUMNS];
extern const struct column woken_columns[WOKEN_COLUMNS];
void enqueued_cells(int64_t id, enum store_answer answer, struct cell cells[static ENQUEUED_COLUMNS]);

/* PAWL_NOT_FOUND, and where a job that has ended is to be found. */
PAWL_MUSTCHECK pawl_status job_missing(const struct request *request, const char *op, int64_t id,
                                       pawl_error *err);

/* PAWL_OK when the job was taken, or is a duplicate. */
PAWL_MUSTCHECK pawl_status enqueue_refused(const struct request *request, pawl_str task,
                                           enum store_answer answer, pawl_error *err);

#endif
