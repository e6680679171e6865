/* Reports that only keep a log: receptors' runs and perspectives' checkpoints. */
#ifndef STORE_SQLITE_CLAIMS_LOG_H
#define STORE_SQLITE_CLAIMS_LOG_H

#include "store/sqlite/file/operation.h"

/* Inside an operation: out->count reports, checked already. */
PAWL_MUSTCHECK pawl_status log_receptors(struct operation *op, const struct receptor_report *reports,
                                         struct answer_list *out);
PAWL_MUSTCHECK pawl_status log_checkpoints(struct operation *op, const struct checkpoints_report *in,
                                           struct answer_list *out);

/* core.h and view.h */
pawl_status sqlite_receptors_report(struct store *store, const struct receptor_report *reports, size_t count,
                                    struct arena *arena, struct answer_list *out, pawl_error *err);
pawl_status sqlite_checkpoints_report(struct store *store, const struct checkpoints_report *in,
                                      struct arena *arena, struct answer_list *out, pawl_error *err);
pawl_status sqlite_checkpoint_get(struct store *store, pawl_str stream, pawl_str perspective,
                                  struct arena *arena, struct checkpoint_row *out, pawl_error *err);
pawl_status sqlite_receptors(struct store *store, pawl_uuid event_id, struct arena *arena,
                             struct receptor_row **rows, size_t *count, pawl_error *err);

#endif
