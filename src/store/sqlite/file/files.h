/* Whether the database, its log and the index of the log are still the files that a connection opened. */
#ifndef STORE_SQLITE_FILE_FILES_H
#define STORE_SQLITE_FILE_FILES_H

#include "store/sqlite/file/connection.h"

/* PAWL_DAMAGED when one of them was removed or replaced since this process opened it; then nothing may be
 * written any more. Called after the connection has read something: then the log is there. */
PAWL_MUSTCHECK pawl_status files_still_there(struct sqlite_store *store, const char *op, pawl_error *err);

/* PAWL_DAMAGED when the log is empty or missing. Call it if SQLite read less than the index of the log says
 * there is: another process made that index for a log that was removed since. */
PAWL_MUSTCHECK pawl_status files_short_log(struct sqlite_store *store, const char *op, pawl_error *err);

#endif
