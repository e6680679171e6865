/* Lanes inside an operation: owners and rebalancing. */
#ifndef STORE_SQLITE_FLEET_LANE_H
#define STORE_SQLITE_FLEET_LANE_H

#include "store/sqlite/fleet/instance.h"

/* Rebalance (docs/protocol.md) of one kind for one instance; adds to what moved in *beat. */
PAWL_MUSTCHECK pawl_status lane_balance(struct operation *op, enum store_kind kind,
                                        const struct instance_brief *caller, struct beat_result *beat);

/* Whether a lane is free that the instance would take. */
PAWL_MUSTCHECK pawl_status lane_wanted(struct operation *op, const struct instance_brief *caller,
                                       bool *wanted);

/* Time, lease and lanes owned of *beat. */
PAWL_MUSTCHECK pawl_status lane_fill_beat(struct operation *op, const struct instance_brief *brief,
                                          struct beat_result *beat);

/* The caller's draining lanes without an active claim become free. */
PAWL_MUSTCHECK pawl_status lane_free_drained(struct operation *op, enum store_kind kind, pawl_uuid owner,
                                             int64_t *freed);

/* The lanes it owns, draining ones included, ascending. */
PAWL_MUSTCHECK pawl_status lane_list_owned(struct operation *op, enum store_kind kind, pawl_uuid owner,
                                           struct arena *arena, int **lanes, size_t *count);

#endif
