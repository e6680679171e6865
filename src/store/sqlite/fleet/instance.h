/* Instances inside an operation: registration, heartbeats, eviction, leaving. */
#ifndef STORE_SQLITE_FLEET_INSTANCE_H
#define STORE_SQLITE_FLEET_INSTANCE_H

#include "store/sqlite/file/operation.h"

struct instance_brief {
    pawl_uuid id;
    enum instance_state state;
    int kinds;
    int64_t beat_ms, lease_ms, lease_until_ms;
    int max_partitions, slots;
};

/* *known false when there is no row (also when it has a tombstone). */
PAWL_MUSTCHECK pawl_status instance_read(struct operation *op, pawl_uuid id, struct instance_brief *brief,
                                         bool *known);

/* PAWL_STALE when it is unknown, evicted or removed. */
PAWL_MUSTCHECK pawl_status instance_must_be_active(struct operation *op, pawl_uuid id,
                                                   struct instance_brief *brief);

/* PAWL_STALE also when its lease has expired. */
PAWL_MUSTCHECK pawl_status instance_must_be_live(struct operation *op, pawl_uuid id);

/* Inside an operation: the input is checked already. */
PAWL_MUSTCHECK pawl_status instance_enter(struct operation *op, const struct instance_new *in,
                                          struct beat_result *beat);
PAWL_MUSTCHECK pawl_status instance_touch(struct operation *op, struct instance_brief *brief,
                                          struct beat_result *beat);
PAWL_MUSTCHECK pawl_status instance_expel(struct operation *op, pawl_uuid id);
PAWL_MUSTCHECK pawl_status instance_expel_silent(struct operation *op, pawl_uuid caller, int *evicted);
PAWL_MUSTCHECK pawl_status instance_any_silent(struct operation *op, pawl_uuid caller, bool *any);
PAWL_MUSTCHECK pawl_status instance_expel_all(struct operation *op);

/* Removes the row and leaves a tombstone. */
PAWL_MUSTCHECK pawl_status instance_remove(struct operation *op, pawl_uuid id);

#endif
