/* The liveness lock: a file per instance, locked for as long as its process lives. */
#ifndef STORE_SQLITE_FLEET_LIVENESS_H
#define STORE_SQLITE_FLEET_LIVENESS_H

#include "store/sqlite/file/operation.h"

/* core.h: liveness_hold, peers_look. */
pawl_status sqlite_liveness_hold(struct store *store, pawl_uuid instance, bool *held, pawl_error *err);
pawl_status sqlite_peers_look(struct store *store, pawl_uuid instance, struct peers_look *out,
                              pawl_error *err);

/* Frees every lock of this store and removes the files. */
void liveness_drop(struct sqlite_store *store);

/* Removes the lock file of an instance that is gone; one that is not there is fine. */
void liveness_remove_file(struct sqlite_store *store, pawl_uuid instance);

#endif
