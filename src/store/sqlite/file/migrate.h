/* Creating, checking and upgrading the SQLite schema. */
#ifndef STORE_SQLITE_FILE_MIGRATE_H
#define STORE_SQLITE_FILE_MIGRATE_H

#include "store/sqlite/file/connection.h"

/* PAWL_OK when the database has exactly the migrations of this program; PAWL_NOT_FOUND: there is nothing
 * in the file yet; PAWL_CONFLICT says what to do. */
PAWL_MUSTCHECK pawl_status migrate_check(struct sqlite_store *store, pawl_error *err);

/* Makes or upgrades the schema through this connection. */
PAWL_MUSTCHECK pawl_status migrate_run(struct sqlite_store *store, const struct migrate_config *migrate,
                                       struct migrate_result *out, pawl_error *err);

#endif
