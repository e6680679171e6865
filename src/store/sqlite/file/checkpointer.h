/* The checkpointer: one open store at a time moves the log back into the file. */
#ifndef STORE_SQLITE_FILE_CHECKPOINTER_H
#define STORE_SQLITE_FILE_CHECKPOINTER_H

#include "store/sqlite/file/connection.h"

/*
 * SQLite before 3.51.3 can lose commits when a checkpoint meets another one, or a writer that resets the log.
 * So no connection of ours checkpoints automatically. The one that finds the log long after its own commit
 * does it, when it gets the OFD lock on <db>-pawl/checkpoint.lock, in FULL mode, which holds the write lock
 * meanwhile. The lock is given back at once, so that an idle process never keeps a busy one's log from
 * shrinking, and the kernel frees it when its holder dies. A checkpoint that cannot be is not an error of the
 * operation before it: the log only stays longer.
 */
void checkpointer_after_commit(struct sqlite_store *store);

/* Empties the log when no other connection uses it. */
void checkpointer_close(struct sqlite_store *store);

#endif
