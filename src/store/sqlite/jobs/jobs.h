/* Jobs on SQLite: a call with its counters, sums and audit block, and the rows it moves. */
#ifndef STORE_SQLITE_JOBS_JOBS_H
#define STORE_SQLITE_JOBS_JOBS_H

#include "base/buf.h"
#include "domain/jobrule.h"
#include "store/check/jobs.h"
#include "store/sqlite/file/row.h"

/* What one call adds to the tally of a queue. */
struct job_sums {
    struct job_sums *next;
    struct job_counts counts;
};

/* The counters of pooled work and what the call has to write at its end. */
struct jobs_call {
    struct operation *op;
    struct operation own; /* of a call that is an operation */
    int64_t last_job, last_run, swept_ms, vtime;
    bool turn, changed, no_memory;
    struct job_sums *sums;
    struct job_counts spare; /* counts that found no memory; the call fails then */
    struct buf entries;      /* of the audit rows of this call */
    int64_t block;           /* 0: none yet */
    pawl_uuid chain;
};

/* Inside an operation. jobs_end writes sums, counters and the audit block, whatever the status was; its
 * result is the status of both. */
PAWL_MUSTCHECK pawl_status jobs_begin(struct jobs_call *call, struct operation *op, pawl_uuid chain);
PAWL_MUSTCHECK pawl_status jobs_end(struct jobs_call *call, pawl_status status);

/* The same for a call that is an operation, which begins and ends with it: see operation_write. What gives
 * the result leaves its work out when the call has not begun, so the status need not be looked at. */
pawl_status jobs_call_begin(struct jobs_call *call, struct store *store, const char *name, pawl_uuid chain,
                            pawl_status checked, pawl_error *err);
#define jobs_give(call, status, out, result)                                                                 \
    operation_give((call)->op, jobs_end((call), (status)), (out), (result))

struct job_counts *jobs_sums(struct jobs_call *call, pawl_str queue);

/* One job; ord is beside the row. */
struct stored_job {
    struct job_row row;
    int64_t ord;
};

/* Without progress and payload; *found false when there is none. Texts live in the scratch arena. */
PAWL_MUSTCHECK pawl_status jobs_brief(struct jobs_call *call, int64_t id, struct stored_job *job,
                                      bool *found);
/* A whole row, texts in the arena. */
PAWL_MUSTCHECK pawl_status jobs_full(struct operation *op, int64_t id, struct arena *arena,
                                     struct job_row *row);
/* Writes what changes when a job moves to a state, and the gauges. */
PAWL_MUSTCHECK pawl_status jobs_move(struct jobs_call *call, struct stored_job *job, enum job_state state);
/* The job and its steps go; the gauge follows. */
PAWL_MUSTCHECK pawl_status jobs_remove(struct jobs_call *call, const struct stored_job *job);
PAWL_MUSTCHECK pawl_status jobs_insert(struct jobs_call *call, const struct job *in,
                                       enum store_answer *answer, int64_t *id);

/* The whole of an enqueue or of a finish inside an operation. */
PAWL_MUSTCHECK pawl_status jobs_enqueue_in(struct operation *op, const struct jobs_enqueue *in,
                                           struct arena *arena, struct enqueue_result *out);
PAWL_MUSTCHECK pawl_status jobs_finish_in(struct operation *op, const struct jobs_finish *in,
                                          struct arena *arena, struct finish_result *out);

/* Notes that workers wait for jobs, so that the commit wakes them. */
PAWL_MUSTCHECK pawl_status jobs_wake_wanted(struct operation *op);

/* The ids that a statement lists in its first column; the statement is ended. */
struct id_list {
    int64_t *ids;
    size_t count;
};
PAWL_MUSTCHECK pawl_status jobs_ids(struct statement s, struct arena *arena, struct id_list *list);

/* Whether an agent lacks a scope; *missing is absent when not. */
/* The same for a job of a task that an agent's work enqueues (absent: a person): of another agent's task it
 * lacks that agent. */
PAWL_MUSTCHECK pawl_status jobs_task_missing(struct operation *op, const struct task *task, pawl_str agent,
                                             pawl_str *missing);
PAWL_MUSTCHECK pawl_status jobs_refuse(struct operation *op, pawl_str agent, pawl_str task, pawl_str missing,
                                       int64_t job_id);
PAWL_MUSTCHECK pawl_status jobs_task_find(struct operation *op, pawl_str name, struct task *task,
                                          bool *found);

/* How an execution ends. */
struct job_end {
    enum run_outcome outcome;
    pawl_uuid instance;
    int64_t duration_ms;
    pawl_str output, error, steps, input_hash, output_hash;
};
PAWL_MUSTCHECK pawl_status jobs_record(struct jobs_call *call, const struct job *job,
                                       const struct job_end *end);
/* Takes back what dead or late workers hold, at most once a second. */
PAWL_MUSTCHECK pawl_status jobs_sweep(struct jobs_call *call);
PAWL_MUSTCHECK pawl_status jobs_seal(struct jobs_call *call);
PAWL_MUSTCHECK pawl_status jobs_die(struct jobs_call *call, struct stored_job *job,
                                    enum job_dead_reason reason, pawl_str error);
PAWL_MUSTCHECK pawl_status jobs_step_write(struct operation *op, int64_t job_id, const struct job_step *step,
                                           enum store_answer *answer);
/* The state and the limits of a key. */
PAWL_MUSTCHECK pawl_status jobs_key(struct operation *op, pawl_str key, struct jobrule_key *of);
PAWL_MUSTCHECK pawl_status jobs_key_keep(struct operation *op, const struct jobrule_key *key);
/* One job less runs under the key, which may be absent. */
PAWL_MUSTCHECK pawl_status jobs_key_free(struct operation *op, pawl_str key);

/* A claim by its token. */
struct job_claim {
    int64_t token, check_ms;
    pawl_uuid instance;
    pawl_str queue;
    bool active, intact, forgot;
    bool tells; /* its holder states its slots, and so reports what has started */
};
PAWL_MUSTCHECK pawl_status jobs_claim_find(struct operation *op, int64_t token, struct job_claim *claim,
                                           bool *found);
PAWL_MUSTCHECK pawl_status jobs_claim_set(struct operation *op, const struct job_claim *claim);
/* Jobs of a claim that were not reported: all of them, or those whose lease has expired. */
PAWL_MUSTCHECK pawl_status jobs_claim_lose(struct jobs_call *call, int64_t token, bool all, bool give_back);
/* Called when an instance is evicted or deregisters. */
PAWL_MUSTCHECK pawl_status jobs_instance_end(struct operation *op, pawl_uuid instance, bool goodbye);

/* Inside an operation. */
PAWL_MUSTCHECK pawl_status jobs_wake_in(struct jobs_call *call, const struct job_wake *in,
                                        struct wake_result *out);
PAWL_MUSTCHECK pawl_status jobs_limit_put(struct operation *op, const struct job_limit *in);
/* One report, as an item of finish is; the caller is the instance of the call's chain. */
PAWL_MUSTCHECK pawl_status jobs_report_one(struct jobs_call *call, const struct finish_item *item,
                                           enum store_answer *answer);
PAWL_MUSTCHECK pawl_status jobs_held(struct jobs_call *call, struct job_ref ref, bool *held);
/* Deletes a waiting job (outcome cancelled), asks a running one to stop, discards a dead one. */
PAWL_MUSTCHECK pawl_status jobs_drop(struct jobs_call *call, int64_t id);

/* jobs_claim.c */
PAWL_MUSTCHECK pawl_status jobs_claim_in(struct jobs_call *call, const struct jobs_claim *in,
                                         struct arena *arena, struct job_list *out);

/* jobs_audit.c */
struct audit_run audit_row_read(struct statement *s, struct arena *arena); /* columns 0 to 15 */

#endif
