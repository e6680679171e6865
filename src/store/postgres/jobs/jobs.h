/* The jobs interface on PostgreSQL: its operations, and what its files share. */
#ifndef STORE_POSTGRES_JOBS_JOBS_H
#define STORE_POSTGRES_JOBS_JOBS_H

#include "store/check/jobs.h"
#include "store/postgres/row.h"

/* A statement that needs memory for its parameters only; the arena goes with pg_brief_end. */
struct brief {
    struct arena *arena;
    struct statement statement;
};
PAWL_MUSTCHECK pawl_status pg_brief_begin(struct brief *brief, enum postgres_query query, const char *op,
                                          pawl_error *err);
void pg_brief_end(struct brief *brief);

/* Enqueueing in two halves, so that a caller's own connection can do what is between them. */
PAWL_MUSTCHECK pawl_status pg_enqueue_prepare(const struct jobs_enqueue *in, struct arena *arena,
                                              struct statement *statement, struct enqueue_result *result,
                                              pawl_error *err);
PAWL_MUSTCHECK pawl_status pg_enqueue_take(const struct jobs_enqueue *in, const PGresult *rows,
                                           struct enqueue_result *result, pawl_error *err);

/* A job as claims and views give it. */
enum { JOB_COLUMNS = 23 };
extern const struct row_shape pg_job_shape;

/* Runs a reading statement; rows is an array with room for all of them. */
PAWL_MUSTCHECK pawl_status pg_list_run(struct store *store, struct statement *statement, const char *op,
                                       struct arena *arena, size_t size, void **rows, pawl_error *err);

#endif
