/* Turns among writers: a lock file held by the waiting writer whose turn is next. */
#include "store/sqlite/file/turn.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/time/clock.h"

enum { GIVE_US_MAX = 20000, GIVE_STEP_US = 200, IGNORE_US = 1000000 };

/* Whether the lock file is open; it is opened once. Without it writers do not take turns, which is no error.
 */
static bool ready(struct sqlite_store *store) {
    char *path = NULL;
    if (store->turn_fd == TURN_NOT_OPENED) {
        store->turn_fd = TURN_CANNOT_BE_OPENED;
        if (asprintf(&path, "%s/turn.lock", store->side_dir) >= 0) {
            int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
            store->turn_fd = fd >= 0 ? fd : TURN_CANNOT_BE_OPENED;
            free(path);
        }
    }
    return store->turn_fd >= 0;
}

static bool has_waiter(const struct sqlite_store *store) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(store->turn_fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

void turn_give(struct sqlite_store *store) {
    int64_t now_us = clock_boot_us(), until_us = now_us + GIVE_US_MAX;
    if (now_us < store->turn_ignore_until_us || !ready(store))
        return;
    while (has_waiter(store)) {
        if (clock_boot_us() >= until_us) {
            /* It does not use its turn: it is stopped, or waits for another long transaction. */
            store->turn_ignore_until_us = until_us + IGNORE_US;
            return;
        }
        nanosleep(&(struct timespec){0, GIVE_STEP_US * 1000L}, NULL);
    }
}

bool turn_wait(struct sqlite_store *store) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (!store->turn_held && ready(store))
        store->turn_held = fcntl(store->turn_fd, F_OFD_SETLK, &lock) == 0;
    return store->turn_held;
}

void turn_end(struct sqlite_store *store) {
    struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    if (store->turn_held && fcntl(store->turn_fd, F_OFD_SETLK, &lock) == 0)
        store->turn_held = false;
}
