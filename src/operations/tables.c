/* All tables of operations, for fronts that offer every one. */
#include "operations/tables.h"

static const struct operation_table *const tables[] = {&status_operations,
                                                       &send_operations,
                                                       &wait_operations,
                                                       &why_operations,
                                                       &message_operations,
                                                       &message_end_operations,
                                                       &receptor_note_operations,
                                                       &refused_operations,
                                                       &event_operations,
                                                       &receptor_operations,
                                                       &perspective_set_operations,
                                                       &perspective_operations,
                                                       &stream_operations,
                                                       &run_start_operations,
                                                       &run_operations,
                                                       &statement_operations,
                                                       &task_operations,
                                                       &pipeline_operations,
                                                       &schedule_operations,
                                                       &job_operations,
                                                       &limit_operations,
                                                       &agent_operations,
                                                       &audit_operations,
                                                       &tool_operations,
                                                       &alert_operations,
                                                       &pause_operations,
                                                       &instance_operations,
                                                       &setting_operations,
                                                       &upkeep_operations,
                                                       &doctor_operations,
                                                       &transport_operations,
                                                       &worker_operations,
                                                       &snapshot_operations};

const struct operation *operation_at(size_t index) {
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        if (index < tables[i]->count)
            return &tables[i]->rows[index];
        index -= tables[i]->count;
    }
    return NULL;
}
