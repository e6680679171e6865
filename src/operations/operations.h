/* The operations of every noun. Commands and routes name them; docs/cli.md and docs/api.md describe them. */
#ifndef OPERATIONS_OPERATIONS_H
#define OPERATIONS_OPERATIONS_H

#include "operations/request.h"

/* jobs.c */
operation_run op_job_show, op_job_steps, op_job_wake, op_limit_list, op_limit_set;

/* tasks.c */
operation_run op_task_list, op_task_show, op_agent_list, op_agent_refusals, op_execution_list,
    op_execution_verify;

/* alerts.c */
operation_run op_alert_list, op_alert_show, op_alert_set, op_alert_enable, op_alert_disable, op_alert_remove,
    op_alert_silence, op_alert_unsilence, op_alert_try, op_alert_history, op_alert_metrics_list;

/* events.c */
operation_run op_event_read, op_event_all;

/* fleet.c */
operation_run op_instance_list, op_instance_evict, op_lane_list, op_stream_place, op_transport_list,
    op_doctor_check_list;

/* notes.c */
operation_run op_pause_list, op_action_list, op_refused_list, op_refused_forget, op_settings_show,
    op_maintain;

/* perspectives.c */
operation_run op_perspective_list, op_perspective_errors, op_perspective_pause, op_perspective_resume,
    op_perspective_remove, op_perspective_retry, op_perspective_rebuild, op_perspective_skip,
    op_receptor_list, op_receptor_register, op_receptor_remove, op_receptor_notes_list;

/* runs.c */
operation_run op_run_list, op_run_partitions, op_run_stuck, op_run_pause, op_run_resume, op_run_cancel,
    op_run_retry, op_run_reset, op_statement_list, op_statement_remove;

/* schedules.c */
operation_run op_schedule_list, op_schedule_show;

#endif
