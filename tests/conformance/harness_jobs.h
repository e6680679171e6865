/* Helpers for the operations on jobs. */
#ifndef CONFORMANCE_HARNESS_JOBS_H
#define CONFORMANCE_HARNESS_JOBS_H

#include "conformance/harness.h"

enum { JOB_LEASE_MS = 60000 };

/* A plain job of a type. */
struct job_new job_typed(const char *type);
int64_t add_(struct conf *c, struct job_new job);
enum store_answer try_add_(struct conf *c, struct job_new job, int64_t *id);
#define add(c, ...) (conf_at(c, __FILE__, __LINE__), add_(c, __VA_ARGS__))
#define try_add(c, ...) (conf_at(c, __FILE__, __LINE__), try_add_(c, __VA_ARGS__))

struct jobs_claim job_claim_of(int instance, int max);
struct job_list take_(struct conf *c, int instance, int max);
struct job_list take_with_(struct conf *c, struct jobs_claim in);
#define take(c, ...) (conf_at(c, __FILE__, __LINE__), take_(c, __VA_ARGS__))
#define take_with(c, ...) (conf_at(c, __FILE__, __LINE__), take_with_(c, __VA_ARGS__))
/* "a b c": the types of the jobs in the order they were granted. */
const char *types(struct conf *c, struct job_list list);

/* Reports of one job. */
struct finish_item finish_of(const struct job *job, enum job_outcome outcome);
struct finish_answer {
    enum store_answer answer;
    enum job_result result;
} finish_(struct conf *c, int instance, struct finish_item item);
enum store_answer job_done_(struct conf *c, int instance, const struct job *job);
struct finish_answer job_fail_(struct conf *c, int instance, const struct job *job, int64_t delay_ms);
#define job_finish(c, ...) (conf_at(c, __FILE__, __LINE__), finish_(c, __VA_ARGS__))
#define job_done(c, ...) (conf_at(c, __FILE__, __LINE__), job_done_(c, __VA_ARGS__))
#define job_fail(c, ...) (conf_at(c, __FILE__, __LINE__), job_fail_(c, __VA_ARGS__))

struct renew_answer {
    enum store_answer answer;
    bool cancel;
} job_renew_(struct conf *c, int instance, struct renew_item item, int64_t lease_ms);
enum store_answer job_cancel_(struct conf *c, int64_t id);
enum store_answer job_redrive_(struct conf *c, int64_t id, bool discard);
#define job_renew(c, ...) (conf_at(c, __FILE__, __LINE__), job_renew_(c, __VA_ARGS__))
#define job_cancel(c, ...) (conf_at(c, __FILE__, __LINE__), job_cancel_(c, __VA_ARGS__))
#define job_redrive(c, ...) (conf_at(c, __FILE__, __LINE__), job_redrive_(c, __VA_ARGS__))

/* The row of a job; state 0 when there is none. */
struct job_row job_row_(struct conf *c, int64_t id);
struct job_counts job_counted_(struct conf *c, const char *queue);
struct job_why job_why_(struct conf *c, int64_t id);
struct task_run_list job_runs_(struct conf *c, int64_t id);
#define job_row_of(c, ...) (conf_at(c, __FILE__, __LINE__), job_row_(c, __VA_ARGS__))
#define job_counted(c, ...) (conf_at(c, __FILE__, __LINE__), job_counted_(c, __VA_ARGS__))
#define job_why_of(c, ...) (conf_at(c, __FILE__, __LINE__), job_why_(c, __VA_ARGS__))
#define job_runs(c, ...) (conf_at(c, __FILE__, __LINE__), job_runs_(c, __VA_ARGS__))

void join_jobs_(struct conf *c, int n);
#define join_jobs(c, ...) (conf_at(c, __FILE__, __LINE__), join_jobs_(c, __VA_ARGS__))

#endif
