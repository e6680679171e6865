/* Reading tzdata: the bytes of one zone, and the names of all. */
#include "base/time/tzdata.h"

#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/str.h"

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

pawl_status tzdata_read(const char *dir, pawl_str name, struct arena *arena, pawl_str *bytes,
                        pawl_error *err) {
    struct stat info;
    if (!tzdata_name_ok(name))
        return error_set(err, PAWL_INVALID, "tzdata_read",
                         "'%.*s' cannot be the name of a time zone: write it as Europe/Berlin or UTC",
                         STR_ARG(name));
    const char *path = arena_printf(arena, "%s/%.*s", dir != NULL ? dir : TZDATA_DIR_DEFAULT, STR_ARG(name));
    if (path == NULL)
        return error_no_memory(err, "tzdata_read");
    if (access(path, R_OK) != 0 || stat(path, &info) != 0)
        return errno == ENOENT || errno == ENOTDIR
                   ? error_set(err, PAWL_NOT_FOUND, "tzdata_read",
                               "there is no time zone '%.*s' (no file %s)", STR_ARG(name), path)
                   : error_errno(err, PAWL_UNAVAILABLE, "tzdata_read", errno, "cannot open %s", path);
    if (!S_ISREG(info.st_mode)) /* a pipe in place of the file must not block us */
        return error_set(err, PAWL_NOT_FOUND, "tzdata_read", "'%.*s' is no time zone: %s is not a file",
                         STR_ARG(name), path);
    return file_read(arena, path, PAWL_ZONE_FILE_BYTES_MAX, bytes, err);
}

static bool is_zone_file(const char *path) {
    char magic[4] = "";
    FILE *file = fopen(path, "re");
    bool is_zone = file != NULL && fread(magic, sizeof(magic), 1, file) == 1 && memcmp(magic, "TZif", 4) == 0;
    if (file != NULL)
        (void)fclose(file); /* read only: nothing can be lost */
    return is_zone;
}

static int compare_names(const void *a, const void *b) {
    return str_compare(*(const pawl_str *)a, *(const pawl_str *)b);
}

pawl_status tzdata_list(const char *dir, struct arena *arena, pawl_str **names, size_t *count,
                        pawl_error *err) {
    char *roots[] = {arena_strdup(arena, dir != NULL ? dir : TZDATA_DIR_DEFAULT), NULL};
    pawl_str *found = arena_array(arena, PAWL_ZONE_LIST_MAX, sizeof(*found));
    if (roots[0] == NULL || found == NULL)
        return error_no_memory(err, "tzdata_list");
    FTS *walk = access(roots[0], R_OK | X_OK) == 0 ? fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, NULL) : NULL;
    if (walk == NULL)
        return error_errno(err, PAWL_UNAVAILABLE, "tzdata_list", errno,
                           "cannot open %s: install the package tzdata", roots[0]);
    bool failed = false;
    *count = 0;
    for (FTSENT *entry; !failed && (entry = fts_read(walk)) != NULL;) {
        const char *name = entry->fts_level > 0 ? entry->fts_path + strlen(roots[0]) + 1 : "";
        if (entry->fts_info == FTS_D && (strcmp(name, "posix") == 0 || strcmp(name, "right") == 0))
            fts_set(walk, entry, FTS_SKIP);
        if (entry->fts_info != FTS_F || !tzdata_name_ok(str_from(name)) || strcmp(name, "localtime") == 0 ||
            strcmp(name, "posixrules") == 0 || !is_zone_file(entry->fts_path))
            continue;
        failed = *count == PAWL_ZONE_LIST_MAX ||
                 str_dup(arena, str_from(name), &found[*count], NULL) != PAWL_OK;
        ++*count;
    }
    fts_close(walk);
    if (failed)
        return error_set(err, PAWL_NO_MEMORY, "tzdata_list", "%s holds too many zones (at most %d)", roots[0],
                         PAWL_ZONE_LIST_MAX);
    qsort(found, *count, sizeof(*found), compare_names);
    *names = found;
    return PAWL_OK;
}
