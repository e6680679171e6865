/* Parts of operations on tasks and schedules that the fronts use in their own ways. */
#ifndef OPERATIONS_TASKS_H
#define OPERATIONS_TASKS_H

#include "operations/request.h"

/* The task of that name. PAWL_NOT_FOUND says so. */
PAWL_MUSTCHECK pawl_status task_find(struct request *request, pawl_str name, struct task *task,
                                     pawl_error *err);

/* Stores a task with the pipeline of a document. PAWL_CONFLICT when its agent lacks a scope, or when another
 * version was expected. */
PAWL_MUSTCHECK pawl_status task_store(struct request *request, struct task *task, pawl_str document,
                                      pawl_error *err);

/* Enqueues a job of a task now and answers with it; absent params are the task's. */
PAWL_MUSTCHECK pawl_status task_enqueue(struct request *request, pawl_str task, pawl_str params,
                                        pawl_error *err);

/* The schedule of that name. PAWL_NOT_FOUND says so. */
PAWL_MUSTCHECK pawl_status schedule_find(struct request *request, pawl_str name,
                                         struct job_schedule *schedule, pawl_error *err);

/* What the inputs cron, every, at, zone, missed, overlap, jitter_ms, start and end say; not its params. */
PAWL_MUSTCHECK pawl_status schedule_from(struct request *request, struct job_schedule *schedule,
                                         pawl_error *err);

/* Stores it with its next run from now on; none while it is paused. */
PAWL_MUSTCHECK pawl_status schedule_store(struct request *request, struct job_schedule *schedule,
                                          pawl_error *err);

/* Answers with its next runs, at most `limit` of them. */
enum { INSTANTS_MAX = 1000, INSTANTS_DEFAULT = 10, INSTANT_COLUMNS = 1 };
extern const struct column instant_columns[INSTANT_COLUMNS];
PAWL_MUSTCHECK pawl_status schedule_instants(struct request *request, const struct job_schedule *schedule,
                                             pawl_error *err);

#endif
