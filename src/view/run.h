/* Finding runs by number or key, and their output columns with progress. */
#ifndef VIEW_RUN_H
#define VIEW_RUN_H

#include "domain/run/gauge.h"
#include "store/store.h"
#include "view/output/output.h"

/* The run that a word names: its number, or its key. PAWL_NOT_FOUND says so. now_ms is the store's clock. */
PAWL_MUSTCHECK pawl_status run_view_find(struct store *store, pawl_str word, struct arena *arena,
                                         struct run_row *run, int64_t *now_ms, pawl_error *err);

/* The partition of a run by name. */
PAWL_MUSTCHECK pawl_status run_view_partition(struct store *store, const struct run_row *run, pawl_str name,
                                              struct arena *arena, struct partition_row *partition,
                                              pawl_error *err);

bool run_view_ended(const struct run_row *run);
const char *run_state_name(enum run_state state);

/* before (may be NULL): an earlier state of the same run, for the recent rate. */
struct run_gauge run_view_gauge(const struct run_row *run, int64_t now_ms, const struct run_row *before,
                                int64_t since_ms);

/* "[####----] 47.2 %  4720 items  1234/s  2m10s left  8 of 16 partitions" in the arena. */
PAWL_MUSTCHECK pawl_status run_view_line(struct arena *arena, const struct run_row *run,
                                         const struct run_gauge *gauge, const char **line, pawl_error *err);

enum { RUN_COLUMNS = 37 };
extern const struct column run_columns[RUN_COLUMNS];
void run_view_cells(struct arena *arena, const struct run_row *run, const struct run_gauge *gauge,
                    struct cell cells[static RUN_COLUMNS]);

enum { RUN_ITEM_COLUMNS = 3, STATEMENT_COLUMNS = 3 };
extern const struct column run_item_columns[RUN_ITEM_COLUMNS];
extern const struct column statement_columns[STATEMENT_COLUMNS];

enum { PARTITION_COLUMNS = 23 };
extern const struct column run_partition_columns[PARTITION_COLUMNS];
void run_partition_cells(const struct partition_row *row, struct cell cells[static PARTITION_COLUMNS]);

#endif
