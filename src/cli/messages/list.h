/* Messages that a command line asks for: the filter that its flags make, listed and shown. */
#ifndef CLI_MESSAGES_LIST_H
#define CLI_MESSAGES_LIST_H

#include "cli/cli.h"

/* What --kind, --state, --stream, --type, --topic, --fingerprint and --after ask for. */
struct message_filter message_filter_of(struct cli *cli);

/* The whole of a list command: visits what the flags ask for and prints it. */
PAWL_MUSTCHECK pawl_status messages_list(struct cli *cli, int state, const char *empty, pawl_error *err);

/* The message or messages with the id given as the first word, as records; state 0 is any. */
PAWL_MUSTCHECK pawl_status messages_show(struct cli *cli, int state, const char *noun, pawl_error *err);

#endif
