/* Pooled work in the model: plain lists, searched from the front, so that every rule reads as it is written.
 */
#ifndef MODEL_JOBS_H
#define MODEL_JOBS_H

#include "domain/authority/audit.h"
#include "domain/jobrule.h"
#include "store/check/jobs.h"
#include "store/model/state.h"

extern const struct store_jobs_ops model_jobs_ops;

/* A list of things of one size that grows. */
struct pile {
    char *items;
    size_t count, cap, size;
};

struct mjob {
    struct job_row row; /* texts live in jobs.texts */
    int64_t ord;
};

struct mclaim {
    int64_t token, lease_until_ms, check_ms;
    pawl_uuid instance, request;
    pawl_str queue;
    bool active, intact, forgot;
    struct pile ids, done; /* int64_t */
};

struct mkey {
    pawl_str key;
    int running;
    int64_t vtime, tat_us;
};

struct mstep {
    int64_t job_id;
    struct job_step step;
};

struct msignal {
    pawl_str wait_key, payload;
    int64_t expires_ms;
};

struct mfire {
    pawl_str schedule;
    int64_t instant_ms, job_id, fired_ms;
};

struct mrun {
    struct task_run run;
    int64_t expires_ms, block;
    int place;
    uint8_t hash[SHA256_BYTES];
};

struct mblock {
    int64_t id, number, made_ms;
    pawl_uuid chain;
    bool anchored; /* an anchor names it */
    uint8_t previous[SHA256_BYTES], hash[SHA256_BYTES];
    struct buf entries;
};

struct manchor {
    struct audit_head head;
    uint8_t hash[SHA256_BYTES];
};

struct model_jobs {
    struct arena *texts; /* never forgets: a test's life is short */
    int64_t last_job, last_run, last_event, last_refusal;
    int64_t swept_ms, vtime;
    bool turn;
    struct pile jobs, claims, keys, limits, steps, signals, agents, tasks, schedules, fires, refusals, runs,
        blocks, anchors, spine, counts; /* anchors: struct manchor */
    struct mblock *open;                /* the block of the call that runs; NULL = none yet */
};

struct model_jobs *model_jobs_new(void);
void model_jobs_free(struct model_jobs *jobs); /* takes NULL */

/* Piles. */
void *pile_add(struct pile *pile, const void *item);
void pile_drop(struct pile *pile, size_t index);
#define PILE(pile, type, i) (&((type *)(void *)(pile).items)[i])

pawl_str model_keep(struct model_jobs *jobs, pawl_str text);
/* The outcome of the job that runs; texts of the answer go to the caller's arena. */
pawl_str model_give(struct arena *arena, pawl_str text);
struct job model_job_give(const struct job *job, struct arena *arena);
struct job_row model_job_row_give(const struct mjob *job, struct arena *arena);

struct mjob *model_job_find(struct model_jobs *jobs, int64_t id);
struct mclaim *model_claim_find(struct model_jobs *jobs, int64_t token);
struct job_counts *model_counts_of(struct model_jobs *jobs, pawl_str queue);
void model_job_state(struct model_jobs *jobs, struct mjob *job, enum job_state state);
void model_job_remove(struct model_jobs *jobs, struct mjob *job);
struct jobrule_key model_key_of(struct model_jobs *jobs, pawl_str key);
struct mkey *model_key_state(struct model_jobs *jobs, pawl_str key);
struct task *model_task_find(struct model_jobs *jobs, pawl_str name);

/* Whether a scope is missing; then *missing says which. */
bool model_scope_missing(struct model_jobs *jobs, pawl_str agent, pawl_str scopes, pawl_str *missing);
void model_refuse(struct model *model, pawl_str agent, pawl_str task, pawl_str missing, int64_t job_id);

/* One job with everything that belongs to it. */
enum store_answer model_job_insert(struct model *model, const struct mjob *in, int64_t *id);

/* How an execution ends. */
struct mend {
    enum run_outcome outcome;
    pawl_uuid instance;
    int64_t duration_ms;
    pawl_str output, error, steps, input_hash, output_hash;
};
void model_record_run(struct model *model, const struct mjob *job, const struct mend *end);
void model_audit_seal(struct model *model, pawl_uuid chain);
void model_job_die(struct model *model, struct mjob *job, enum job_dead_reason reason, pawl_str error);
void model_job_lease_end(struct model *model, struct mjob *job);
enum store_answer model_step_write(struct model *model, int64_t job_id, const struct job_step *step);
int model_jobs_leased(const struct model *model, pawl_uuid instance);
/* Takes back what dead or late workers hold, at most once a second. */
void model_jobs_sweep(struct model *model, pawl_uuid caller);
void model_claim_lose(struct model *model, struct mclaim *claim, bool all, bool give_back, pawl_uuid caller);
void model_claim_leave(struct mclaim *claim, int64_t id, bool reported);
/* The jobs of an instance that was evicted or said goodbye. */
void model_jobs_instance_end(struct model *model, pawl_uuid instance, bool goodbye);

/* One report, as an item of finish is. */
enum store_answer model_finish_one(struct model *model, pawl_uuid instance, const struct finish_item *item);
bool model_job_held(struct model *model, pawl_uuid instance, struct job_ref ref);
/* Jobs that wait are gone (outcome cancelled), a running one is asked to stop, a dead one is discarded. */
void model_job_drop(struct model *model, int64_t id);

/* Inside an operation. */
struct wake_result model_wake_in(struct model *model, const struct job_wake *in);
void model_limit_put(struct model_jobs *jobs, const struct job_limit *in);
struct job_list model_claim_jobs(struct model *model, const struct jobs_claim *in, struct arena *arena);

pawl_status model_jobs_claim(struct store *store, const struct jobs_claim *in, struct arena *arena,
                             struct job_list *out, pawl_error *err);
pawl_status model_jobs_finish(struct store *store, const struct jobs_finish *in, struct arena *arena,
                              struct finish_result *out, pawl_error *err);
pawl_status model_jobs_renew(struct store *store, const struct jobs_renew *in, struct arena *arena,
                             struct renew_result *out, pawl_error *err);
pawl_status model_jobs_cancel(struct store *store, const int64_t *ids, size_t count, struct arena *arena,
                              struct job_answers *out, pawl_error *err);
pawl_status model_jobs_redrive(struct store *store, const int64_t *ids, size_t count, bool discard,
                               struct arena *arena, struct job_answers *out, pawl_error *err);
pawl_status model_jobs_wake(struct store *store, const struct job_wake *in, struct wake_result *out,
                            pawl_error *err);
pawl_status model_steps_put(struct store *store, const struct steps_put *in, struct arena *arena,
                            struct job_answers *out, pawl_error *err);
pawl_status model_steps_read(struct store *store, int64_t job_id, struct arena *arena, struct job_steps *out,
                             pawl_error *err);
pawl_status model_job_rows(struct store *store, const struct job_filter *filter, struct arena *arena,
                           struct job_rows *out, pawl_error *err);
pawl_status model_job_why(struct store *store, int64_t id, struct arena *arena, struct job_why *out,
                          pawl_error *err);
pawl_status model_job_dead_groups(struct store *store, int limit, struct arena *arena,
                                  struct job_dead_groups *out, pawl_error *err);
pawl_status model_job_counts(struct store *store, struct arena *arena, struct job_counts_list *out,
                             pawl_error *err);
pawl_status model_job_backlog(struct store *store, int look_max, struct arena *arena, struct job_backlog *out,
                              pawl_error *err);
pawl_status model_limit_set(struct store *store, const struct job_limit *in, pawl_error *err);
pawl_status model_limits(struct store *store, struct arena *arena, struct job_limits *out, pawl_error *err);
pawl_status model_task_put(struct store *store, const struct task *in, struct arena *arena,
                           struct put_answer *out, pawl_error *err);
pawl_status model_task_remove(struct store *store, pawl_str name, pawl_error *err);
pawl_status model_tasks(struct store *store, pawl_str name, pawl_str after_name, int limit,
                        struct arena *arena, struct task_list *out, pawl_error *err);
pawl_status model_schedule_put(struct store *store, const struct job_schedule *in, struct put_answer *out,
                               pawl_error *err);
pawl_status model_schedule_remove(struct store *store, pawl_str name, pawl_error *err);
pawl_status model_schedules(struct store *store, const struct schedule_filter *filter, struct arena *arena,
                            struct job_schedule_list *out, pawl_error *err);
pawl_status model_schedule_fire(struct store *store, const struct schedule_fire *in, struct arena *arena,
                                struct fire_result *out, pawl_error *err);
pawl_status model_agent_put(struct store *store, const struct agent *in, pawl_error *err);
pawl_status model_agents(struct store *store, struct arena *arena, struct agent_list *out, pawl_error *err);
pawl_status model_refusals(struct store *store, int limit, struct arena *arena, struct refusal_list *out,
                           pawl_error *err);
pawl_status model_task_runs(struct store *store, const struct run_filter *filter, struct arena *arena,
                            struct task_run_list *out, pawl_error *err);
pawl_status model_run_sums(struct store *store, int64_t since_ms, pawl_uuid instance, struct run_sums *out,
                           pawl_error *err);
pawl_status model_audit_anchor(struct store *store, int64_t older_ms, struct audit_head *out,
                               pawl_error *err);
pawl_status model_audit_head(struct store *store, struct audit_head *out, pawl_error *err);
pawl_status model_audit_verify(struct store *store, pawl_str expect, struct arena *arena,
                               struct audit_report *out, pawl_error *err);
pawl_status model_spine_read(struct store *store, int limit, struct arena *arena, struct spine_events *out,
                             pawl_error *err);
pawl_status model_spine_remove(struct store *store, const int64_t *ids, size_t count, int64_t *removed,
                               pawl_error *err);
pawl_status model_jobs_maintain(struct store *store, int rows_max, struct jobs_maintain_result *out,
                                pawl_error *err);

/* The first invariant that does not hold, or NULL; for check.c. */
const char *model_jobs_fault(struct model *model);

#endif
