/* The liveness lock: a file per instance, locked for as long as its process lives. */
#ifndef STORE_SQLITE_FLEET_LIVENESS_H
#define STORE_SQLITE_FLEET_LIVENESS_H

#include "store/sqlite/file/operation.h"

/* Frees every lock of this store and removes the files. */
void liveness_drop(struct sqlite_store *store);

/* Removes the lock file of an instance that is gone; one that is not there is fine. */
void liveness_remove_file(struct sqlite_store *store, pawl_uuid instance);

#endif
