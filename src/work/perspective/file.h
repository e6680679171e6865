/* Definitions of perspectives in files, and registering them. */
#ifndef WORK_PERSPECTIVE_FILE_H
#define WORK_PERSPECTIVE_FILE_H

#include "base/arena.h"
#include "store/store.h"

/* Reads one definition; path is for messages. PAWL_INVALID tells "PATH:LINE: reason". */
PAWL_MUSTCHECK pawl_status perspective_file_parse(struct arena *arena, const char *path, pawl_str text,
                                                  const char *dialect, struct perspective_new *out,
                                                  pawl_error *err);

/* Registers and backfills; may be called again after it was cut off. */
PAWL_MUSTCHECK pawl_status perspective_register_all(struct store *store, const struct perspective_new *in,
                                                    struct arena *arena, struct perspective_registered *out,
                                                    pawl_error *err);

typedef void (*perspective_told)(void *self, const struct perspective_new *in,
                                 const struct perspective_registered *out);

/* A file, or every definition of a directory; told of each that is registered. */
PAWL_MUSTCHECK pawl_status perspective_register_path(struct store *store, const char *path,
                                                     perspective_told told, void *self, pawl_error *err);

/* Asks until the target is reached. PAWL_BUSY: not in timeout_ms; PAWL_CONFLICT: it has failed there. */
PAWL_MUSTCHECK pawl_status perspective_wait(struct store *store, const struct perspective_target *target,
                                            int64_t timeout_ms, int64_t *at, pawl_error *err);

#endif
