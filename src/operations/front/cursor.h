/* Cursors of lists: opaque, and valid only for the list they came from. */
#ifndef OPERATIONS_FRONT_CURSOR_H
#define OPERATIONS_FRONT_CURSOR_H

#include "base/arena.h"
#include "pawl.h"

/* scope: the list and its filters. NULL when there is no memory. */
const char *cursor_make(struct arena *arena, pawl_str scope, pawl_str key);

/* False when it was not made by cursor_make for this scope. key lives in the arena. */
PAWL_MUSTCHECK bool cursor_read(struct arena *arena, pawl_str scope, pawl_str text, pawl_str *key);

#endif
