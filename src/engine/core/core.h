/* The worker's decisions about everything that is worked on, messages and jobs: a state machine, events in,
 * actions out; no I/O, no clock, no threads. */
#ifndef ENGINE_CORE_CORE_H
#define ENGINE_CORE_CORE_H

#include "base/stop.h"
#include "engine/core/duties.h"
#include "store/jobs.h"
#include "store/view.h"
#include "work/job_result.h"
#include "work/perspective/exchange.h"

enum engine_state {
    ENGINE_STARTING = 0,
    ENGINE_READY,
    ENGINE_PROCESSING,
    ENGINE_ERROR,
    ENGINE_STOPPING,
    ENGINE_STOPPED,
    ENGINE_STATE_COUNT
};

const char *engine_state_name(enum engine_state state);

/* Whether the table of states has this change. */
bool engine_state_allowed(enum engine_state from, enum engine_state to);

/* Three ways to the store: messages are claimed from lanes and reported by batches, jobs from a pool by
 * jobs_finish, and the streams that perspectives lag behind by perspectives_exchange. Everything between
 * claim and report is the same. */
enum engine_channel { CHANNEL_MESSAGES = 0, CHANNEL_JOBS, CHANNEL_PERSPECTIVES, CHANNEL_COUNT };

/* The duties that the core knows; those of the configuration follow. */
enum engine_duty { DUTY_BEAT = 0, DUTY_LOOK, DUTY_SCHEDULES, DUTY_HOUSEKEEPING, DUTY_OTHERS };

/* Every limit of the core; those of the scheduler of duties are in duties.h. */
enum {
    ENGINE_BUNDLE_MAX = 512,       /* items handed to one slot at once */
    ENGINE_BUNDLE_CALLS = 64,      /* of them, when each is a call of its own */
    ENGINE_BUNDLE_LEAST = 256,     /* when they are handled together: less is not split among slots */
    ENGINE_REFUSALS_MAX = 3,       /* of one batch, before it drops everything and registers again */
    ENGINE_WHOLE_BEAT_MS = 300000, /* between beats of an idle worker that compare grants */
    ENGINE_LOOK_MS = 100,          /* a lock that is absent for 300 ms is believed: three looks later */
    ENGINE_BACKOFF_MS = 100,       /* before the first repetition of a call that the store did not answer */
    ENGINE_BACKOFF_MS_MAX = 2000,  /* before any */

    /* Leases. */
    ENGINE_RENEWALS = 18,    /* thirds of a lease for which a handler without a time limit is kept; progress
                              restarts the count */
    ENGINE_LISTEN_MS = 2000, /* a running job is renewed this often: that is how it hears of a cancellation */
    ENGINE_LEAVE_MS = 3000,  /* how long after its time limit a handler may take to end */

    /* Reports. */
    ENGINE_LINGER_MS = 20,    /* how long a finished message waits for company while others run */
    ENGINE_JOB_LINGER_MS = 5, /* the same of a job: what waits for its end becomes ready by the report */
    ENGINE_HOLD_MS = 100,     /* how long a message waits for the rest of its claim when a batch goes out */

    /* Claims: what can start now, and ahead of the slots only what is short (core_run_ahead). */
    ENGINE_CLAIM_AHEAD_MS = 250, /* how much work, by time, is claimed ahead of the slots */
    ENGINE_AHEAD_UNKNOWN = 16,   /* messages for each slot while nothing is measured; the most when slow */
    ENGINE_SHORT_US = 1000,      /* a job's handler that takes no longer than this, as measured, is short */
    ENGINE_WAIT_MS = 500,        /* what could not begin for so long goes back, for others to run */
    ENGINE_FULL_MS = 1000,       /* how long it is left to others when its handler may not run more at once */
    ENGINE_TURN_MS = 1000,       /* how far one channel's use of the slots is remembered against it */

    /* Given back without an attempt. */
    ENGINE_PAUSED_MS = 100,      /* how long a message is left alone when we missed its handler's resume */
    ENGINE_NO_HANDLER_MS = 5000, /* how long an item without a handler is left to others, at first */
    ENGINE_NO_HANDLER_MS_MAX = 60000,
    ENGINE_SNOOZE_MS = 1000, /* the shortest of a job: one that always snoozes must not keep us busy */

    ENGINE_CLEAN_DONE = 50000, /* messages and jobs that leave enough behind for housekeeping to be due */

    ENGINE_STOP_STORE_MS = 5000 /* how long a stop waits for the store after the drain */
};

/* The other workers, as a beat finds them. */
struct engine_peers {
    int count;        /* live instances */
    bool busy;        /* one of them has work in flight */
    bool idle;        /* one that serves a kind of messages of ours has nothing in hand */
    int64_t ends_ms;  /* until the first of their leases ends, unless it beats; 0 = not known */
    bool lanes_short; /* the instance itself owns fewer lanes than its share */
};

struct engine_peers_in {
    const struct instance_rows *rows;
    pawl_uuid instance; /* whose peers they are */
    const struct instance_new *self;
    const struct settings *settings;
    const struct beat_result *beat;
    bool full; /* as it says: then it wants no more lanes */
};

struct engine_peers engine_peers_of(const struct engine_peers_in *in);

/* What the core must know of a handler. */
struct engine_handler {
    bool bundled;            /* several items may be handed over at once (C functions) */
    bool batched;            /* the more at once the better: they are handled together (brokers) */
    int concurrency;         /* slots it may use at the same time; 0 = all */
    int64_t timeout_ms;      /* 0 = none */
    enum dead_policy policy; /* POLICY_DEFAULT = the worker's */
    int max_attempts;        /* 0 = the worker's */
    int64_t retry_base_ms;   /* 0 = the store's backoff */
    int64_t retry_max_ms;
    bool retry_exact; /* no jitter */
};

/* When finished messages are reported. */
enum engine_strategy_type { STRATEGY_BATCHED = 0, STRATEGY_INSTANT, STRATEGY_CUSTOM };

struct engine_strategy {
    enum engine_strategy_type type;
    /* Custom: whether the results that wait are to be sent now rather than with the next poll. */
    bool (*flush)(void *self, size_t pending, int64_t oldest_age_ms);
    void *self;
};

struct engine_config {
    struct instance_new instance; /* template; its id is replaced at every registration */
    int slots;
    int batch;
    int batch_max; /* what a batch may grow to while full ones come; 0 = batch */
    int64_t lease_ms;
    int64_t instance_lease_ms;
    int64_t heartbeat_ms;
    int64_t poll_ms;
    int64_t quiet_poll_ms; /* between polls when idle and wake-ups work; 0 = poll_ms */
    int64_t rest_ms;       /* the longest rest of idle jobs while wake-ups work; 0 = none */
    int64_t job_lease_ms;
    pawl_str queue;             /* of the jobs; absent = default */
    int weights[CHANNEL_COUNT]; /* how the channels share the slots when several have work; 0 = 1 */
    int64_t cleanup_ms;         /* between rounds of housekeeping, on average; 0 = none */
    const struct duty *duties;  /* must outlive the core */
    size_t duty_count;
    int64_t drain_ms;
    int idle_polls;
    int max_attempts;
    enum dead_policy policy; /* POLICY_DEFAULT = the schema's */
    bool debug;
    bool fixed_id; /* instance.id was chosen by a person: a collision is an error, not a reason to draw again
                    */
    struct engine_strategy strategy;
    const struct engine_handler *handlers;
    size_t handler_count;
    /* Index of the handler, -1 = none, -2 = it is paused, by the pause of this name, -3 = cancelled. */
    int (*match)(void *self, const struct item *item, pawl_str *paused);
    int (*match_job)(void *self, const struct job *job); /* index of the handler, -1 = none */
    void *match_self;
    int advance_handler; /* index of the handler of perspectives' streams; the worker serves none: unused */
    bool checkpoints;    /* perspectives outside the store may be applied here: checkpoints are leased */
    uint64_t seed;       /* of the jitter */
};

enum engine_event_type {
    EVENT_STARTED,
    EVENT_TICK,
    EVENT_READY,
    EVENT_NOT_READY,
    EVENT_REGISTERED,    /* status; instance, instance_lease_ms, policy, beside, epoch */
    EVENT_BEAT,          /* status; beat, settled, peers */
    EVENT_LOOKED,        /* status; look */
    EVENT_BATCH,         /* status; result, grant */
    EVENT_CLAIMED,       /* status; result, grant: of ACTION_CLAIM */
    EVENT_REPORTED,      /* status; report, answers */
    EVENT_JOBS_FINISHED, /* status; finish, grant */
    EVENT_JOBS_RENEWED,  /* status; renewed */
    EVENT_JOBS_FREE,     /* status; free_ms */
    EVENT_DUTY,          /* status; duty, held, next_ms, count: jobs that schedules have made */
    EVENT_EXCHANGED,     /* status; exchanged, grant */
    EVENT_DUE,           /* something has become due for a perspective */
    EVENT_FINISHED,      /* slot, outcomes or (of jobs) results, count, elapsed_us */
    EVENT_PROGRESS,      /* slot, at, text: a job gets on; text, which the core frees, may be NULL */
    EVENT_CANCEL,        /* ids, count: messages that a person wants to end */
    EVENT_WAKE,          /* news, place */
    EVENT_WAKER,         /* wakes: whether we are woken when work arrives */
    EVENT_WAITING,       /* status; wait_late */
    EVENT_TROUBLE, /* troubled: a program cannot be started; until trouble_until_ms nothing is claimed */
    EVENT_LEAVE,   /* kinds: of these nothing is claimed until the next such event */
    EVENT_STOP,
    EVENT_STOP_NOW,
    EVENT_DEREGISTERED
};

enum outcome_type {
    OUTCOME_NOT_RUN = 0, /* cancelled before it began, or after a failure in its stream */
    OUTCOME_DONE,
    OUTCOME_RETRY,
    OUTCOME_PERMANENT,
    OUTCOME_CANCELLED, /* ended because the core asked for it */
    OUTCOME_SNOOZE     /* not now: given back without an attempt, for delay_ms */
};

struct engine_outcome {
    enum outcome_type type;
    pawl_str error;   /* borrowed during the step */
    int64_t delay_ms; /* until the next attempt; -1 = by policy */
    int64_t version;  /* of a perspective's stream: applied through */
};

struct engine_event {
    enum engine_event_type type;
    int64_t now_ms; /* boot time when the event is handed in */
    pawl_status status;
    const pawl_error *error; /* when status is not PAWL_OK; may be NULL */
    pawl_uuid instance;
    int64_t instance_lease_ms;
    enum dead_policy policy; /* registered: the schema's; POLICY_DEFAULT = not known */
    bool beside;             /* registered: a claim may be made while a batch is on its way */
    int64_t epoch;           /* registered */
    const struct beat_result *beat;
    const struct grants_settled *settled[CHANNEL_COUNT]; /* NULL: what the beat knew was not compared */
    struct engine_peers peers;
    const struct peers_look *look;
    const struct work_batch_result *result;
    const struct finish_result *finish;
    const struct renew_result *renewed;
    const struct perspectives_answer *exchanged;
    int64_t free_ms; /* for how long the store has no job and no schedule that is due */
    void *grant;     /* owns the memory of what was claimed; handed back by ACTION_FREE_GRANT */
    uint32_t report;
    const enum store_answer *answers;
    const enum fail_outcome *fails;
    int slot;
    const struct engine_outcome *outcomes;
    const struct job_result_in *results; /* their owners are handed back by ACTION_FREE_RESULT */
    size_t count;
    int64_t elapsed_us; /* of the items that ran */
    size_t duty;
    bool held;       /* the lease of the duty */
    int64_t next_ms; /* until the duty's next turn; -1 = its period */
    size_t at;
    char *text;
    size_t text_len;
    const pawl_uuid *ids;
    bool wakes;
    bool news;              /* wake: something was paused or cancelled, which only a beat brings */
    struct lane_name place; /* wake: where all the work is that arrived; kind 0 = look everywhere */
    bool wait_late;
    unsigned kinds; /* KIND_BIT */
    bool troubled;
    int64_t trouble_until_ms[CHANNEL_COUNT];
};

enum engine_action_type {
    ACTION_CHECK_READY,
    ACTION_REGISTER, /* fresh: under a new id, else under the configured one */
    ACTION_BEAT,
    ACTION_LOOK,
    ACTION_BATCH,
    ACTION_CLAIM,       /* a batch that only claims, beside the other; answered by EVENT_CLAIMED */
    ACTION_REPORT,      /* instant: complete or fail outside a batch */
    ACTION_JOBS_FINISH, /* reports and a claim; answered by EVENT_JOBS_FINISHED */
    ACTION_JOBS_RENEW,  /* answered by EVENT_JOBS_RENEWED */
    ACTION_JOBS_FREE,   /* ask for how long nothing becomes due; answered by EVENT_JOBS_FREE */
    ACTION_DUTY,        /* order: a duty has its turn; answered by EVENT_DUTY unless it is to be left */
    ACTION_EXCHANGE,    /* of perspectives: renewals, reports and a claim; answered by EVENT_EXCHANGED */
    ACTION_START,
    ACTION_CANCEL,
    ACTION_CANCEL_END, /* id: a message that was to be cancelled has ended; not answered */
    ACTION_FREE_GRANT,
    ACTION_FREE_RESULT,
    ACTION_TIMER,
    ACTION_WAIT_BEGIN, /* be woken from now on; answered by EVENT_WAITING */
    ACTION_WAIT_END,   /* no longer; not answered */
    ACTION_DEREGISTER,
    ACTION_NOTIFY_STARTED,
    ACTION_NOTIFY_IDLE,
    ACTION_LOG,
    ACTION_EXIT
};

/* What happened, for logs and metrics; the numbers are named in engine_log_rows. */
enum engine_log {
    LOG_STATE,
    LOG_START_SKIPPED,
    LOG_NOT_READY,
    LOG_PAUSED,
    LOG_READY_AGAIN,
    LOG_REGISTERED,
    LOG_REGISTER_FAILED,
    LOG_BATCH,
    LOG_BATCH_FAILED,
    LOG_BEAT_FAILED,
    LOG_EVICTED,
    LOG_FENCED,
    LOG_STALE,
    LOG_ORDER_CONFLICT,
    LOG_NO_HANDLER,
    LOG_DEAD,
    LOG_TIMEOUT,
    LOG_CANCELLED,
    LOG_PEER_EVICTED,
    LOG_SETTLED,
    LOG_EPOCH,
    LOG_REFUSED,
    LOG_STOPPING,
    LOG_STOPPED,
    ENGINE_LOG_COUNT
};

struct engine_run {
    int handler;
    const struct item *const *items; /* one of the three */
    const struct job *const *jobs;
    const struct checkpoint_grant *const *checkpoints;
    const int
        *groups; /* equal numbers, side by side: one stream; after a failure the rest of it does not run */
    size_t count;
    int64_t fence_ms;    /* nothing may begin at or after this boot time */
    int64_t deadline_ms; /* 0 = none */
    int64_t timeout_ms;  /* what the deadline was made of */
    int64_t claimed_ms;  /* jobs: the boot time that their leases are counted from */
};

struct engine_report {
    uint32_t number;
    enum store_kind kind;
    struct complete_item complete; /* when !failed */
    struct fail_item fail;         /* when failed; its text lives until the answer */
    bool failed;
};

struct engine_action {
    enum engine_action_type type;
    int slot;
    enum stop_reason reason; /* cancel; STOP_ASKED: only one of the slot */
    size_t at;               /* STOP_ASKED: which message of the slot */
    pawl_uuid id;
    struct engine_run run;
    const struct work_batch *batch;                   /* valid until its EVENT_BATCH or EVENT_CLAIMED */
    const struct grants_settle *known[CHANNEL_COUNT]; /* beat: what is held; valid until its EVENT_BEAT;
                                                         NULL = this time it is not compared */
    bool full;                        /* beat: all slots are taken for long (core_slots_full) */
    bool brief;                       /* beat: nothing but the lease, for nothing has happened */
    const struct jobs_finish *finish; /* valid until it is answered, as is renew */
    const struct jobs_renew *renew;
    const struct perspectives_exchange *exchange; /* likewise */
    struct engine_report report;
    struct duty_order order;
    void *grant;
    void *owner;        /* free_result */
    int64_t at_ms;      /* timer; absolute boot time */
    bool fresh;         /* register */
    bool forced;        /* exit */
    pawl_status status; /* exit because of it, when not PAWL_OK */
    enum engine_log log;
    int64_t numbers[3];
    pawl_str text; /* valid until the next step */
};

/* The actions of one step, in order. Zero it before first use, engine_actions_free at the end. */
struct engine_actions {
    struct engine_action *items;
    size_t count;
    size_t capacity;
    bool failed;
};

void engine_actions_free(struct engine_actions *actions);

/* What the worker counts of its jobs. */
struct engine_job_metrics {
    int64_t claimed, completed, failed, retried, dead, released, stale, fenced, renewed, cancelled,
        lost_calls;
    int64_t processing_us;
    int running; /* slots */
    size_t waiting, pending;
    bool idle; /* the last claim found nothing, and nothing runs */
};

/* What the worker counts, and the sums that it logs; of messages, unless it says otherwise. */
struct engine_metrics {
    enum engine_state state;
    int64_t not_ready_checks;
    int64_t empty_polls;
    bool idle;
    int64_t claimed, completed, failed, dead, released, stale, fenced, evictions, batches, heartbeats;
    int running;
    int64_t waiting, pending_completions, pending_failures;
    pawl_uuid instance;
    int peers;
    struct engine_job_metrics jobs;
    bool perspectives_idle; /* the last search found nothing that is due */
    bool works; /* registered, and the store answers: what goes on beside the messages may go on */
};

struct engine_core;

/* The configuration is copied; handlers and match_self must outlive the core. NULL when out of memory. */
struct engine_core *engine_core_create(const struct engine_config *config);
/* Takes NULL. Grants that are still held are forgotten: their owner frees them. */
void engine_core_free(struct engine_core *core);

/* actions->count is set to 0 first. PAWL_NO_MEMORY: the worker must end; what it holds comes back by its
 * lease. */
PAWL_MUSTCHECK pawl_status engine_step(struct engine_core *core, const struct engine_event *event,
                                       struct engine_actions *actions);

struct engine_metrics engine_metrics(const struct engine_core *core);

#endif
