/* Messages as rows of output, and reading many of them page by page. */
#ifndef VIEW_MESSAGE_H
#define VIEW_MESSAGE_H

#include "cli/cli.h"

enum { MESSAGE_COLUMNS = 29 };

extern const struct column message_columns[MESSAGE_COLUMNS];

void message_cells(const struct message_row *row, struct cell cells[static MESSAGE_COLUMNS]);

/* What --kind, --state, --stream, --type, --topic, --fingerprint and --after ask for. */
struct message_filter message_filter_of(const struct cli *cli);

/* Called for every message in order of its sequence number; rows live until the call returns. */
typedef pawl_status (*message_visit)(void *self, const struct message_row *row, pawl_error *err);

/* Reads all messages of the filter, at most limit (0: all of them), a page at a time. filter->limit is
 * ignored. */
PAWL_MUSTCHECK pawl_status messages_visit(struct store *store, struct message_filter filter, int64_t limit,
                                          message_visit visit, void *self, pawl_error *err);

/* The whole of a list command: visits what the flags ask for and prints it. */
PAWL_MUSTCHECK pawl_status messages_list(struct cli *cli, int state, const char *empty, pawl_error *err);

/* The message or messages with the id given as the first word, as records; state 0 is any. */
PAWL_MUSTCHECK pawl_status messages_show(struct cli *cli, int state, const char *noun, pawl_error *err);

#endif
