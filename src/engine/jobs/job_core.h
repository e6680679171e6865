/* The job side's decisions: what is claimed, started, renewed, reported and given back. No I/O, no clock, no
 * threads: it is told what happened and asked what to do next. */
#ifndef ENGINE_JOBS_JOB_CORE_H
#define ENGINE_JOBS_JOB_CORE_H

#include "base/stop.h"
#include "store/jobs.h"
#include "work/job_result.h"

enum {
    JOB_CORE_BUNDLE_MAX = 64, /* jobs handed to one slot at once */
    JOB_CORE_RENEW_MS = 2000, /* a running job is renewed so often: that is how it hears of a cancellation */
    JOB_CORE_LEASES_MAX = 6,  /* for how many leases a job without a time limit and progress is kept */
    JOB_CORE_LINGER_MS = 5,   /* how long a result waits for company while others run */
    JOB_CORE_QUICK_US = 1000, /* a handler that takes no longer than this, as measured, is quick */
    JOB_CORE_AHEAD_MS = 250,  /* how much work of quick handlers, by time, is claimed ahead of the slots */
    JOB_CORE_WAIT_MS = 500,   /* what could not begin for so long goes back, for others to run */
    JOB_CORE_FULL_MS = 1000,  /* how long it is left to others when its handler may not run more at once */
    JOB_CORE_NO_HANDLER_MS = 5000,  /* how long a job without a handler is left to others */
    JOB_CORE_BACKOFF_MS_MAX = 2000, /* between calls of a store that does not answer */
    JOB_CORE_SNOOZE_MS = 1000,      /* the shortest: a handler that always snoozes must not keep us busy */
    JOB_CORE_LEAVE_MS = 3000        /* how long a stop waits for jobs that were told to end */
};

/* What the core must know of a handler; the last one is the pipeline's. */
struct job_rule {
    bool bundled;
    int concurrency;                     /* slots at the same time; 0 = all */
    int64_t timeout_ms;                  /* 0 = none */
    int64_t retry_base_ms, retry_max_ms; /* 0 = the store's backoff */
    bool retry_exact;                    /* no jitter */
};

struct job_core_config {
    int slots, batch;
    int64_t lease_ms, poll_ms, drain_ms;
    int64_t settle_ms; /* how often the store is told what is held; 0 = never */
    pawl_str queue;    /* absent = default */
    const struct job_rule *rules;
    size_t rule_count;
    int (*match)(void *self, const struct job *job); /* index of the rule, -1 = none */
    void *match_self;
    uint64_t seed;
};

enum job_action_type {
    JOB_ACT_WAIT = 1, /* nothing to do before at_ms, unless something happens */
    JOB_ACT_FINISH,   /* call the store: job_core_finished_call */
    JOB_ACT_RENEW,    /* call the store: job_core_renewed */
    JOB_ACT_SETTLE,   /* call the store: job_core_settled */
    JOB_ACT_START,
    JOB_ACT_CANCEL,
    JOB_ACT_FREE_GRANT,
    JOB_ACT_FREE_RESULT,
    JOB_ACT_DONE /* everything is reported or given up: the job side may end */
};

struct job_action {
    enum job_action_type type;
    int64_t at_ms;
    const struct jobs_finish *finish; /* valid until it is answered */
    const struct jobs_renew *renew;
    const struct grants_settle *settle;
    int slot, rule;
    const struct job *const *jobs;
    size_t count;
    int64_t claimed_ms;  /* boot time at which the jobs' leases were counted from */
    int64_t fence_ms;    /* boot time; nothing may begin from then on */
    int64_t deadline_ms; /* boot time; 0 = none */
    int64_t timeout_ms;  /* what the deadline was made of; 0 = none */
    enum stop_reason reason;
    void *owner; /* to be freed */
};

struct job_core_metrics {
    int64_t claimed, completed, failed, retried, dead, released, stale, fenced, renewed, cancelled,
        lost_calls;
    int64_t cut_off; /* by a stop when its drain time ended: given back unfinished, or abandoned */
    int64_t processing_us;
    int running;
    size_t waiting, pending;
    bool idle; /* the last claim found nothing, and nothing runs */
};

struct job_core;

struct job_core *job_core_create(const struct job_core_config *config); /* NULL: out of memory */
void job_core_free(struct job_core *core);                              /* takes NULL */

/* What to do now. False: out of memory, the process must end. */
PAWL_MUSTCHECK bool job_core_next(struct job_core *core, int64_t now_ms, struct job_action *action);

/* What happened. */
void job_core_instance(struct job_core *core, pawl_uuid instance); /* nil = evicted */
/* sent_ms: before the call. grant owns the memory of result's jobs; it comes back by JOB_ACT_FREE_GRANT. */
void job_core_finished_call(struct job_core *core, int64_t sent_ms, int64_t now_ms, pawl_status status,
                            const struct finish_result *result, void *grant);
void job_core_renewed(struct job_core *core, int64_t sent_ms, int64_t now_ms, pawl_status status,
                      const struct renew_result *result);
void job_core_settled(struct job_core *core, int64_t now_ms, pawl_status status,
                      const struct grants_settled *result);
void job_core_slot_ended(struct job_core *core, int64_t now_ms, int slot, const struct job_result_in *results,
                         int64_t elapsed_us);
/* The slot shows that it gets on. */
void job_core_gets_on(struct job_core *core, int64_t now_ms, int slot);
/* What the slot's job number `at` tells of its progress (JSON): it goes to the store with the next renewal,
 * or before a failure of it is reported. The core frees the text. */
void job_core_progress(struct job_core *core, int slot, size_t at, char *text, size_t len);
/* Claims nothing before at_ms: there is nothing, or we would have been woken; 0 = there may be work now. */
void job_core_claim_at(struct job_core *core, int64_t at_ms);
void job_core_stop(struct job_core *core, int64_t now_ms, bool at_once);

struct job_core_metrics job_core_metrics(const struct job_core *core);

#endif
