/* Duties, what came in and was refused, pauses and the audit. */
#ifndef MODEL_RELAY_H
#define MODEL_RELAY_H

#include "store/model/state.h"
#include "store/relay.h"

extern const struct store_relay_ops model_relay_ops;

void model_relay_free(struct model *model);

int64_t model_pause_count(const struct model *model);

#endif
