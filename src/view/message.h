/* Output columns of messages, and reading many messages page by page. */
#ifndef VIEW_MESSAGE_H
#define VIEW_MESSAGE_H

#include "store/store.h"
#include "view/output/output.h"

enum { MESSAGE_COLUMNS = 29 };

extern const struct column message_columns[MESSAGE_COLUMNS];

void message_cells(const struct message_row *row, struct cell cells[static MESSAGE_COLUMNS]);

/* Called for every message in order of its sequence number; rows live until the call returns. */
typedef pawl_status (*message_visit)(void *self, const struct message_row *row, pawl_error *err);

/* Reads all messages of the filter, at most limit (0: all of them), a page at a time. filter->limit is
 * ignored. */
PAWL_MUSTCHECK pawl_status messages_visit(struct store *store, struct message_filter filter, int64_t limit,
                                          message_visit visit, void *self, pawl_error *err);

#endif
