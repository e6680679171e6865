/* The operations of every noun. Commands and routes name them; docs/cli.md and docs/api.md describe them. */
#ifndef OPERATIONS_OPERATIONS_H
#define OPERATIONS_OPERATIONS_H

#include "operations/request.h"

/* jobs.c */
operation_run job_show, job_steps, job_wake, limit_list, limit_set;

/* tasks.c */
operation_run task_list, task_show, agent_list, agent_refusals, execution_list, execution_verify;

/* alerts.c */
operation_run alert_list, alert_show, alert_set, alert_enable, alert_disable, alert_remove, alert_silence,
    alert_unsilence, alert_try, alert_history, alert_metrics_list;

/* schedules.c */
operation_run schedule_list, schedule_show;

#endif
