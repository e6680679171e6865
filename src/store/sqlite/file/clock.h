/* The store's clock: a base kept in the database plus this machine's time since boot. */
#ifndef STORE_SQLITE_FILE_CLOCK_H
#define STORE_SQLITE_FILE_CLOCK_H

#include "store/sqlite/file/connection.h"

/* test_now_ms when it is not 0, else the base plus the time since boot. */
int64_t clock_now(int64_t test_now_ms, int64_t clock_base_ms);

/*
 * At open: leases of another boot, and of the database this file was copied from, mean nothing. Another boot
 * id gives a new base, not below any time stored; another file gives a new epoch; both evict every instance.
 */
PAWL_MUSTCHECK pawl_status clock_settle(struct sqlite_store *store, pawl_error *err);

#endif
