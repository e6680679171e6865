/* Reports that only keep a log: receptors' records and perspectives' checkpoints. */
#ifndef MODEL_LOG_H
#define MODEL_LOG_H

#include "store/model/state.h"

enum store_answer model_receptor_apply(struct model *model, const struct receptor_report *report);
void model_receptor_remove(struct model *model, struct receptor *receptor);
enum store_answer model_checkpoint_apply(struct model *model, pawl_uuid instance,
                                         const struct checkpoint_report *report);
/* Finds it, or makes it: version 0, pending, due now. */
struct checkpoint *model_checkpoint_make(struct model *model, pawl_str stream, pawl_str perspective);
struct checkpoint *model_checkpoint_find(const struct model *model, pawl_str stream, pawl_str perspective);

pawl_status model_receptors_report(struct store *store, const struct receptor_report *reports, size_t count,
                                   struct arena *arena, struct answer_list *out, pawl_error *err);
pawl_status model_checkpoints_report(struct store *store, const struct checkpoints_report *in,
                                     struct arena *arena, struct answer_list *out, pawl_error *err);

#endif
