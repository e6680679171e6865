/* What the two halves of the job side's core share: what it holds, and how a job leaves it. */
#ifndef ENGINE_JOBS_JOB_CORE_INT_H
#define ENGINE_JOBS_JOB_CORE_INT_H

#include "engine/jobs/job_core.h"

enum entry_state {
    ENTRY_GONE = 0,
    ENTRY_WAITING,
    ENTRY_BEGINNING, /* it has a slot; the store hears first that it begins */
    ENTRY_RUNNING,
    ENTRY_TELLING, /* it has ended; the store hears of its progress first */
    ENTRY_PENDING,
    ENTRY_SENDING
};

struct entry {
    const struct job *job;
    struct grant *grant;
    struct entry *next; /* in its handler's queue, or among the pending */
    int rule, slot;
    enum entry_state state;
    bool dropped; /* its lease has expired for us: whatever it does has no effect */
    bool told;    /* that it is to stop */
    int64_t claimed_ms, fence_ms, renew_ms, keep_until_ms;
    struct job_result_in result;
    char *progress; /* owned; the last it told; NULL = nothing */
    size_t progress_len;
    bool unsent; /* the store has not heard of it */
};

/* Everything that one call claimed. */
struct grant {
    void *cookie;
    struct entry *entries;
    size_t count, alive;
    struct grant *next;
};

struct slot {
    bool busy;
    bool beginning; /* nothing runs yet: its job is ENTRY_BEGINNING */
    bool announced; /* the store has heard that it begins */
    enum stop_reason cancelled;
    int rule;
    int64_t deadline_ms;
    size_t count;
    struct entry *entries[JOB_CORE_BUNDLE_MAX];
    const struct job *jobs[JOB_CORE_BUNDLE_MAX];
};

struct queue {
    struct entry *head, *tail;
    int slots; /* in use */
    double item_us;
};

struct list {
    void **items;
    size_t count, capacity;
};

/* What ran into the end of its lease here; it costs an attempt, which the store counts when the lease ends.
 */
struct left_job {
    struct grant_held grant;
    int64_t until_ms;
};

struct job_core {
    struct job_core_config config;
    struct job_core_metrics metrics;
    pawl_uuid instance;
    struct slot *slots;
    struct queue *queues; /* by rule */
    struct grant *grants;
    struct entry *pending_head, *pending_tail;
    int64_t pending_since_ms;
    struct list free_grants, free_results; /* to be handed back */
    struct jobs_finish finish;
    struct finish_item *items;
    struct entry **sent;
    size_t sent_count;
    bool resend;           /* the call as it is goes out again */
    int64_t first_sent_ms; /* the first time: what it grants, it may have granted then */
    struct jobs_renew renew;
    struct renew_item *renew_items;
    struct entry **renewed;
    struct grants_settle settle;
    struct grant_held *held;
    size_t held_capacity;
    struct left_job *left;
    size_t left_count, left_capacity;
    int64_t settle_at_ms;
    int64_t newest_token, seen_token; /* that the store has given us; that arrived */
    int64_t next_claim_ms, backoff_until_ms;
    double ahead_us; /* how long a job of the last grant takes, all of them being quick; 0 = they are not */
    size_t telling;  /* entries */
    size_t careful_waiting; /* waiting jobs that are started with care */
    int failures, turn;
    bool empty, stopping, at_once, out_of_memory;
    int64_t drain_until_ms, leave_ms;
    uint64_t random;
};

uint64_t job_core_random(struct job_core *core);

/* The job is no longer ours; its result and, with its last job, its grant are handed back. */
void job_core_forget(struct job_core *core, struct entry *entry);

/* The same, because its lease has expired for us. */
void job_core_fenced(struct job_core *core, struct entry *entry, int64_t now_ms);

/* Its attempt is its last, or it may have killed two workers: it must not wait in our hands, runs in no
 * bundle, and the store hears that it begins before it does. */
static inline bool job_core_is_careful(const struct entry *entry) { return job_renew_first(entry->job); }

/* The handler takes many jobs at once, and is measured to take no time. */
bool job_core_is_quick(const struct job_core *core, int rule);

int job_core_free_slot(const struct job_core *core); /* -1 = all are busy */

/* The first that waits for the handler leaves its queue. */
struct entry *job_core_pop(struct job_core *core, struct queue *queue);

/* What can begin begins: false when nothing more can. */
bool job_core_start(struct job_core *core, int64_t now_ms, struct job_action *action);

/* The slot is free again. */
void job_core_vacate(struct job_core *core, int slot);

/* The job has a result that the store must hear of. */
void job_core_pend(struct job_core *core, struct entry *entry, int64_t now_ms);

#endif
