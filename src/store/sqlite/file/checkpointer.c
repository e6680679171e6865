/* The checkpointer: the lock file, and the checkpoint itself. */
#include "store/sqlite/file/checkpointer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/time/clock.h"
#include "store/sqlite/file/files.h"

/* Pages in the log that call for a checkpoint: 16 MiB of the usual 4 KiB pages. */
enum { CHECKPOINT_PAGES = 4000 };
/* How long a checkpoint waits for a writer or a reader. */
enum { CHECKPOINT_WAIT_MS = 50 };

static bool set_lock(struct sqlite_store *store, short type) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET};
    return fcntl(store->checkpointer_fd, F_OFD_SETLK, &lock) == 0;
}

/* Whether this store may checkpoint now. */
static bool elected(struct sqlite_store *store) {
    if (store->checkpointer_fd < 0) {
        char *path = NULL;
        if (asprintf(&path, "%s/checkpoint.lock", store->side_dir) < 0)
            return false;
        store->checkpointer_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
        free(path);
    }
    return store->checkpointer_fd >= 0 && set_lock(store, F_WRLCK);
}

static void checkpoint(struct sqlite_store *store, int mode) {
    pawl_error err;
    /* Pages of a removed log must not be written to a file that others have changed since. */
    if (store->cut_off || files_still_there(store, "sqlite_checkpoint", &err) != PAWL_OK) {
        (void)set_lock(store, F_UNLCK);
        return;
    }
    store->wait_deadline_us = clock_boot_us() + (int64_t)CHECKPOINT_WAIT_MS * 1000;
    int rc = sqlite3_wal_checkpoint_v2(store->db, NULL, mode, NULL, NULL);
    /* A long-running reader keeps the log from being emptied. Waiting for it after every commit would stall
     * all writers, so wait only once per CHECKPOINT_PAGES. */
    store->checkpoint_pages = CHECKPOINT_PAGES + (rc == SQLITE_OK ? 0 : store->wal_pages);
    (void)set_lock(store, F_UNLCK);
}

void checkpointer_after_commit(struct sqlite_store *store) {
    if (store->wal_pages < CHECKPOINT_PAGES)
        store->checkpoint_pages = CHECKPOINT_PAGES; /* another process emptied it */
    if (store->wal_pages >= store->checkpoint_pages && elected(store))
        checkpoint(store, SQLITE_CHECKPOINT_FULL);
}

void checkpointer_close(struct sqlite_store *store) {
    if (elected(store))
        checkpoint(store, SQLITE_CHECKPOINT_TRUNCATE);
    if (store->checkpointer_fd >= 0)
        close(store->checkpointer_fd);
    store->checkpointer_fd = -1;
}
