/* Series on SQLite, for the operations that add to them and look. */
#ifndef STORE_SQLITE_ALERTS_SERIES_H
#define STORE_SQLITE_ALERTS_SERIES_H

#include "store/sqlite/file/operation.h"

/* Writes down how much of each kind and queue waits: once per step, and only of what waits or has changed, so
 * nothing is written while nothing happens. */
PAWL_MUSTCHECK pawl_status series_look(struct operation *op);

/* Replaces points that are too old for their step by their sums in the next longer one, and removes those of
 * the longest. */
PAWL_MUSTCHECK pawl_status series_fold(struct operation *op);

#endif
