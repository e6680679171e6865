/* Turns among writers. SQLite's write lock has no queue: a process that polls for it can starve while another
 * writes transaction after transaction. So a writer that has to wait announces it, and a writer about to
 * start lets it go first, for a limited time. Correctness never depends on it. */
#ifndef STORE_SQLITE_FILE_TURN_H
#define STORE_SQLITE_FILE_TURN_H

#include "store/sqlite/file/connection.h"

/* Before a write transaction: lets a writer that waits go first, for at most 20 ms. */
void turn_give(struct sqlite_store *store);

/* The lock is taken: this writer waits for its turn. True: it is the next one. */
bool turn_wait(struct sqlite_store *store);

/* The wait has ended, one way or the other. */
void turn_end(struct sqlite_store *store);

#endif
