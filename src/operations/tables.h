/* The tables of operations, one per noun; the fronts list them in the order of the help and of the API. */
#ifndef OPERATIONS_TABLES_H
#define OPERATIONS_TABLES_H

#include <string.h>

#include "operations/front/operation.h"

extern const struct operation_table agent_operations, alert_operations, audit_operations, doctor_operations,
    event_operations, instance_operations, job_operations, limit_operations, message_end_operations,
    message_operations, pause_operations, perspective_operations, perspective_set_operations,
    pipeline_operations, receptor_note_operations, receptor_operations, refused_operations, run_operations,
    run_start_operations, schedule_operations, send_operations, setting_operations, snapshot_operations,
    statement_operations, status_operations, stream_operations, task_operations, tool_operations,
    transport_operations, upkeep_operations, wait_operations, why_operations, worker_operations;

/* All of them, whichever front they have: NULL after the last. The fronts have tables of their own besides.
 */
const struct operation *operation_at(size_t index);

/* The operation with that name, or NULL. */
static inline const struct operation *operation_find(const char *name) {
    const struct operation *operation;
    size_t i = 0;
    while ((operation = operation_at(i++)) != NULL && strcmp(operation->name, name) != 0)
        ;
    return operation;
}

#endif
