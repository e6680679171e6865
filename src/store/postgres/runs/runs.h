/* The runs interface on PostgreSQL. */
#ifndef STORE_POSTGRES_RUNS_RUNS_H
#define STORE_POSTGRES_RUNS_RUNS_H

#include "store/check/runs.h"
#include "store/postgres/jobs/jobs.h"

extern const struct store_runs_ops postgres_runs_ops;

/* runs_view.c */
pawl_status postgres_run_rows(struct store *store, const struct runs_filter *filter, struct arena *arena,
                              struct run_list *out, pawl_error *err);
pawl_status postgres_partition_rows(struct store *store, const struct partitions_filter *filter,
                                    struct arena *arena, struct partition_list *out, pawl_error *err);
pawl_status postgres_item_rows(struct store *store, const struct items_filter *filter, struct arena *arena,
                               struct stored_items *out, pawl_error *err);
pawl_status postgres_page_select(struct store *store, pawl_str name, pawl_str json, struct arena *arena,
                                 struct stored_items *out, pawl_error *err);
pawl_status postgres_run_targets(struct store *store, struct arena *arena, struct run_targets *out,
                                 pawl_error *err);

#endif
