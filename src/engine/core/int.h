/* What the files of the engine's core share: its memory, and which file may call which. */
#ifndef ENGINE_CORE_INT_H
#define ENGINE_CORE_INT_H

#include "base/limits.h"
#include "engine/core/core.h"

/* When something without a lease of its own is fenced: with its instance. */
#define CORE_UNLEASED_MS (INT64_MAX - 1)

enum report_type { REPORT_COMPLETE = 0, REPORT_FAIL, REPORT_RELEASE, REPORT_TYPE_COUNT };

enum entry_state {
    ENTRY_GONE = 0,
    ENTRY_WAITING,
    ENTRY_BEGINNING, /* it has a slot; the store hears first that it begins */
    ENTRY_RUNNING,
    ENTRY_TELLING, /* a job that has ended; the store hears of its progress first */
    ENTRY_PENDING, /* has a result that waits to be sent */
    ENTRY_SENDING  /* its result is on its way */
};

/* What only jobs have. */
struct job_extra {
    struct job_result_in result;
    char *progress; /* owned; the last it told that the store has not heard of; NULL = nothing */
    size_t progress_len;
};

/* One claimed message, job, or stream of a perspective. */
struct entry {
    const struct item *item; /* one of the three */
    const struct job *job;
    const struct checkpoint_grant *checkpoint;
    struct job_extra *extra;
    struct claim *claim;
    struct stream *stream; /* NULL: no order */
    struct entry *next;    /* in its stream, or in the queue of free items */
    int handler, slot;
    enum entry_state state;
    bool dropped; /* its grant has ended: whatever it does has no effect any more */
    bool permanent;
    bool asked; /* a person wants it to end */
    int64_t fence_ms;
    int64_t keep_until_ms; /* running: from then on its lease is not renewed */
    int64_t delay_ms;
    struct {
        enum checkpoint_status status;
        int64_t version;
    } reached;       /* by a perspective: what is reported */
    pawl_str paused; /* the pause of the handler that would take it; absent = none */
    char *error;     /* owned */
    size_t error_len;
};

/* What lives and dies together: the messages of one token, side by side; or one job; or one stream. */
struct claim {
    int64_t token;
    struct grant *grant;
    struct entry *entries;
    size_t count;
    int64_t fence_ms; /* the earliest of its unfinished entries */
    int64_t renew_at_ms;
    bool renewing;
    size_t open;              /* entries that wait or run */
    int64_t pending_since_ms; /* the first result that waits to be sent; 0 = none */
    bool split; /* some of it has ended: naming the whole token would keep that alive in the store */
};

/* Everything that one call claimed. */
struct grant {
    enum engine_channel channel;
    void *cookie;
    int64_t claimed_ms; /* when the call was sent: leases are counted from then */
    int64_t taken_ms;   /* when its answer arrived */
    struct entry *entries;
    struct claim *claims;
    struct job_extra *jobs; /* by entry; NULL: messages */
    size_t count, claim_count, alive;
    int64_t fence_ms, renew_at_ms; /* not after the first of its claims' */
    int pins;                      /* renewals on their way that point into it */
    struct grant *next, *prev;
};

struct stream {
    uint64_t hash;
    enum store_kind kind;
    size_t name_len;
    char name[PAWL_STREAM_BYTES_MAX];
    struct entry *head, *tail; /* the first `running` of them are in a slot */
    size_t running;
    bool awaiting; /* the answer to a failure decides what becomes of the rest */
    bool queued;
    struct stream *next_ready;
    struct stream *next_free;
};

struct stream_table {
    struct stream **cells;
    size_t cell_count; /* a power of two */
    size_t used;       /* streams */
    struct stream *free;
};

/* What one channel has for one handler. */
struct handler_queue {
    struct stream *stream_head, *stream_tail;
    struct entry *free_head, *free_tail;
    size_t waiting; /* entries for it that are not in a slot; changed by core_queue_count */
    int slots;      /* in use */
    double item_us; /* moving average; 0 = not known yet */
    size_t granted; /* of the last grant of messages */
};

struct slot {
    bool busy;
    bool beginning;              /* nothing runs yet: its only entry is ENTRY_BEGINNING */
    enum engine_channel channel; /* whose share of the slots it is */
    bool of_messages;
    int handler;
    enum stop_reason cancelled;
    int64_t started_ms, deadline_ms;
    size_t count;
    struct entry *entries[ENGINE_BUNDLE_MAX];
    union {
        const struct item *items[ENGINE_BUNDLE_MAX];
        const struct job *jobs[ENGINE_BUNDLE_MAX];
        const struct checkpoint_grant *checkpoints[ENGINE_BUNDLE_MAX];
    };
    int groups[ENGINE_BUNDLE_MAX];
};

struct entry_list {
    struct entry **items;
    size_t count, capacity;
};

struct renewal {
    struct claim *claim;
    struct entry *entry; /* NULL: the whole token */
    char *progress;      /* owned; of a job: what the call tells */
    size_t progress_len;
};

struct report_open {
    uint32_t number;
    struct entry *entry;
    bool failed;
    bool held; /* answered conflict: waits until the results of its stream that are on their way have arrived
                */
};

/* A claim that is made while a batch is on its way. */
struct side_claim {
    struct work_batch batch;
    bool on_way, resend;
    bool is_void; /* everything was dropped while it was on its way */
    int64_t sent_ms;
    int64_t mark; /* the newest token when it was first sent */
};

/* A grant that we no longer renew and that ends with its lease. */
struct left_grant {
    enum engine_channel channel;
    struct grant_held grant;
    int64_t until_ms;
};

/* What the store has granted to a channel, as far as is known. */
struct known {
    struct grants_settle said; /* with the last beat */
    struct grant_held *items;
    size_t capacity;
    int64_t due_ms;       /* an idle channel need not say it with every beat */
    int64_t newest_token; /* that the store has given us */
    int64_t seen_token;   /* the newest that arrived */
};

enum job_call { JOBS_QUIET = 0, JOBS_FINISH, JOBS_RENEW, JOBS_FREE };

/* The channel of the jobs: one call at a time. */
struct job_channel {
    enum job_call call; /* on its way */
    bool is_void;       /* everything was dropped while it was on its way */
    bool resend;        /* the finish as it is goes out again, under the same key */
    int64_t sent_ms;
    int64_t mark;          /* the newest token when the finish was first sent */
    int64_t first_sent_ms; /* of the finish: what it grants, it may have granted then */
    struct jobs_finish finish;
    struct finish_item *items;
    struct jobs_renew renew;
    struct renew_item *renew_items;
    struct renewal *renewals;
    size_t items_capacity, renew_capacity, renewals_capacity;
    struct entry_list pending, sending;
    size_t telling; /* entries */
    int64_t pending_since_ms;
    int64_t next_claim_ms, look_free_ms, backoff_until_ms;
    double ahead_us; /* how long a job of the last grant takes, all of them being short; 0 = they are not */
    size_t careful_waiting;
    int failures;
    bool empty;                 /* the last claim found nothing */
    bool quiet;                 /* a put wakes us */
    bool lost;                  /* the instance is not known any more, or not yet again */
    unsigned wakes, wakes_seen; /* so far; when the call was sent */
};

/* The channel of the perspectives: one call at a time. */
struct perspective_channel {
    bool on_way, claims; /* claims: what is on its way may grant something */
    bool is_void;        /* everything was dropped while it was on its way */
    bool lost;           /* the instance is not known any more, or not yet again */
    int64_t sent_ms;
    int64_t mark; /* the newest token when it was sent */
    struct perspectives_exchange exchange;
    struct checkpoint_ref *refs;
    struct renewal *renewals;
    struct checkpoint_report *reports;
    size_t refs_capacity, renewals_capacity, reports_capacity;
    struct entry_list pending, sending;
    int64_t pending_since_ms, next_claim_ms, backoff_until_ms;
    int64_t full_until_ms; /* a stream went back for want of a slot: until then it is left to others */
    int failures;
    bool found;                 /* something was due when this was last known, or may be since */
    bool round_found;           /* by the last claim, so far */
    unsigned wakes, wakes_seen; /* so far; when the last claim was sent */
};

enum cycle { CYCLE_IDLE = 0, CYCLE_CHECKING, CYCLE_BATCH };

struct engine_core {
    struct engine_config config;
    struct engine_metrics metrics;
    struct engine_actions *actions; /* of the step that runs */
    int64_t now_ms;
    uint64_t random;
    bool out_of_memory;

    struct slot *slots;
    int busy[CHANNEL_COUNT];                     /* slots, by whose share they are */
    int busy_messages;                           /* slots that handle messages, of whichever share */
    int turn[CHANNEL_COUNT];                     /* the handler that is served next */
    int64_t used_ms[CHANNEL_COUNT];              /* of the slots, by weight */
    struct handler_queue *queues[CHANNEL_COUNT]; /* by handler; the last is of what no handler takes */
    size_t waiting[CHANNEL_COUNT];               /* in all queues of the channel */
    struct stream_table streams;
    struct grant grants; /* ring, this is its anchor */
    size_t grant_count[CHANNEL_COUNT];
    struct job_channel jobs;
    struct perspective_channel perspectives;

    struct entry_list pending[REPORT_TYPE_COUNT][KIND_COUNT + 1];
    struct entry_list sending[REPORT_TYPE_COUNT][KIND_COUNT + 1];
    int64_t pending_since_ms;
    size_t pending_count;
    size_t held_count;           /* of them, left back for the rest of their claims by the last batch */
    int64_t report_due_ms;       /* when what is pending goes out at the latest */
    struct report_open *reports; /* instant strategy */
    size_t report_count, report_capacity;
    uint32_t report_number;

    enum cycle cycle;
    struct work_batch batch;
    struct complete_item *complete_items[KIND_COUNT + 1];
    struct fail_item *fail_items[KIND_COUNT + 1];
    struct release_item *release_items[KIND_COUNT + 1];
    size_t complete_capacity[KIND_COUNT + 1], fail_capacity[KIND_COUNT + 1], release_capacity[KIND_COUNT + 1];
    struct item_ref *renew_refs[KIND_COUNT + 1];
    struct renewal *renewals[KIND_COUNT + 1];
    size_t renew_capacity[KIND_COUNT + 1];
    bool resend;     /* the batch as it is goes out again, under the same key */
    bool batch_void; /* everything was dropped while the batch was on its way */
    int64_t batch_sent_ms;
    int64_t batch_mark; /* the newest token when it was first sent */
    uint64_t batch_number;
    unsigned left_kinds; /* nothing of them is claimed for now */
    int claim_size;      /* how many messages one batch asks for: grows while all of them come */
    int refusals;
    bool may_side; /* the store takes two calls at once */
    bool full;     /* the last claim got all it asked for, and that was much: claims go beside batches */
    struct side_claim side;

    int failures;  /* of the store, in a row */
    bool troubled; /* programs cannot be started */
    int64_t trouble_until_ms[CHANNEL_COUNT];
    int64_t backoff_until_ms;
    int64_t next_poll_ms;
    int64_t retry_watch_until_ms; /* while retries may become due, polls are not stretched */
    bool wakes;                   /* wake-ups work */
    bool wait_on, wait_trying, wait_late;
    int64_t wait_until_ms, wait_retry_ms, busy_since_ms;
    bool poll_due;          /* the batch on its way is itself a poll */
    bool woken;             /* since the last claim was sent: its answer may be older than what there is */
    struct lane_name place; /* where to look next; kind 0: everywhere, when a poll is due */
    bool poll_put_off;      /* a put wakes us: the claim that goes with the results is the next poll */
    bool was_busy, was_idle;

    bool registered, registering, started, start_skipped;
    int registrations;
    enum dead_policy schema_policy;
    int64_t instance_fence_ms;
    struct duties duties;
    int64_t beat_sent_ms;
    int64_t whole_beat_ms; /* until then the beats of an idle worker may be brief */
    bool news;             /* to be fetched with a beat that begins from now on */
    bool said_full;        /* with the last beat */
    bool peer_idle;        /* at the last beat */
    int64_t look_until_ms;
    int64_t cleaned_done; /* messages and jobs that had ended when housekeeping was last due */

    struct known known[CHANNEL_COUNT];
    struct left_grant *left;
    size_t left_count, left_capacity;
    int64_t epoch; /* 0 = not known yet */

    bool stopping, stop_now, forced, cancelled_all, deregistering, exited;
    int64_t drain_until_ms, give_up_ms;
};

/* core.c */
struct engine_action *core_act(struct engine_core *core, enum engine_action_type type);
void core_log(struct engine_core *core, enum engine_log log, int64_t a, int64_t b, int64_t c);
void core_log_text(struct engine_core *core, enum engine_log log, int64_t a, pawl_str text);
void core_log_item(struct engine_core *core, enum engine_log log, const struct item *item);
pawl_str core_error_text(const struct engine_event *event);
bool core_serves(const struct engine_core *core, enum engine_channel channel);
bool core_works(const struct engine_core *core);
bool core_grow(struct engine_core *core, void **items, size_t *capacity, size_t wanted, size_t size);
int64_t core_jitter(struct engine_core *core, int64_t delay_ms);
int64_t core_backoff_ms(struct engine_core *core, int failures);
int64_t core_grace_ms(int64_t lease_ms);

/* state.c */
void core_state_update(struct engine_core *core);

/* stream.c */
struct stream *core_stream_get(struct engine_core *core, enum store_kind kind, pawl_str name);
void core_stream_append(struct engine_core *core, struct stream *stream, struct entry *entry);
struct entry *core_stream_pop(struct stream *stream);
void core_stream_ready(struct engine_core *core, struct stream *stream);
void core_stream_drop_waiting(struct engine_core *core, struct stream *stream, int64_t token);
void core_stream_release_waiting(struct engine_core *core, struct stream *stream, int64_t delay_ms);
void core_streams_drop(struct engine_core *core);
void core_streams_free(struct engine_core *core);

/* grant.c */
void core_grant_take(struct engine_core *core, const struct engine_event *event, int64_t sent_ms);
void core_grant_take_streams(struct engine_core *core, const struct perspectives_answer *answer, void *cookie,
                             int64_t sent_ms);
bool core_in_hand(const struct engine_core *core);
struct grant *core_grant_take_jobs(struct engine_core *core, const struct job_list *jobs, void *cookie,
                                   int64_t sent_ms);
void core_entry_state(struct entry *entry, enum entry_state state);
void core_entry_free(struct engine_core *core, struct entry *entry);
void core_grant_unpin(struct engine_core *core, struct grant *grant);
void core_grants_free(struct engine_core *core);
void core_drop(struct engine_core *core, enum engine_channel channel);

static inline enum engine_channel core_channel(const struct entry *entry) {
    return entry->claim->grant->channel;
}

/* Which channel's slots messages of a kind use: those that wake perspectives count as perspectives. */
static inline enum engine_channel core_share(enum store_kind kind) {
    return kind == KIND_PERSPECTIVE ? CHANNEL_PERSPECTIVES : CHANNEL_MESSAGES;
}

/* It may have killed a worker, or its attempt is its last: it is in no bundle, and the store hears that it
 * begins before it does. */
static inline bool core_careful(const struct entry *entry) {
    return entry->job != NULL ? job_renew_first(entry->job) : entry->item != NULL && entry->item->suspect;
}

/* queue.c */
struct handler_queue *core_queue(struct engine_core *core, const struct entry *entry);
enum engine_channel core_route(const struct engine_core *core, enum engine_channel share, size_t handler);
void core_queue_count(struct engine_core *core, const struct entry *entry, int change);
struct entry *core_queue_pop(struct engine_core *core, struct handler_queue *queue);
struct stream *core_queue_pop_stream(struct handler_queue *queue);
void core_queue_unhandled(struct engine_core *core);
void core_queue_give_back(struct engine_core *core);
int64_t core_queue_due_ms(const struct engine_core *core);
void core_queue_release_all(struct engine_core *core);

/* run.c */
int core_running(const struct engine_core *core);
size_t core_run_ahead(const struct engine_core *core, enum engine_channel channel);
void core_run_learn(struct engine_core *core, const struct grant *grant);
void core_run_schedule(struct engine_core *core);
void core_slot_run(struct engine_core *core, int index);

/* slot.c */
/* The end of a message that a person cancelled. */
extern const struct engine_outcome core_asked_outcome;
int64_t core_keep_until_ms(const struct engine_core *core, const struct slot *slot);
int core_weight(const struct engine_core *core, enum engine_channel channel);
void core_slot_finished(struct engine_core *core, const struct engine_event *event);
void core_slot_progress(struct engine_core *core, const struct engine_event *event);
void core_slots_unbegin(struct engine_core *core);
int64_t core_slots_due_ms(const struct engine_core *core);
bool core_slots_full(const struct engine_core *core);
int64_t core_slots_full_ms(const struct engine_core *core);
void core_slot_cancel(struct engine_core *core, int slot, enum stop_reason reason);
void core_slot_cancel_stream(struct engine_core *core, const struct stream *stream, enum stop_reason reason);
void core_slots_timeout(struct engine_core *core);
void core_slots_ask(struct engine_core *core, const struct engine_event *event);

/* report.c */
const struct engine_handler *core_rules(const struct engine_core *core, const struct entry *entry);
void core_list_push(struct engine_core *core, struct entry_list *list, struct entry *entry);
void core_list_drop(struct engine_core *core, struct entry_list *list);
void core_list_send(struct engine_core *core, struct entry_list *pending, size_t count,
                    struct entry_list *sending);
int64_t core_report_retry_ms(struct engine_core *core, const struct entry *entry, int64_t asked_ms);
void core_report_done(struct engine_core *core, struct entry *entry);
void core_report_failed(struct engine_core *core, struct entry *entry, const struct engine_outcome *outcome);
void core_report_release(struct engine_core *core, struct entry *entry, int64_t delay_ms);
void core_report_error(struct engine_core *core, struct entry *entry, pawl_str error);
void core_report_answer(struct engine_core *core, const struct engine_event *event);
void core_report_answers(struct engine_core *core, const struct work_batch_result *result);
void core_report_forget(struct engine_core *core);
int core_report_status(enum store_kind kind);
struct fail_item core_report_fail_item(const struct engine_core *core, const struct entry *entry);
bool core_report_due(struct engine_core *core);
int64_t core_report_due_ms(const struct engine_core *core);

/* lease.c */
int64_t core_lease_ms(const struct engine_core *core, enum engine_channel channel);
void core_lease_renew_at(struct claim *claim, int64_t at_ms);
size_t core_lease_collect_jobs(struct engine_core *core);
void core_lease_answers_jobs(struct engine_core *core, const struct renew_result *result);
size_t core_lease_collect_streams(struct engine_core *core);
void core_lease_answers_streams(struct engine_core *core, const struct answer_list *answers);
void core_lease_untold(struct engine_core *core);
void core_lease_fence(struct engine_core *core);
void core_lease_collect(struct engine_core *core, enum store_kind kind);
void core_lease_answers(struct engine_core *core, const struct work_batch_result *result);
void core_lease_unpin(struct engine_core *core);
bool core_lease_renew_due(struct engine_core *core, enum engine_channel channel);
int64_t core_lease_renew_due_ms(const struct engine_core *core, enum engine_channel channel);
int64_t core_lease_fence_due_ms(const struct engine_core *core);
void core_instance_lease(struct engine_core *core, int64_t sent_ms, int64_t left_ms);
void core_stream_fence(struct engine_core *core, struct stream *stream, int64_t token);

/* batch.c */
bool core_batch_wanted(struct engine_core *core);
int64_t core_batch_due_ms(struct engine_core *core);
void core_batch_send(struct engine_core *core);
pawl_uuid core_request_key(struct engine_core *core);
void core_batch_polls(struct engine_core *core);
void core_batch_answered(struct engine_core *core, const struct engine_event *event);
void core_batch_begin(struct engine_core *core, struct work_batch *batch);
int core_batch_claim_wanted(const struct engine_core *core);
void core_batch_claim_fill(const struct engine_core *core, struct work_batch *batch, int wanted);
size_t core_batch_claimed(struct engine_core *core, const struct engine_event *event,
                          const struct work_batch *batch, int64_t sent_ms);
void core_batch_failed(struct engine_core *core, const struct engine_event *event, bool *resend);

/* side.c */
bool core_side_wanted(const struct engine_core *core);
bool core_side_open(const struct engine_core *core);
int64_t core_side_due_ms(const struct engine_core *core);
void core_side_send(struct engine_core *core);
void core_side_answered(struct engine_core *core, const struct engine_event *event);
void core_side_forget(struct engine_core *core);

/* jobs.c */
void core_jobs_pend(struct engine_core *core, struct entry *entry);
void core_jobs_wake(struct engine_core *core);
bool core_jobs_asked(const struct engine_core *core);
bool core_jobs_idle(const struct engine_core *core);
bool core_jobs_reported(const struct engine_core *core);
void core_jobs_decide(struct engine_core *core);
int64_t core_jobs_due_ms(struct engine_core *core);
void core_jobs_answered(struct engine_core *core, const struct engine_event *event);
void core_jobs_forget(struct engine_core *core);
void core_jobs_free(struct engine_core *core);

/* perspectives.c */
void core_perspectives_pend(struct engine_core *core, struct entry *entry, enum checkpoint_status status);
void core_perspectives_ended(struct engine_core *core, struct entry *entry,
                             const struct engine_outcome *outcome);
void core_perspectives_wake(struct engine_core *core);
bool core_perspectives_idle(const struct engine_core *core);
bool core_perspectives_reported(const struct engine_core *core);
void core_perspectives_decide(struct engine_core *core);
int64_t core_perspectives_due_ms(struct engine_core *core);
void core_perspectives_event(struct engine_core *core, const struct engine_event *event);
void core_perspectives_forget(struct engine_core *core);
void core_perspectives_free(struct engine_core *core);

/* known.c */
const struct grants_settle *core_known(struct engine_core *core, enum engine_channel channel);
void core_known_left(struct engine_core *core, const struct entry *entry);
void core_known_granted(struct engine_core *core, enum engine_channel channel, int64_t token);
void core_known_doubt(struct engine_core *core);
void core_known_settled(struct engine_core *core, enum engine_channel channel,
                        const struct grants_settled *answer);
void core_known_epoch(struct engine_core *core, int64_t epoch);

/* life.c */
void core_life_ready(struct engine_core *core, bool ready);
void core_life_registered(struct engine_core *core, const struct engine_event *event);
void core_life_beat(struct engine_core *core, const struct engine_event *event);
int64_t core_life_beat_ms(const struct engine_core *core);
bool core_life_idle(const struct engine_core *core);
void core_life_busy(struct engine_core *core);
void core_life_woken(struct engine_core *core);
void core_life_looked(struct engine_core *core, const struct engine_event *event);
void core_life_evicted(struct engine_core *core);
void core_life_failed(struct engine_core *core);
void core_life_decide(struct engine_core *core);
bool core_life_look_wanted(struct engine_core *core);
int64_t core_life_due_ms(const struct engine_core *core);

/* duty.c */
PAWL_MUSTCHECK bool core_duties_add(struct engine_core *core);
void core_duties_start(struct engine_core *core);
void core_duties_decide(struct engine_core *core);
void core_duties_leave(struct engine_core *core);
void core_duties_answered(struct engine_core *core, const struct engine_event *event);

static inline struct duty_state *core_duty(struct engine_core *core, enum engine_duty duty) {
    return &core->duties.items[duty];
}

/* wait.c */
void core_wait_decide(struct engine_core *core);
void core_wait_answered(struct engine_core *core, const struct engine_event *event);
void core_wait_forget(struct engine_core *core);
void core_wait_woken(struct engine_core *core, struct lane_name place);
bool core_wait_quiet(const struct engine_core *core);

/* stop.c */
void core_stop_begin(struct engine_core *core, bool now);
void core_stop_decide(struct engine_core *core);
void core_stop_deregistered(struct engine_core *core);

#endif
