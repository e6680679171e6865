/* Reports of receptors and checkpoints. */
#ifndef STORE_SQLITE_CLAIMS_LOG_H
#define STORE_SQLITE_CLAIMS_LOG_H

#include "store/sqlite/file/operation.h"

/* Inside an operation: the input is checked already. */
PAWL_MUSTCHECK pawl_status log_receptors(struct operation *op, const struct receptor_report *reports,
                                         size_t count, struct arena *arena, struct answer_list *out);
PAWL_MUSTCHECK pawl_status log_checkpoints(struct operation *op, const struct checkpoints_report *in,
                                           struct arena *arena, struct answer_list *out);

#endif
