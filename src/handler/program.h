/* Programs named on a command line: found and checked before work depends on them. */
#ifndef HANDLER_PROGRAM_H
#define HANDLER_PROGRAM_H

#include "base/arena.h"
#include "pawl.h"

/* The path of a program: as it is when it has a slash, else searched in PATH. PAWL_NOT_FOUND when it is not
 * there, PAWL_INVALID when it cannot be executed. */
PAWL_MUSTCHECK pawl_status program_find(struct arena *arena, const char *name, char **path, pawl_error *err);

#endif
