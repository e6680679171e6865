/* The facts that the doctor's checks use, and the checks of the state of the work. */
#ifndef WORK_DOCTOR_LOOK_H
#define WORK_DOCTOR_LOOK_H

#include "work/doctor/doctor.h"

struct doctor_facts {
    const struct store *store;
    const struct doctor_input *input;
    struct settings settings;
    struct counts counts;
    struct instance_rows instances;
    struct job_counts_list jobs;
    struct job_schedule_list due, schedules;
    struct pause_rows pauses;
    struct refused_rows refused;
    struct perspective_rows perspectives;
    struct run_list runs;
    struct task_run_list executions; /* the latest */
    int64_t clock_ahead_ms;          /* difference between this machine's clock and the store's */
};

/* Whether the instance is alive by the store's clock. */
bool doctor_alive(const struct doctor_facts *facts, const struct instance_row *row);

doctor_look look_clock_skew, look_clock_of_tests, look_epoch_raised, look_session_shared, look_stale_short,
    look_attempts_one, look_dedupe_short, look_history_long, look_partitions_few, look_lease_short,
    look_workers_missing, look_instances_silent, look_lanes_silent, look_lanes_unowned, look_claims_overdue,
    look_backlog_old, look_dead_letters, look_jobs_unserved, look_jobs_old, look_jobs_dead,
    look_schedules_late, look_schedules_paused, look_perspectives_failed, look_perspectives_paused,
    look_perspectives_lag, look_paused, look_refused, look_runs_failed, look_runs_paused;

#endif
