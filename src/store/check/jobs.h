/* Input checks of the jobs interface, shared by all stores. */
#ifndef STORE_CHECK_JOBS_H
#define STORE_CHECK_JOBS_H

#include "store/jobs.h"

PAWL_MUSTCHECK pawl_status check_jobs_enqueue(const struct jobs_enqueue *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_jobs_claim(const struct jobs_claim *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_jobs_finish(const struct jobs_finish *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_jobs_renew(const struct jobs_renew *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_job_ids(const char *op, const int64_t *ids, size_t count, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_job_wake(const struct job_wake *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_steps_put(const struct steps_put *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_job_limit(const struct job_limit *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_backlog_look(int look_max, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_job_filter(const struct job_filter *in, pawl_error *err);
/* 64 hexadecimal digits, or absent. */
PAWL_MUSTCHECK pawl_status check_audit_expect(pawl_str hash, pawl_error *err);
/* The error of an execution with another outcome after a person had cancelled its job. */
pawl_str job_cancel_error(pawl_str error, struct arena *arena);
/* The finding of audit_verify if the expected anchor does not exist. */
pawl_str audit_anchor_unknown(pawl_str expect, struct arena *arena);
PAWL_MUSTCHECK pawl_status check_rows_max(const char *op, int rows_max, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_task(const struct task *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_schedule(const struct job_schedule *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_schedule_fire(const struct schedule_fire *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_agent(const struct agent *in, pawl_error *err);

/* The queue, "default" if absent. */
pawl_str jobs_queue(pawl_str queue);

/* The order in which a finish handles the items: completions first (docs/jobs.md). order has room for
 * in->count. */
void jobs_finish_order(const struct jobs_finish *in, size_t *order);

/* Fills absent members of the job from its task. */
void job_fill_in(struct job *job, const struct task *task);

/* The errors of what is not there, or is in use. */
PAWL_MUSTCHECK pawl_status job_unknown(int64_t id, pawl_error *err);
PAWL_MUSTCHECK pawl_status named_missing(const char *op, pawl_str name, pawl_error *err);
PAWL_MUSTCHECK pawl_status task_in_use(pawl_str name, pawl_error *err);

/* "job.succeeded" and so on. */
const char *run_outcome_event(enum run_outcome outcome);

#endif
