/* Waking workers on SQLite: a file next to the database whose time stamp changes. */
#ifndef STORE_SQLITE_FILE_WAKER_H
#define STORE_SQLITE_FILE_WAKER_H

#include "store/store.h"

/* Wakes the workers that watch the file of the database at path; without one nothing happens. */
void waker_touch(const char *path);
/* The same, and says that something was paused or cancelled. */
void waker_write(const char *path);

#endif
