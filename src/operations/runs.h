/* Parts of operations on runs that the fronts use in their own ways. */
#ifndef OPERATIONS_RUNS_H
#define OPERATIONS_RUNS_H

#include "operations/request.h"

enum { RUN_ANSWER_COLUMNS = 3, REGISTERED_COLUMNS = 2 };
extern const struct column run_answer_columns[RUN_ANSWER_COLUMNS];
extern const struct column registered_columns[REGISTERED_COLUMNS];

/* Answers with the run of the input `run`, and gives it to the caller. */
PAWL_MUSTCHECK pawl_status run_show(struct request *request, struct run_row *run, pawl_error *err);

/* Registers the statement of the input `name`. */
PAWL_MUSTCHECK pawl_status statement_store(struct request *request, pawl_str sql, pawl_error *err);

#endif
