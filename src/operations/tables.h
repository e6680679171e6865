/* The tables of operations, one per noun; the fronts list them in the order of the help and of the API. */
#ifndef OPERATIONS_TABLES_H
#define OPERATIONS_TABLES_H

#include "operations/front/operation.h"

extern const struct operation_table agent_operations, alert_operations, audit_operations, check_operations,
    dead_end_operations, dead_operations, doctor_operations, event_operations, history_operations,
    instance_operations, job_operations, message_operations, outbox_inbox_operations, pause_operations,
    perspective_operations, perspective_status_operations, receptor_note_operations, receptor_operations,
    refused_operations, run_list_operations, run_operations, schedule_operations, setting_operations,
    stream_operations, task_operations, tool_operations, transport_operations, upkeep_operations,
    why_operations;

#endif
