/* Reports of receptors and checkpoints. */
#ifndef STORE_SQLITE_CLAIMS_LOG_H
#define STORE_SQLITE_CLAIMS_LOG_H

#include "store/sqlite/file/operation.h"

/* Inside an operation: out->count reports, checked already. */
PAWL_MUSTCHECK pawl_status log_receptors(struct operation *op, const struct receptor_report *reports,
                                         struct answer_list *out);
PAWL_MUSTCHECK pawl_status log_checkpoints(struct operation *op, const struct checkpoints_report *in,
                                           struct answer_list *out);

#endif
