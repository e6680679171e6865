/* Rollups in the store: the sums of what all workers have counted. */
#ifndef STORE_ROLLUPS_H
#define STORE_ROLLUPS_H

#include "base/arena.h"
#include "domain/rollup.h"

struct rollup_cells {
    struct rollup_cell *cells; /* by measure, kind, result, bucket */
    size_t count;
};

/* Every cell is valid, none is repeated, no count or sum is negative. */
PAWL_MUSTCHECK pawl_status check_rollups(const struct rollup_cell *cells, size_t count, pawl_error *err);

#endif
