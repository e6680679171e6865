/* Instances: their life from registration to tombstone. */
#ifndef MODEL_INSTANCE_H
#define MODEL_INSTANCE_H

#include "store/model/state.h"

/* Found and active; else PAWL_STALE: it was evicted, or nobody knows it. */
PAWL_MUSTCHECK pawl_status model_instance_active(const struct model *model, pawl_uuid id, const char *op,
                                                 struct instance **instance, pawl_error *err);
/* Whether the input may make a new instance: PAWL_CONFLICT when the id was used, PAWL_INVALID for a wrong
 * count. */
PAWL_MUSTCHECK pawl_status model_instance_may_register(const struct model *model,
                                                       const struct instance_new *in, pawl_error *err);
/* The call's partition count must be the schema's. */
PAWL_MUSTCHECK pawl_status model_partition_count_check(const struct model *model, const char *op,
                                                       int partition_count, pawl_error *err);
struct instance *model_instance_add(struct model *model, const struct instance_new *in);
/* A heartbeat: the lease is renewed and the lanes of each kind are balanced. */
void model_instance_beat(struct model *model, struct instance *instance, struct beat_result *out);
void model_evict(struct model *model, struct instance *instance);
/* Evicts every silent instance but the caller; returns how many. */
int model_instances_evict_silent(struct model *model, pawl_uuid caller);
/* Removes the row and leaves a tombstone. */
void model_instance_bury(struct model *model, struct instance *instance);
/* Fills in the times and the lanes owned. */
void model_beat_fill(const struct model *model, const struct instance *instance, struct beat_result *out);

pawl_status model_instance_register(struct store *store, const struct instance_new *in,
                                    struct instance_grant *out, pawl_error *err);
pawl_status model_heartbeat(struct store *store, pawl_uuid id, int64_t processed, struct beat_result *out,
                            pawl_error *err);
pawl_status model_instance_deregister(struct store *store, pawl_uuid id, pawl_error *err);
pawl_status model_instance_evict(struct store *store, pawl_uuid id, pawl_error *err);
pawl_status model_liveness_hold(struct store *store, pawl_uuid id, bool *held, pawl_error *err);
pawl_status model_peers_look(struct store *store, pawl_uuid id, struct peers_look *out, pawl_error *err);

/* core.h: nobody listens to a model, so a wish is only checked. */
pawl_status model_wait_begin(struct store *store, pawl_uuid instance, int kinds, bool *late, pawl_error *err);
pawl_status model_wait_end(struct store *store, pawl_uuid instance, pawl_error *err);
pawl_status model_wake(struct store *store, pawl_error *err);

#endif
