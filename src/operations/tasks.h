/* Parts of operations on tasks and schedules that the fronts use in their own ways. */
#ifndef OPERATIONS_TASKS_H
#define OPERATIONS_TASKS_H

#include "domain/pipeline/pipeline.h"
#include "operations/front/request.h"

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

/* What the inputs name, agent, queue, key, priority, max_attempts, timeout_ms and version say. */
struct task task_from(const struct request *request);

/* Answers with the task of the input `name`. */
operation_run task_show;

/* Answers with the steps of a pipeline. */
PAWL_MUSTCHECK pawl_status pipeline_steps(struct request *request, const struct pipeline *pipeline,
                                          pawl_error *err);

#define SCHEDULE_FLAGS                                                                                       \
    (FLAG(CRON) | FLAG(EVERY) | FLAG(AT) | FLAG(ZONE) | FLAG(MISSED) | FLAG(OVERLAP) | FLAG(JITTER) |        \
     FLAG(START) | FLAG(END))

/* The schedule that the inputs cron, every, at, zone, missed, overlap, jitter_ms, start and end describe, not
 * its params; *given is false when there is none of the first three. PAWL_INVALID says what is wrong: the
 * expression, the zone, a time. */
PAWL_MUSTCHECK pawl_status schedule_given(struct request *request, struct job_schedule *schedule, bool *given,
                                          pawl_error *err);

/* Stores it with its next run from now on; none while it is paused. */
PAWL_MUSTCHECK pawl_status schedule_store(struct request *request, struct job_schedule *schedule,
                                          pawl_error *err);

#endif
