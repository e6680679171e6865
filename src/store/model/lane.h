/* Lanes: who owns them and how they are shared out. */
#ifndef MODEL_LANE_H
#define MODEL_LANE_H

#include "store/model/state.h"

void model_lane_free(struct lane *lane);
/* Lanes of the kind that the instance owns, draining ones included. */
int model_lanes_owned(const struct model *model, enum store_kind kind, pawl_uuid instance);
/* The instance's draining lanes that nothing is in flight on become free; returns how many. */
int model_lanes_drained(struct model *model, enum store_kind kind, pawl_uuid instance);
/* Adds what it did to out->lanes_taken, lanes_given and evicted. */
void model_lanes_balance(struct model *model, enum store_kind kind, struct instance *caller,
                         struct beat_result *out);
/* Whether a lane is free that the instance would take. */
bool model_lanes_wanted(const struct model *model, enum store_kind kind, const struct instance *caller);

pawl_status model_lanes_rebalance(struct store *store, pawl_uuid instance, enum store_kind kind,
                                  struct beat_result *out, pawl_error *err);

#endif
