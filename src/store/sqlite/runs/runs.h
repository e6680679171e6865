/* Runs on SQLite: rows are loaded, changed and saved within one call. */
#ifndef STORE_SQLITE_RUNS_RUNS_H
#define STORE_SQLITE_RUNS_RUNS_H

#include "store/check/runs.h"
#include "store/run_words.h"
#include "store/sqlite/jobs/jobs.h"

/* Rows; texts live in the arena. The sums of a run are not loaded. */
PAWL_MUSTCHECK pawl_status runs_load(struct operation *op, int64_t id, struct arena *arena,
                                     struct run_row *run, bool *found);
PAWL_MUSTCHECK pawl_status runs_save(struct operation *op, const struct run_row *run);
PAWL_MUSTCHECK pawl_status runs_load_sums(struct operation *op, struct run_row *run);
PAWL_MUSTCHECK pawl_status partition_load(struct operation *op, int64_t run, int part, struct arena *arena,
                                          struct partition_row *row, bool *found);
PAWL_MUSTCHECK pawl_status partition_save(struct operation *op, const struct partition_row *part);
/* The indexes of a run's partitions in a state. */
PAWL_MUSTCHECK pawl_status partition_places(struct operation *op, int64_t run, enum part_state state,
                                            struct id_list *list);

/*
 * The following functions change and save the rows they are given: these must be the caller's only loaded
 * copies.
 */

/* The page job of a partition that has none; nothing while it is paused. The caller saves. */
PAWL_MUSTCHECK pawl_status runs_page_put(struct jobs_call *call, const struct run_row *run,
                                         struct partition_row *part);
/* An active partition ends; the fan-in follows. */
PAWL_MUSTCHECK pawl_status runs_partition_end(struct jobs_call *call, struct run_row *run,
                                              struct partition_row *part, enum part_state state,
                                              pawl_str error);
/* Reopens a partition that is done or failed, and its run. The caller saves the partition. */
PAWL_MUSTCHECK pawl_status runs_partition_open(struct jobs_call *call, struct run_row *run,
                                               struct partition_row *part);
PAWL_MUSTCHECK pawl_status runs_open(struct jobs_call *call, struct run_row *run, enum run_state state);
PAWL_MUSTCHECK pawl_status runs_end(struct jobs_call *call, struct run_row *run, enum run_state state,
                                    pawl_str error);
PAWL_MUSTCHECK pawl_status runs_consolidate(struct jobs_call *call, struct run_row *run);
PAWL_MUSTCHECK pawl_status runs_fan_in(struct jobs_call *call, struct run_row *run);
/* The limit of the run's key is what its row says. */
PAWL_MUSTCHECK pawl_status runs_limit(struct operation *op, const struct run_row *run);
/* A job ended for good without page_commit. */
PAWL_MUSTCHECK pawl_status runs_job_ended(struct jobs_call *call, const struct job *job, enum run_job_end how,
                                          pawl_str error);

#endif
