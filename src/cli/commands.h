/* The tables of commands that only a terminal has, and what a terminal does differently for others. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/command.h"

extern const struct operation_table archive_commands, doctor_commands, help_commands, mcp_commands,
    migrate_commands, monitor_commands, server_commands, tool_commands, up_commands, version_commands,
    worker_commands;

/* Instead of the operation of the same name: many lines of a file, and watching. */
typedef pawl_status terminal_run(struct cli *cli, pawl_error *err);
terminal_run append_terminal, run_show_terminal, run_start_terminal, send_terminal;

#endif
