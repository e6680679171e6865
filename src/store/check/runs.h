/* Input checks of the runs interface, shared by all stores. */
#ifndef STORE_CHECK_RUNS_H
#define STORE_CHECK_RUNS_H

#include "store/check/jobs.h"
#include "store/runs.h"

PAWL_MUSTCHECK pawl_status check_run_start(const struct run_start *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_page_ref(const char *op, const struct page_ref *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_page_commit(const struct page_commit *in, pawl_error *err);
/* Once the run is known. */
PAWL_MUSTCHECK pawl_status check_page_room(size_t count, int page_size, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_runs_filter(const struct runs_filter *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_partitions_filter(const struct partitions_filter *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_partition_reset(const struct partition_reset *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_run_retry(const struct run_retry *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_run_pace(const struct run_pace *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_run_target(const struct run_target *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_run_rows_max(int rows_max, pawl_error *err);

#endif
