/* The checkpointer: exactly one open store per database moves the log back into the file. */
#ifndef STORE_SQLITE_CHECKPOINTER_H
#define STORE_SQLITE_CHECKPOINTER_H

#include "store/sqlite/connection.h"

/*
 * SQLite before 3.51.3 can lose commits when a checkpoint meets a writer that resets the log. So no
 * connection of ours checkpoints by itself; the one that holds an OFD lock on <db>-pawl/checkpoint.lock does
 * it, after its own commits, in FULL mode, which holds the write lock meanwhile. The lock frees when its
 * process ends, and whoever next finds the log long takes it. A failed checkpoint is not an error of the
 * operation before it: the log only stays longer.
 */
void checkpointer_after_commit(struct sqlite_store *store);

/* Empties the log when this store is, or can become, the checkpointer. */
void checkpointer_close(struct sqlite_store *store);

#endif
