/* Waking workers that wait: a file beside the database whose time stamp changes. */
#ifndef STORE_SQLITE_FILE_WAKER_H
#define STORE_SQLITE_FILE_WAKER_H

#include "store/store.h"

/* Wakes the workers that watch the file of the database at path; without one nothing happens. */
void waker_touch(const char *path);
/* The same, and says that something was paused or cancelled. */
void waker_write(const char *path);

/* core.h */
pawl_status sqlite_wait_begin(struct store *store, pawl_uuid instance, int kinds, bool *late,
                              pawl_error *err);
pawl_status sqlite_wait_end(struct store *store, pawl_uuid instance, pawl_error *err);
pawl_status sqlite_wake(struct store *store, pawl_error *err);

#endif
