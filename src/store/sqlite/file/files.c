/* Checking that the files of a connection are still the ones this process opened. */
#include "store/sqlite/file/files.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/error.h"

/* The file at a path now; inode 0 if there is none. */
static struct file_place place_of(const char *path, const char *suffix) {
    char name[PATH_MAX];
    struct stat info;
    if (snprintf(name, sizeof name, "%s%s", path, suffix) >= (int)sizeof name || stat(name, &info) != 0)
        return (struct file_place){0};
    return (struct file_place){info.st_dev, info.st_ino};
}

/*
 * All connections of a process share one index of the log, which SQLite finds by the database and not by its
 * name: a connection opened after the index was removed continues with the removed one, while others use the
 * new one. Without /proc this cannot be checked, and the file counts as open.
 */
static bool is_open_here(struct file_place place) {
    DIR *dir = opendir("/proc/self/fd");
    if (dir == NULL)
        return true;
    bool found = false;
    struct stat info;
    for (struct dirent *entry = readdir(dir); entry != NULL && !found; entry = readdir(dir)) {
        char *end = NULL;
        long fd = strtol(entry->d_name, &end, 10);
        found = end != entry->d_name && fstat((int)fd, &info) == 0 && info.st_dev == place.device &&
                info.st_ino == place.inode;
    }
    closedir(dir);
    return found;
}

static pawl_status cut_off(struct sqlite_store *store, const char *suffix, const char *how, const char *op,
                           pawl_error *err) {
    store->cut_off = true;
    return error_set(err, PAWL_DAMAGED, op,
                     "%s%s was %s while it was in use: what was committed since its last checkpoint may be "
                     "lost; stop all users of the file, run pawl check, and compare with what producers know",
                     store->path, suffix, how);
}

pawl_status files_short_log(struct sqlite_store *store, const char *op, pawl_error *err) {
    char name[PATH_MAX];
    struct stat info;
    bool gone = snprintf(name, sizeof name, "%s-wal", store->path) < (int)sizeof name &&
                (stat(name, &info) == 0 ? info.st_size == 0 : errno == ENOENT);
    return gone ? cut_off(store, "-wal", "removed", op, err) : PAWL_OK;
}

/* SQLite never removes a log in use, nor replaces the file: if that happened, we are cut off, and no other
 * process would see what we commit. */
pawl_status files_still_there(struct sqlite_store *store, const char *op, pawl_error *err) {
    static const char *const suffixes[STORE_FILES] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < STORE_FILES && !store->in_memory; i++) {
        struct file_place now = place_of(store->path, suffixes[i]), *was = &store->places[i];
        if (was->inode == 0 && (now.inode == 0 || is_open_here(now)))
            *was = now; /* the first reader creates the log */
        if (was->inode == now.inode && was->device == now.device)
            continue;
        return cut_off(store, suffixes[i], now.inode == 0 ? "removed" : "replaced", op, err);
    }
    return PAWL_OK;
}
