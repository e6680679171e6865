/* Parts of operations on jobs that the fronts use in their own ways. */
#ifndef OPERATIONS_JOBS_H
#define OPERATIONS_JOBS_H

#include "operations/front/operation.h"

enum { ENQUEUED_COLUMNS = 2 };
extern const struct column enqueued_columns[ENQUEUED_COLUMNS];
void enqueued_cells(int64_t id, enum store_answer answer, struct cell cells[static ENQUEUED_COLUMNS]);

/* PAWL_OK when the job was taken, or is a duplicate. */
PAWL_MUSTCHECK pawl_status enqueue_refused(const struct request *request, pawl_str task,
                                           enum store_answer answer, pawl_error *err);

/* Fields that choose jobs: see job_filter_from. */
#define JOB_FILTER_FIELDS(place)                                                                             \
    {TEXT_FIELD((place), "queue", PAWL_NAME_BYTES_MAX, "Only of this queue.")},                              \
        {TEXT_FIELD((place), "task", PAWL_NAME_BYTES_MAX, "Only of this task.")},                            \
        {TEXT_FIELD((place), "type", PAWL_TYPE_BYTES_MAX, "Only of this type.")},                            \
        {TEXT_FIELD((place), "key", PAWL_NAME_BYTES_MAX, "Only with this key.")}, {                          \
        TEXT_FIELD((place), "fingerprint", PAWL_NAME_BYTES_MAX, "Only dead ones of this group.")             \
    }

#endif
