/* Reading tzdata: the bytes of one zone, and the names of all. */
#include "base/time/tzdata.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"

enum { PATH_BYTES = 1024, DIRECTORY_DEPTH_MAX = 3 };

static bool is_name_char(char c) { return char_is_alnum(c) || c == '+' || c == '-' || c == '_'; }

bool tzdata_name_ok(pawl_str name) {
    if (name.len == 0 || name.len > PAWL_ZONE_NAME_BYTES_MAX)
        return false;
    bool in_part = false;
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == '/' ? !in_part : !is_name_char(name.ptr[i]))
            return false;
        in_part = name.ptr[i] != '/';
    }
    return in_part;
}

static pawl_status read_all(int fd, const char *path, struct buf *bytes, pawl_error *err) {
    char chunk[4096];
    size_t total = 0;
    for (;;) {
        ssize_t got = read(fd, chunk, sizeof(chunk));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_errno(err, PAWL_UNAVAILABLE, "tzdata_read", errno, "cannot read %s", path);
        if (got == 0)
            return buf_status(bytes, "tzdata_read", err);
        total += (size_t)got;
        if (total > PAWL_ZONE_FILE_BYTES_MAX)
            return error_set(err, PAWL_INVALID, "tzdata_read",
                             "%s is larger than %d bytes: no zone's file is", path, PAWL_ZONE_FILE_BYTES_MAX);
        buf_append(bytes, chunk, (size_t)got);
    }
}

pawl_status tzdata_read(const char *dir, pawl_str name, struct buf *bytes, pawl_error *err) {
    if (!tzdata_name_ok(name))
        return error_set(err, PAWL_INVALID, "tzdata_read",
                         "'%.*s' cannot be the name of a time zone: write it as Europe/Berlin or UTC",
                         STR_ARG(name));
    char path[PATH_BYTES];
    int length =
        snprintf(path, sizeof(path), "%s/%.*s", dir != NULL ? dir : TZDATA_DIR_DEFAULT, STR_ARG(name));
    if (length < 0 || (size_t)length >= sizeof(path))
        return error_set(err, PAWL_INVALID, "tzdata_read", "the path of the zone's file is too long");
    /* O_NONBLOCK: a pipe in place of the file must not block us. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return error_set(err, PAWL_NOT_FOUND, "tzdata_read", "there is no time zone '%.*s' (no file %s)",
                         STR_ARG(name), path);
    if (fd < 0)
        return error_errno(err, PAWL_UNAVAILABLE, "tzdata_read", errno, "cannot open %s", path);
    struct stat info;
    pawl_status status = PAWL_OK;
    if (fstat(fd, &info) != 0)
        status = error_errno(err, PAWL_UNAVAILABLE, "tzdata_read", errno, "cannot look at %s", path);
    else if (!S_ISREG(info.st_mode))
        status = error_set(err, PAWL_NOT_FOUND, "tzdata_read", "'%.*s' is no time zone: %s is not a file",
                           STR_ARG(name), path);
    else
        status = read_all(fd, path, bytes, err);
    close(fd);
    return status;
}

/* The names found so far. */
struct zone_listing {
    struct arena *arena;
    pawl_str names[PAWL_ZONE_LIST_MAX];
    size_t count;
    bool failed;
};

static bool is_zone_file(int dir_fd, const char *name) {
    char magic[4];
    int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false;
    bool is_zone = read(fd, magic, sizeof(magic)) == (ssize_t)sizeof(magic) && memcmp(magic, "TZif", 4) == 0;
    close(fd);
    return is_zone;
}

static void add_name(struct zone_listing *listing, const char *name) {
    char *copy = arena_strdup(listing->arena, name);
    if (copy == NULL || listing->count == PAWL_ZONE_LIST_MAX) {
        listing->failed = true;
        return;
    }
    listing->names[listing->count++] = str_from(copy);
}

/* Takes over dir_fd. prefix is what precedes the names, with its slash. */
static void list_directory(struct zone_listing *listing, int dir_fd, const char *prefix, int depth) {
    DIR *dir = fdopendir(dir_fd);
    if (dir == NULL) {
        close(dir_fd);
        return;
    }
    for (struct dirent *entry = readdir(dir); entry != NULL && !listing->failed; entry = readdir(dir)) {
        char name[PATH_BYTES];
        int length = snprintf(name, sizeof(name), "%s%s", prefix, entry->d_name);
        if (length < 0 || (size_t)length + 1 >= sizeof(name) || !tzdata_name_ok(str_from(name)))
            continue;
        bool copies = depth == 0 && (strcmp(name, "posix") == 0 || strcmp(name, "right") == 0);
        int below = copies ? -1 : openat(dirfd(dir), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (below >= 0 && depth < DIRECTORY_DEPTH_MAX) {
            name[length] = '/';
            name[length + 1] = '\0';
            list_directory(listing, below, name, depth + 1);
        } else if (below >= 0) {
            close(below);
        } else if (!copies && strcmp(name, "localtime") != 0 && strcmp(name, "posixrules") != 0 &&
                   is_zone_file(dirfd(dir), entry->d_name)) {
            add_name(listing, name);
        }
    }
    closedir(dir);
}

static int compare_names(const void *a, const void *b) {
    return str_compare(*(const pawl_str *)a, *(const pawl_str *)b);
}

pawl_status tzdata_list(const char *dir, struct arena *arena, pawl_str **names, size_t *count,
                        pawl_error *err) {
    const char *path = dir != NULL ? dir : TZDATA_DIR_DEFAULT;
    struct zone_listing *listing = arena_alloc(arena, sizeof(*listing));
    if (listing == NULL)
        return error_no_memory(err, "tzdata_list");
    listing->arena = arena;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return error_errno(err, PAWL_UNAVAILABLE, "tzdata_list", errno,
                           "cannot open %s: install the package tzdata", path);
    list_directory(listing, fd, "", 0);
    if (listing->failed)
        return error_set(err, PAWL_NO_MEMORY, "tzdata_list", "%s holds too many zones (at most %d)", path,
                         PAWL_ZONE_LIST_MAX);
    qsort(listing->names, listing->count, sizeof(listing->names[0]), compare_names);
    *names = listing->names;
    *count = listing->count;
    return PAWL_OK;
}
