/* The jobs interface on PostgreSQL: its operations, and what its files share. */
#ifndef STORE_POSTGRES_JOBS_JOBS_H
#define STORE_POSTGRES_JOBS_JOBS_H

#include "store/check/jobs.h"
#include "store/postgres/row.h"

extern const struct store_jobs_ops postgres_jobs_ops;

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

/* jobs_view.c */
/* Runs a reading statement; rows is an array with room for all of them. */
PAWL_MUSTCHECK pawl_status pg_list_run(struct store *store, struct statement *statement, const char *op,
                                       struct arena *arena, size_t size, void **rows, pawl_error *err);
pawl_status postgres_jobs(struct store *store, const struct job_filter *filter, struct arena *arena,
                          struct job_rows *out, pawl_error *err);
pawl_status postgres_job_why(struct store *store, int64_t id, struct arena *arena, struct job_why *out,
                             pawl_error *err);
pawl_status postgres_job_dead_groups(struct store *store, int limit, struct arena *arena,
                                     struct job_dead_groups *out, pawl_error *err);
pawl_status postgres_job_counts(struct store *store, struct arena *arena, struct job_counts_list *out,
                                pawl_error *err);
pawl_status postgres_job_backlog(struct store *store, int look_max, struct arena *arena,
                                 struct job_backlog *out, pawl_error *err);
pawl_status postgres_job_limits(struct store *store, struct arena *arena, struct job_limits *out,
                                pawl_error *err);
pawl_status postgres_steps_read(struct store *store, int64_t job_id, struct arena *arena,
                                struct job_steps *out, pawl_error *err);

/* jobs_task.c */
pawl_status postgres_task_put(struct store *store, const struct task *in, struct arena *arena,
                              struct put_answer *out, pawl_error *err);
pawl_status postgres_task_remove(struct store *store, pawl_str name, pawl_error *err);
pawl_status postgres_tasks(struct store *store, pawl_str name, pawl_str after_name, int limit,
                           struct arena *arena, struct task_list *out, pawl_error *err);
pawl_status postgres_schedule_put(struct store *store, const struct job_schedule *in, struct put_answer *out,
                                  pawl_error *err);
pawl_status postgres_schedule_remove(struct store *store, pawl_str name, pawl_error *err);
pawl_status postgres_schedules(struct store *store, const struct schedule_filter *filter, struct arena *arena,
                               struct job_schedule_list *out, pawl_error *err);
pawl_status postgres_schedule_fire(struct store *store, const struct schedule_fire *in, struct arena *arena,
                                   struct fire_result *out, pawl_error *err);
pawl_status postgres_agent_put(struct store *store, const struct agent *in, pawl_error *err);
pawl_status postgres_agents(struct store *store, struct arena *arena, struct agent_list *out,
                            pawl_error *err);
pawl_status postgres_refusals(struct store *store, int limit, struct arena *arena, struct refusal_list *out,
                              pawl_error *err);

/* jobs_audit.c */
pawl_status postgres_task_runs(struct store *store, const struct run_filter *filter, struct arena *arena,
                               struct task_run_list *out, pawl_error *err);
pawl_status postgres_run_sums(struct store *store, int64_t since_ms, pawl_uuid instance, struct run_sums *out,
                              pawl_error *err);
pawl_status postgres_audit_verify(struct store *store, pawl_str expect, struct arena *arena,
                                  struct audit_report *out, pawl_error *err);
pawl_status postgres_audit_anchor(struct store *store, int64_t older_ms, struct audit_head *out,
                                  pawl_error *err);
pawl_status postgres_audit_head(struct store *store, struct audit_head *out, pawl_error *err);
pawl_status postgres_spine_read(struct store *store, int limit, struct arena *arena, struct spine_events *out,
                                pawl_error *err);
pawl_status postgres_spine_remove(struct store *store, const int64_t *ids, size_t count, int64_t *removed,
                                  pawl_error *err);
pawl_status postgres_jobs_maintain(struct store *store, int rows_max, struct jobs_maintain_result *out,
                                   pawl_error *err);

#endif
