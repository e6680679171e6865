/* Recording actions of command-line users in the database. */
#ifndef CLI_AUDIT_H
#define CLI_AUDIT_H

#include "cli/cli.h"

/* Who runs the program: PAWL_ACTOR, else the login name, else the user's number. */
pawl_str audit_actor(struct cli *cli);

/* detail is text that people read. */
PAWL_MUSTCHECK pawl_status audit_note(struct cli *cli, const char *action, const char *detail,
                                      pawl_error *err);

/* The same, and the reason that was given with --reason, if any. */
PAWL_MUSTCHECK pawl_status audit_note_reason(struct cli *cli, const char *action, const char *detail,
                                             pawl_error *err);

#endif
