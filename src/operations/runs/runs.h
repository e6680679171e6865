/* Parts of operations on runs that the command line uses in its own ways. */
#ifndef OPERATIONS_RUNS_RUNS_H
#define OPERATIONS_RUNS_RUNS_H

#include "operations/front/request.h"
#include "work/run/start.h"

/* Answers with the run of the input `run`, and gives it to the caller. */
PAWL_MUSTCHECK pawl_status run_show(struct request *request, struct run_row *run, pawl_error *err);

/* Starts the run that the inputs describe; with dry_run it answers with its partitions instead. */
PAWL_MUSTCHECK pawl_status run_begin_from(struct request *request, struct run_begun *begun, pawl_error *err);

/* Answers with what became of a start. */
PAWL_MUSTCHECK pawl_status run_answer_begun(struct request *request, const struct run_begun *begun,
                                            pawl_error *err);

#endif
