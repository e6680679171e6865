/* Problems of the database file itself: permissions, size of the log, free disk space. */
#include <inttypes.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/error.h"
#include "base/str.h"
#include "store/sqlite/messages/view.h"

enum { LOG_BYTES_MAX = 256 * 1024 * 1024, DISK_BYTES_MIN = 256 * 1024 * 1024 };

static void add(struct violations *list, const char *name, const char *detail) {
    list->rows[list->count++] = (struct violation){str_from(name), str_from(detail != NULL ? detail : "")};
}

pawl_status problems_of_file(struct sqlite_store *store, struct arena *arena, struct violations *list,
                             pawl_error *err) {
    enum { FILE_PROBLEMS_MAX = 3 };
    struct violations all = {arena_array(arena, list->count + FILE_PROBLEMS_MAX, sizeof *all.rows), 0};
    const char *log = arena_printf(arena, "%s-wal", store->path);
    if (all.rows == NULL || log == NULL)
        return error_set(err, PAWL_NO_MEMORY, "problems", "out of memory");
    for (size_t i = 0; i < list->count; i++)
        all.rows[all.count++] = list->rows[i];
    struct stat info;
    if (stat(store->path, &info) == 0 && (info.st_mode & (S_IROTH | S_IWOTH | S_IWGRP)) != 0)
        add(&all, "file_rights",
            arena_printf(arena, "%s has mode %04o", store->path, (unsigned)info.st_mode & 07777));
    if (stat(log, &info) == 0 && info.st_size > LOG_BYTES_MAX)
        add(&all, "log_large", arena_printf(arena, "%s has %" PRId64 " bytes", log, (int64_t)info.st_size));
    struct statvfs disk;
    if (statvfs(store->path, &disk) == 0 && disk.f_bavail < DISK_BYTES_MIN / disk.f_frsize)
        add(&all, "disk_full",
            arena_printf(arena, "%" PRIu64 " bytes are free beside %s",
                         (uint64_t)disk.f_bavail * (uint64_t)disk.f_frsize, store->path));
    *list = all;
    return PAWL_OK;
}
