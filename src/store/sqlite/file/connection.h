/* One SQLite connection: the file, its settings, its prepared statements. */
#ifndef STORE_SQLITE_FILE_CONNECTION_H
#define STORE_SQLITE_FILE_CONNECTION_H

#include <pthread.h>
#include <sqlite3.h>

#include "sql_embedded.h"
#include "store/store.h"

struct liveness_lock;

enum turn_fd { TURN_NOT_OPENED = -1, TURN_CANNOT_BE_OPENED = -2 };

/* The identity of a file: another file of the same name has a different one. */
struct file_place {
    uint64_t device, inode; /* inode 0: not looked at yet */
};
enum { STORE_FILES = 3 }; /* the database, its log, the index of its log */

/* A store on SQLite. Everything after `lock` belongs to the operation that holds it. */
struct sqlite_store {
    struct store base; /* first, so that a struct store pointer is a struct sqlite_store pointer */
    pthread_mutex_t lock;
    sqlite3 *db;
    char *path;
    char *side_dir; /* <path>-pawl: lock files */
    int64_t timeout_ms;
    int64_t wait_deadline_us; /* boot clock; the busy handler gives up there */
    int wal_pages;            /* in the log after the last commit of this connection */
    int checkpoint_pages;     /* this many call for a checkpoint */
    int checkpointer_fd;      /* of the lock file; -1: not opened yet */
    int migrate_fd;           /* -1: not a migrating connection */
    int turn_fd;              /* of the writers' lock file, see turn.h; negative: enum turn_fd */
    bool turn_wanted;         /* a write transaction is about to begin */
    bool turn_held;
    int64_t turn_ignore_until_us; /* boot clock */
    struct file_place places[STORE_FILES];
    const int64_t *clock_ms; /* the store's time, if it is not this machine's; borrowed */
    bool in_memory;          /* it has no files */
    bool cut_off; /* one of them was removed or replaced: nothing may be written to the current files */
    struct liveness_lock *liveness;
    struct arena *scratch; /* emptied at the start of every operation */
    sqlite3_stmt *statements[SQLITE_Q_COUNT];
    sqlite3_stmt **invariants; /* sql_sqlite_invariants_count of them; NULL until they run */
};

static inline struct sqlite_store *sqlite_store_of(struct store *store) {
    return (struct sqlite_store *)store;
}

enum connection_mode {
    CONNECTION_USE,    /* the file must be there */
    CONNECTION_CREATE, /* made when missing, readable by its owner only */
    CONNECTION_MEMORY  /* no file: a new, empty database that no other connection sees */
};

/*
 * A connection with its settings applied and no operations yet; *out is freed with connection_close.
 * PAWL_CONFLICT when the file is missing (CONNECTION_USE), PAWL_INVALID for an address that is not a local
 * file.
 */
PAWL_MUSTCHECK pawl_status connection_open(const struct store_config *config, enum connection_mode mode,
                                           struct sqlite_store **out, pawl_error *err);
void connection_close(struct sqlite_store *store); /* takes NULL */

/* Starts the time that one operation may wait for other writers. */
void connection_deadline_start(struct sqlite_store *store);

/* Makes WAL the file's journal; only the migrator does it, under its lock. */
PAWL_MUSTCHECK pawl_status connection_use_wal(struct sqlite_store *store, pawl_error *err);

/* The status and the text of an SQLite result code, the same for every statement. */
pawl_status connection_failure(struct sqlite_store *store, int rc, const char *op, pawl_error *err);

/* PAWL_DAMAGED, with the first thing that is wrong, when the query (SQLITE_Q_FILE_DAMAGE, or the slower
 * SQLITE_Q_FILE_INTEGRITY) finds anything wrong with the file. */
PAWL_MUSTCHECK pawl_status connection_intact(struct sqlite_store *store, enum sqlite_query query,
                                             const char *op, pawl_error *err);

/* device:inode of the open file: changes when it is copied or restored. */
enum { FILE_ID_BYTES = 48 };
PAWL_MUSTCHECK pawl_status connection_file_id(struct sqlite_store *store, char text[static FILE_ID_BYTES],
                                              pawl_error *err);

#endif
