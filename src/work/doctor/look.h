/* The doctor's checks of the state of the work; each appends what it found, nothing if all is well. */
#ifndef WORK_DOCTOR_LOOK_H
#define WORK_DOCTOR_LOOK_H

#include "work/doctor/facts.h"

doctor_look look_clock_skew, look_clock_of_tests, look_epoch_raised, look_session_shared, look_stale_short,
    look_attempts_one, look_dedupe_short, look_history_long, look_partitions_few, look_lease_short,
    look_workers_missing, look_instances_silent, look_lanes_silent, look_lanes_unowned, look_claims_overdue,
    look_backlog_old, look_dead_letters, look_jobs_unserved, look_jobs_old, look_jobs_dead,
    look_schedules_late, look_schedules_paused, look_perspectives_failed, look_perspectives_paused,
    look_perspectives_lag, look_paused, look_refused, look_runs_failed, look_runs_paused;

#endif
