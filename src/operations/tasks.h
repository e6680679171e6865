/* Parts of operations on tasks and schedules that the fronts use in their own ways. */
#ifndef OPERATIONS_TASKS_H
#define OPERATIONS_TASKS_H

#include "domain/pipeline/pipeline.h"
#include "operations/front/operation.h"

/* The task of that name. PAWL_NOT_FOUND says so. */
PAWL_MUSTCHECK pawl_status task_find(struct request *request, pawl_str name, struct task *task,
                                     pawl_error *err);

/* Parses the input `pipeline`, and checks it against the available tools and the input `params`, which are {}
 * when they are needed and not given. The scopes are those that its tools want. */
PAWL_MUSTCHECK pawl_status pipeline_checked(struct request *request, bool params_needed,
                                            const struct pipeline **pipeline, pawl_str *document,
                                            pawl_str *scopes, pawl_error *err);

/* PAWL_CONFLICT if an agent asks, and a task of this name is not its own. */
PAWL_MUSTCHECK pawl_status task_owned(struct request *request, pawl_str name, pawl_error *err);

/* Enqueues a job of a task now and answers with it; absent params are the task's. */
PAWL_MUSTCHECK pawl_status task_enqueue(struct request *request, pawl_str task, pawl_str params,
                                        pawl_error *err);

/* When it runs, and what about runs that were missed or come too early. */
#define SCHEDULE_RULE_FIELDS(place)                                                                          \
    {TEXT_FIELD(place, "cron", PAWL_CRON_BYTES_MAX,                                                          \
                "Run by cron: five or six fields, or @daily etc. (docs/schedules.md).")},                    \
        {TEXT_FIELD(place, "every", 32, "Run at this interval, such as 15m."), .value = "DURATION",          \
         .example = "\"15m\""},                                                                              \
        {TEXT_FIELD(place, "at", 64, "Run once, at a time such as 2026-01-02T03:04:05Z."), .value = "TIME"}, \
        {TEXT_FIELD(place, "zone", PAWL_ZONE_NAME_BYTES_MAX,                                                 \
                    "The time zone of cron, such as Europe/Berlin; UTC by default.")},                       \
        {TIME_FIELD(place, "start_ms", "No runs before this time.")}, {                                      \
        TIME_FIELD(place, "end_ms", "No runs at or after this time.")                                        \
    }
#define SCHEDULE_POLICY_FIELDS                                                                               \
    {CHOICE_FIELD(IN_BODY, "missed", "skip|one|all",                                                         \
                  "Missed runs: skip them, run the last one, or run all.")},                                 \
        {CHOICE_FIELD(IN_BODY, "overlap", "allow|skip|queue",                                                \
                      "What to do while the schedule's previous job is unfinished.")},                       \
    {                                                                                                        \
        DURATION_FIELD(IN_BODY, "jitter_ms", 0, PAWL_SCHEDULE_JITTER_MS_MAX,                                 \
                       "Delay each job by a random amount up to this.")                                      \
    }

/* The schedule that the inputs cron, every, at, zone, missed, overlap, jitter_ms, start_ms and end_ms
 * describe, not its params; *given is false when there is none of the first three. PAWL_INVALID says what is
 * wrong: the expression, the zone, a time. */
PAWL_MUSTCHECK pawl_status schedule_given(struct request *request, struct job_schedule *schedule, bool *given,
                                          pawl_error *err);

/* Stores it with its next run from now on; none while it is paused. */
PAWL_MUSTCHECK pawl_status schedule_store(struct request *request, struct job_schedule *schedule,
                                          pawl_error *err);

#endif
