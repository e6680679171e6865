/* The whole work of one turn in one transaction. */
#ifndef STORE_SQLITE_MESSAGES_BATCH_H
#define STORE_SQLITE_MESSAGES_BATCH_H

#include "store/sqlite/file/operation.h"

/* core.h */
pawl_status sqlite_batch_process(struct store *store, const struct work_batch *in, struct arena *arena,
                                 struct work_batch_result *out, pawl_error *err);

#endif
