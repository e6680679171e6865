/* Duties, what came in and was refused, pauses and the audit. */
#ifndef MODEL_RELAY_H
#define MODEL_RELAY_H

#include "store/model/state.h"
#include "store/relay.h"

extern const struct store_relay_ops model_relay_ops;

void model_relay_free(struct model *model);

/* NULL = it is not paused. */
const struct pause_row *model_pause_find(const struct model *model, enum pause_scope scope, pawl_str name);

int64_t model_pause_count(const struct model *model);

#endif
