/* The doctor's checks of the state of the work; each appends what it found, nothing if all is well. */
#ifndef WORK_DOCTOR_LOOK_H
#define WORK_DOCTOR_LOOK_H

#include "work/doctor/facts.h"

void look_clock_skew(const struct doctor_facts *facts, struct buf *found);
void look_clock_of_tests(const struct doctor_facts *facts, struct buf *found);
void look_epoch_raised(const struct doctor_facts *facts, struct buf *found);
void look_session_shared(const struct doctor_facts *facts, struct buf *found);
void look_stale_short(const struct doctor_facts *facts, struct buf *found);
void look_attempts_one(const struct doctor_facts *facts, struct buf *found);
void look_dedupe_short(const struct doctor_facts *facts, struct buf *found);
void look_history_long(const struct doctor_facts *facts, struct buf *found);
void look_partitions_few(const struct doctor_facts *facts, struct buf *found);
void look_lease_short(const struct doctor_facts *facts, struct buf *found);
void look_workers_missing(const struct doctor_facts *facts, struct buf *found);
void look_instances_silent(const struct doctor_facts *facts, struct buf *found);
void look_lanes_silent(const struct doctor_facts *facts, struct buf *found);
void look_lanes_unowned(const struct doctor_facts *facts, struct buf *found);
void look_claims_overdue(const struct doctor_facts *facts, struct buf *found);
void look_backlog_old(const struct doctor_facts *facts, struct buf *found);
void look_dead_letters(const struct doctor_facts *facts, struct buf *found);
void look_jobs_unserved(const struct doctor_facts *facts, struct buf *found);
void look_jobs_old(const struct doctor_facts *facts, struct buf *found);
void look_jobs_dead(const struct doctor_facts *facts, struct buf *found);
void look_schedules_late(const struct doctor_facts *facts, struct buf *found);
void look_schedules_paused(const struct doctor_facts *facts, struct buf *found);
void look_perspectives_failed(const struct doctor_facts *facts, struct buf *found);
void look_perspectives_paused(const struct doctor_facts *facts, struct buf *found);
void look_perspectives_lag(const struct doctor_facts *facts, struct buf *found);
void look_paused(const struct doctor_facts *facts, struct buf *found);
void look_refused(const struct doctor_facts *facts, struct buf *found);
void look_runs_failed(const struct doctor_facts *facts, struct buf *found);
void look_runs_paused(const struct doctor_facts *facts, struct buf *found);

#endif
