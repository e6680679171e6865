/* Recording actions of command-line users in the database. */
#ifndef CLI_AUDIT_H
#define CLI_AUDIT_H

#include "cli/cli.h"

/* Who runs the program: PAWL_ACTOR, else the login name, else the user's number. */
pawl_str audit_actor(struct cli *cli);

/* Adds the command and its inputs to the list of actions. */
PAWL_MUSTCHECK pawl_status audit_note(struct cli *cli, pawl_error *err);

#endif
