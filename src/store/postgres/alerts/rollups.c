/* Rollups on PostgreSQL. */
#include "store/postgres/query.h"

pawl_status postgres_rollups_add(struct store *store, const struct rollup_cell *cells, size_t count,
                                 pawl_error *err) {
    struct query q =
        pg_write(store, POSTGRES_Q_ROLLUPS_ADD, "rollups_add", NULL, check_rollups(cells, count, err));
    SEND(&q, ROWS_OF(rollup_shape, cells, count));
    return pg_done(&q, err);
}
