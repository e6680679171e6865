/* An in-memory SQLite store, for the simulator. No URL names it, so that no real work is kept in it by
 * mistake. */
#ifndef STORE_SQLITE_FILE_MEMORY_H
#define STORE_SQLITE_FILE_MEMORY_H

#include "store/store.h"

/*
 * A new store with its schema; closed with store_close, and gone then. Its time is *clock_ms, which is read
 * at the beginning of every operation and must outlive the store.
 */
PAWL_MUSTCHECK pawl_status sqlite_memory_open(const struct migrate_config *migrate, const int64_t *clock_ms,
                                              struct store **store, pawl_error *err);

#endif
