/* Sending and finishing messages inside your own transaction on SQLite. */
#ifndef PAWL_SQLITE_H
#define PAWL_SQLITE_H

#include "pawl.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sqlite3;

/*
 * Puts messages inside the open transaction of db (begin it with BEGIN IMMEDIATE): they exist only if it
 * commits. config and ids may be NULL, as for pawl_send. A failed call leaves nothing in the transaction,
 * which stays open. The file must be a migrated pawl database in WAL mode; turn off automatic checkpoints on
 * your connection (PRAGMA wal_autocheckpoint = 0): pawl's processes run them, one at a time.
 */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_send_sqlite(struct sqlite3 *db, const pawl_send_config *config,
                                                     const pawl_outgoing *messages, size_t count,
                                                     pawl_uuid *ids, pawl_error *err);

/*
 * For a handler: ends its message or job inside the open transaction of db, together with everything else the
 * handler writes there. Then commit, and return PAWL_DONE. PAWL_STALE: the grant has ended and the whole
 * transaction has been rolled back; return PAWL_RETRY. PAWL_CONFLICT: the result of an earlier message of the
 * stream is not recorded yet; roll back and return PAWL_SNOOZE.
 */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_finish_sqlite(struct sqlite3 *db, const pawl_message *message,
                                                       pawl_error *err);

#ifdef __cplusplus
}
#endif

#endif
