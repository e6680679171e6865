/* What workers count of their work, summed up in the store. */
#ifndef STORE_ROLLUPS_H
#define STORE_ROLLUPS_H

#include "base/arena.h"
#include "domain/rollup.h"

struct rollup_cells {
    struct rollup_cell *cells; /* by measure, kind, result, bucket */
    size_t count;
};

/* Every cell is one there can be, none comes twice, no count and no sum is below 0. */
PAWL_MUSTCHECK pawl_status check_rollups(const struct rollup_cell *cells, size_t count, pawl_error *err);

#endif
