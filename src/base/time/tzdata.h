/* The files of tzdata: one zone's bytes, and the names of all. */
#ifndef BASE_TIME_TZDATA_H
#define BASE_TIME_TZDATA_H

#include "base/arena.h"
#include "base/buf.h"
#include "pawl.h"

#define TZDATA_DIR_DEFAULT "/usr/share/zoneinfo"

/* Whether name can be a zone's: parts of letters, digits, + - _, separated by /, none of them empty. */
bool tzdata_name_ok(pawl_str name);

/* The file of a zone, in the arena. dir NULL = the default. PAWL_NOT_FOUND when there is no such file,
 * PAWL_INVALID when the name cannot be one or the file is larger than PAWL_ZONE_FILE_BYTES_MAX. */
PAWL_MUSTCHECK pawl_status tzdata_read(const char *dir, pawl_str name, struct arena *arena, pawl_str *bytes,
                                       pawl_error *err);

/* The names of all zones below dir, sorted, without the copies in posix/ and right/. */
PAWL_MUSTCHECK pawl_status tzdata_list(const char *dir, struct arena *arena, pawl_str **names, size_t *count,
                                       pawl_error *err);

#endif
