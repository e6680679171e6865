/* The rows of the command table, each defined in its own cmd_ file. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/command.h"

extern const struct command command_actions;
extern const struct command command_agent_disable;
extern const struct command command_agent_list;
extern const struct command command_agent_refusals;
extern const struct command command_agent_set;
extern const struct command command_audit_list;
extern const struct command command_audit_verify;
extern const struct command command_check;
extern const struct command command_dead_discard;
extern const struct command command_dead_groups;
extern const struct command command_dead_list;
extern const struct command command_dead_redrive;
extern const struct command command_dead_show;
extern const struct command command_help;
extern const struct command command_history_archive;
extern const struct command command_history_list;
extern const struct command command_inbox_forget;
extern const struct command command_inbox_list;
extern const struct command command_inbox_refused;
extern const struct command command_inbox_replay;
extern const struct command command_inbox_show;
extern const struct command command_inbox_skip;
extern const struct command command_instances_evict;
extern const struct command command_instances_list;
extern const struct command command_job_cancel;
extern const struct command command_job_discard;
extern const struct command command_job_enqueue;
extern const struct command command_job_list;
extern const struct command command_job_retry;
extern const struct command command_job_show;
extern const struct command command_job_steps;
extern const struct command command_job_wake;
extern const struct command command_maintain;
extern const struct command command_messages_list;
extern const struct command command_messages_show;
extern const struct command command_migrate;
extern const struct command command_outbox_list;
extern const struct command command_outbox_replay;
extern const struct command command_outbox_show;
extern const struct command command_outbox_skip;
extern const struct command command_partitions;
extern const struct command command_partitions_of;
extern const struct command command_pause;
extern const struct command command_pauses;
extern const struct command command_pipeline_check;
extern const struct command command_pipeline_show;
extern const struct command command_resume;
extern const struct command command_schedule_list;
extern const struct command command_schedule_preview;
extern const struct command command_send;
extern const struct command command_settings_set;
extern const struct command command_settings_show;
extern const struct command command_status;
extern const struct command command_task_create;
extern const struct command command_task_delete;
extern const struct command command_task_list;
extern const struct command command_task_pause;
extern const struct command command_task_resume;
extern const struct command command_task_run;
extern const struct command command_task_show;
extern const struct command command_tool_call;
extern const struct command command_tool_list;
extern const struct command command_tool_ping;
extern const struct command command_transport_list;
extern const struct command command_up;
extern const struct command command_version;
extern const struct command command_why;
extern const struct command command_worker;

#endif
