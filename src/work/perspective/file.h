/* Definitions of perspectives in files, and registering them. */
#ifndef WORK_PERSPECTIVE_FILE_H
#define WORK_PERSPECTIVE_FILE_H

#include "base/arena.h"
#include "base/json/tree.h"
#include "store/store.h"

typedef void (*perspective_told)(void *self, const struct perspective_new *in,
                                 const struct perspective_registered *out);

/* Registers a file, or every definition in a directory, and reports each one. batch is for definitions
 * without one; 0: the default. */
PAWL_MUSTCHECK pawl_status perspective_register_path(struct store *store, const char *path, int batch,
                                                     perspective_told told, void *self, pawl_error *err);

/* Whether the target is reached by now. PAWL_CONFLICT: the perspective has failed on the way. */
PAWL_MUSTCHECK pawl_status perspective_caught_up(struct store *store, const struct perspective_target *target,
                                                 struct arena *arena, struct perspective_reached *out,
                                                 pawl_error *err);

/* The same of one definition. */
PAWL_MUSTCHECK pawl_status perspective_register_tree(struct store *store, const struct tree *definition,
                                                     int batch, perspective_told told, void *self,
                                                     pawl_error *err);

#endif
