/* The checkpointer: election by a lock file, and the checkpoint itself. */
#include "store/sqlite/checkpointer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"

/* Pages in the log that call for a checkpoint: 16 MiB of the usual 4 KiB pages. */
enum { CHECKPOINT_PAGES = 4000 };
/* How long a checkpoint waits for a writer or a reader; it is tried again after the next commit. */
enum { CHECKPOINT_WAIT_MS = 50 };

/* Whether this store is the checkpointer, becoming it when nobody is. */
static bool elected(struct sqlite_store *store) {
    if (store->checkpointer_fd >= 0)
        return true;
    char *path = NULL;
    if (asprintf(&path, "%s/checkpoint.lock", store->side_dir) < 0)
        return false;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
    free(path);
    if (fd < 0)
        return false;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_OFD_SETLK, &lock) != 0) {
        close(fd);
        return false;
    }
    store->checkpointer_fd = fd;
    return true;
}

static void checkpoint(struct sqlite_store *store, int mode) {
    store->wait_deadline_us = clock_boot_us() + (int64_t)CHECKPOINT_WAIT_MS * 1000;
    int left = 0, moved = 0;
    if (sqlite3_wal_checkpoint_v2(store->db, NULL, mode, &left, &moved) == SQLITE_OK)
        store->wal_pages = 0;
}

void checkpointer_after_commit(struct sqlite_store *store) {
    if (store->wal_pages >= CHECKPOINT_PAGES && elected(store))
        checkpoint(store, SQLITE_CHECKPOINT_FULL);
}

void checkpointer_close(struct sqlite_store *store) {
    if (elected(store))
        checkpoint(store, SQLITE_CHECKPOINT_TRUNCATE);
    if (store->checkpointer_fd >= 0)
        close(store->checkpointer_fd);
    store->checkpointer_fd = -1;
}
