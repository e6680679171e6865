/* The facts that the doctor's checks use. */
#ifndef WORK_DOCTOR_FACTS_H
#define WORK_DOCTOR_FACTS_H

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

#endif
