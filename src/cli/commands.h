/* The tables of commands, one per file; in the order of the help. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/command.h"

extern const struct command_table up_commands, server_commands, worker_commands, migrate_commands,
    send_commands, status_commands, why_commands, cancel_commands, messages_commands, dead_commands,
    dead_end_commands, outbox_inbox_commands, receptors_commands, refused_commands, events_commands,
    events_snapshot_commands, event_receptors_commands, perspectives_commands, perspectives_change_commands,
    instances_commands, streams_commands, partitions_commands, check_commands, doctor_commands,
    history_commands, run_start_commands, run_commands, run_change_commands, statement_commands,
    task_commands, schedule_commands, job_commands, limit_commands, pipeline_commands, agent_commands,
    audit_commands, tool_commands, alerts_commands, settings_commands, transport_commands, pause_commands,
    monitor_commands, fleet_commands, maintain_commands, version_commands, help_commands;

#endif
