/* The tables of commands that only a terminal has, one per file. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/command.h"

extern const struct operation_table up_commands, server_commands, worker_commands, migrate_commands,
    send_commands, status_commands, events_append_commands, events_tail_commands, events_snapshot_commands,
    perspectives_commands, doctor_commands, history_commands, run_start_commands, run_commands,
    task_create_commands, task_schedule_commands, job_commands, pipeline_commands, tool_commands,
    monitor_commands, fleet_commands, version_commands, help_commands;

#endif
