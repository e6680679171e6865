/* Output columns of jobs, limits, tasks, schedules, agents and executions. */
#ifndef VIEW_WORK_H
#define VIEW_WORK_H

#include "store/store.h"
#include "view/output/output.h"

enum {
    JOB_COLUMNS = 22,
    STEP_COLUMNS = 8,
    TASK_COLUMNS = 10,
    SCHEDULE_COLUMNS = 11,
    AGENT_COLUMNS = 4,
    LIMIT_COLUMNS = 5,
    REFUSAL_COLUMNS = 7,
    EXECUTION_COLUMNS = 17,
    REPORT_COLUMNS = 8
};

const char *job_state_name(enum job_state state);

extern const struct column job_columns[JOB_COLUMNS];
void job_cells(const struct job_row *row, struct cell cells[static JOB_COLUMNS]);

extern const struct column step_columns[STEP_COLUMNS];
void step_cells(const struct job_step *step, struct cell cells[static STEP_COLUMNS]);

extern const struct column task_columns[TASK_COLUMNS];

extern const struct column schedule_columns[SCHEDULE_COLUMNS];

extern const struct column agent_columns[AGENT_COLUMNS];

extern const struct column limit_columns[LIMIT_COLUMNS];

extern const struct column refusal_columns[REFUSAL_COLUMNS];
void refusal_cells(const struct refusal *one, struct cell cells[static REFUSAL_COLUMNS]);

extern const struct column execution_columns[EXECUTION_COLUMNS];
const char *execution_outcome_name(enum run_outcome outcome);
void execution_cells(const struct task_run *run, struct cell cells[static EXECUTION_COLUMNS]);

/* A failed attempt of a message, under the same names as an execution of a job. */
enum { ATTEMPT_COLUMNS = 8 };
extern const struct column attempt_columns[ATTEMPT_COLUMNS];
void attempt_cells(const struct attempt_row *row, struct cell cells[static ATTEMPT_COLUMNS]);

/* What audit_verify found; expect: the head that it was given. */
extern const struct column report_columns[REPORT_COLUMNS];
void report_cells(const struct audit_report *report, pawl_str expect,
                  struct cell cells[static REPORT_COLUMNS]);

#endif
