/* The whole work of one turn in one call. */
#ifndef MODEL_BATCH_H
#define MODEL_BATCH_H

#include "store/model/state.h"

pawl_status model_batch_process(struct store *store, const struct work_batch *in, struct arena *arena,
                                struct work_batch_result *out, pawl_error *err);

#endif
