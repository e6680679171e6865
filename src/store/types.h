/* The values that cross the seam: what store operations take and give. */
#ifndef STORE_TYPES_H
#define STORE_TYPES_H

#include "base/arena.h"
#include "domain/series.h"
#include "pawl.h"

enum store_kind { KIND_OUTBOX = 1, KIND_INBOX = 2, KIND_PERSPECTIVE = 3, KIND_COUNT = 3 };

/* Bit of a kind in instance_new.kinds. */
#define KIND_BIT(kind) (1 << (kind))
#define KIND_BITS_ALL (KIND_BIT(KIND_OUTBOX) | KIND_BIT(KIND_INBOX) | KIND_BIT(KIND_PERSPECTIVE))

/* A list of rows, as operations give it: the struct, the type of a row, the member that points to them. */
#define ROW_LIST(list, row, member)                                                                          \
    struct list {                                                                                            \
        row *member;                                                                                         \
        size_t count;                                                                                        \
    }

/*
 * An operation whose answer is the rows of one statement: its parameters in parentheses, its name in errors,
 * the statement (of the same name in each dialect), the status of the check, the shape of a row, where the
 * rows go, and what the statement is sent. The functions of both stores come from it (operations/lists.h).
 */
#define LISTS_PARAMS(...) __VA_ARGS__
#define LISTS(name, params, ...) OPERATION(name, LISTS_PARAMS params)

/* What happened to one item of a call; the other items are not affected by it. */
enum store_answer {
    ANSWER_APPLIED = 1,
    ANSWER_DUPLICATE, /* it had happened before */
    ANSWER_STALE,     /* the grant has ended */
    ANSWER_CONFLICT,  /* it would break the stream's order, or the id is known with another payload */
    ANSWER_INVALID,   /* the item itself is wrong */
    ANSWER_NOT_FOUND,
    ANSWER_REFUSED /* an agent lacks a scope */
};

/* What fail() decided for an applied item. */
enum fail_outcome { FAIL_NONE = 0, FAIL_RETRY, FAIL_DEAD };

/* What a stream does when one of its messages becomes a dead letter; 0 = the schema's default. */
enum dead_policy { POLICY_DEFAULT = 0, POLICY_BLOCK, POLICY_SKIP, POLICY_PARK };

enum dead_reason { DEAD_ATTEMPTS = 1, DEAD_PERMANENT, DEAD_KILLED, DEAD_PARKED, DEAD_CANCELLED };
enum aside_reason { ASIDE_FAILED = 1, ASIDE_BEHIND, ASIDE_EXPIRED, ASIDE_RELEASED, ASIDE_REDRIVEN };
enum hold_state { HOLD_WAITING = 1, HOLD_BLOCKED, HOLD_PARKED };
enum claim_state { CLAIM_ACTIVE = 1, CLAIM_DONE, CLAIM_EXPIRED, CLAIM_EVICTED };
/* Where the messages of a claim are. */
enum part_source { SOURCE_MESSAGE = 1, SOURCE_ASIDE };
/* Of a claim: of no suspect, of one that waits to begin, of one that has begun. */
enum suspect_state { SUSPECT_NO = 0, SUSPECT_GRANTED, SUSPECT_BEGUN };
enum instance_state { INSTANCE_ACTIVE = 1, INSTANCE_EVICTED };

/* Bits of batch.flags. */
enum batch_flags {
    BATCH_NONE = 0,
    BATCH_SKIP_CLAIM = 1, /* write only, claim nothing */
    BATCH_DEBUG = 2,      /* completed messages stay readable in the history, with their payload */
    BATCH_LANES = 4       /* list the lanes that the instance owns at the end */
};

struct messages_put {
    enum store_kind kind;
    const pawl_outgoing *messages; /* those without an id get one, in put_result.ids */
    size_t count;
    pawl_str consumer;        /* inbox only: the consumer that deduplicates; required there */
    pawl_uuid request;        /* nil = none */
    size_t payload_bytes_max; /* 0 = PAWL_PAYLOAD_BYTES_DEFAULT */
};

struct put_result {
    enum store_answer *answers; /* count of the call */
    pawl_uuid *ids;
};

/* One granted message. */
struct item {
    int64_t token;
    int64_t lease_until_ms;
    int64_t seq;
    enum store_kind kind;
    int lane;
    int partition;
    pawl_uuid id;
    pawl_str stream;
    pawl_str topic;
    pawl_str type;
    pawl_str payload;
    pawl_str headers;
    pawl_uuid correlation_id;
    pawl_uuid causation_id;
    pawl_str traceparent;
    pawl_str consumer;
    int64_t put_ms;
    int attempt;
    int deaths;
    bool out_of_order;
    bool suspect; /* its worker may have died of it: it is granted alone, and renewed before it begins */
};

/* The message as it was put. */
pawl_outgoing message_again(const struct item *item);

ROW_LIST(item_list, struct item, items); /* per claim together, in seq order inside a claim */

/* A lane of a kind; kind 0: of none in particular. */
struct lane_name {
    int kind, lane;
};

struct messages_claim {
    pawl_uuid instance;
    enum store_kind kind;
    int max;          /* 1 … PAWL_BATCH_MAX */
    int64_t lease_ms; /* PAWL_LEASE_MS_MIN … MAX */
    enum dead_policy policy;
    int max_attempts;  /* 0 = the schema's default */
    pawl_uuid request; /* nil = none */
    bool one_lane;     /* only from this lane: the quick call of a worker that knows where work arrived */
    int lane;
};

struct item_ref {
    int64_t token;
    pawl_uuid id;
};

struct complete_item {
    struct item_ref ref;
    int status; /* bits of enum work_status; must have Published or Completed and not Failed */
};

struct messages_complete {
    pawl_uuid instance;
    enum store_kind kind;
    const struct complete_item *items;
    size_t count;
    bool debug;
};

/* Cancelled, of messages only: the store writes who wanted it and why, from the pause that says so. */
enum error_class_in { CLASS_RETRYABLE = 1, CLASS_PERMANENT, CLASS_CANCELLED };

struct fail_item {
    struct item_ref ref;
    pawl_str error; /* cut to PAWL_ERROR_BYTES_MAX */
    pawl_str stack; /* may be absent; kept after the error text and a newline */
    enum error_class_in error_class;
    int64_t delay_ms;        /* -1 = backoff of domain/retry.h with jitter */
    enum dead_policy policy; /* POLICY_DEFAULT = the claim's */
    int max_attempts;        /* 0 = the claim's */
};

struct messages_fail {
    pawl_uuid instance;
    enum store_kind kind;
    const struct fail_item *items;
    size_t count;
};

struct release_item {
    struct item_ref ref;
    int64_t delay_ms;
    /* The pause of a handler that it is given back for: it waits until that is resumed, and for delay_ms when
     * it has been by now. Absent: none. */
    pawl_str handler;
};

struct messages_release {
    pawl_uuid instance;
    enum store_kind kind;
    const struct release_item *items;
    size_t count;
};

/* ref.id nil = the whole token. */
struct messages_renew {
    pawl_uuid instance;
    enum store_kind kind;
    const struct item_ref *items;
    size_t count;
    int64_t lease_ms;
};

/* One answer per item of the call, in its order. */
struct answer_list {
    enum store_answer *answers;
    enum fail_outcome *outcomes; /* fail only, else NULL */
    size_t count;
};

struct instance_new {
    pawl_uuid id;
    pawl_str service;
    pawl_str host;
    int pid;
    pawl_str metadata;   /* JSON, may be absent */
    int kinds;           /* KIND_BIT()s; 0 = producer and observer only */
    int64_t lease_ms;    /* 0 = the schema's default */
    int max_partitions;  /* 0 = no cap */
    int partition_count; /* 0 = whatever the schema has; else must be equal */
    int slots; /* how many messages it works on at once, in the order of the grant; 0 = it does not say */
};

struct instance_grant {
    int64_t now_ms;
    int64_t lease_until_ms;
    int64_t epoch;
    int lanes_owned; /* over all its kinds */
};

struct beat_result {
    int64_t now_ms;
    int64_t lease_until_ms;
    int lanes_owned[KIND_COUNT + 1]; /* by kind, draining ones included */
    int lanes_taken;
    int lanes_given; /* freed or set draining by this call */
    int evicted;     /* silent peers evicted by this call */
    int64_t pauses;  /* rows of pauses there are; only a heartbeat counts them, and the next */
    int64_t others;  /* active instances besides this one */
};

/* Whose grants: each holder of an instance answers for its own. */
enum grant_side {
    GRANTS_MESSAGES = 1,
    GRANTS_JOBS,
    GRANTS_CHECKPOINTS,
    GRANTS_SIDE_LAST = GRANTS_CHECKPOINTS
};

/* Something that was granted and has not ended. */
struct grant_held {
    int64_t token;
    int64_t number; /* seq of a message, id of a job; of a checkpoint 0: the token says it */
};

/* What a holder knows of its grants. */
struct grants_settle {
    pawl_uuid instance;
    enum grant_side side;
    const struct grant_held *held;
    size_t count;
    int64_t settled; /* every grant up to this token that the holder does not list is unknown to it */
    int64_t seen;    /* the highest token that it ever got; 0 = none */
};

struct grants_settled {
    int64_t released; /* messages, jobs or checkpoints that were given back */
    int64_t newest;   /* the highest token among the side's grants that are left; 0 = none */
    int64_t epoch;
};

struct peers_look {
    int evicted;
    bool rebalance_wanted; /* a lane is free that the caller would take */
    int64_t believe_ms;    /* until the first peer whose lock is gone counts as dead; -1 = no lock is gone */
};

struct receptor_report {
    pawl_uuid event_id;
    pawl_str receptor;
    int status;     /* bits of enum work_status */
    pawl_str error; /* absent = completion */
};

/* Perspective checkpoint report: only the checkpoint is touched. */
enum checkpoint_status {
    CHECKPOINT_PENDING = 0,
    CHECKPOINT_PROCESSING,
    CHECKPOINT_COMPLETED,
    CHECKPOINT_FAILED
};

/* The delay of a failure that no attempt can mend. */
enum { CHECKPOINT_GIVE_UP = -1 };

struct checkpoint_report {
    pawl_str stream;
    pawl_str perspective;
    int64_t version; /* applied through; forward only */
    int64_t token;   /* of the grant that holds: else stale */
    enum checkpoint_status status;
    pawl_str error;   /* CHECKPOINT_FAILED only */
    int64_t delay_ms; /* FAILED: until the next attempt; 0 = the backoff, CHECKPOINT_GIVE_UP = never; PENDING:
                         until it is due, without an attempt */
};

struct checkpoints_report {
    pawl_uuid instance; /* to whom they were granted */
    const struct checkpoint_report *reports;
    size_t count;
};

struct checkpoint_grant {
    pawl_str stream, perspective;
    int64_t version; /* applied through */
    int64_t head;    /* of the stream */
    int64_t token, lease_until_ms;
    int64_t replay_to; /* events up to here are a replay */
    int attempt;       /* from 1 */
};

struct checkpoint_grants {
    struct checkpoint_grant *grants;
    size_t count;
    pawl_str *busy; /* streams that another caller has locked: give their messages back with a delay */
    size_t busy_count;
};

struct checkpoint_ref {
    pawl_str stream, perspective;
    int64_t token;
};

/* The steps of a batch, in this order; any array may be empty. */
struct work_batch {
    struct instance_new instance; /* registered when unknown, else beaten when its beat is 1 s old or more */
    const struct complete_item *completions[KIND_COUNT + 1]; /* by kind; index 0 unused */
    size_t completion_count[KIND_COUNT + 1];
    const struct fail_item *failures[KIND_COUNT + 1];
    size_t failure_count[KIND_COUNT + 1];
    const struct release_item *releases[KIND_COUNT + 1];
    size_t release_count[KIND_COUNT + 1];
    const struct item_ref *renewals[KIND_COUNT + 1];
    size_t renewal_count[KIND_COUNT + 1];
    const pawl_outgoing *messages[KIND_COUNT + 1]; /* new outbox and inbox messages */
    size_t message_count[KIND_COUNT + 1];
    pawl_str consumer; /* for new inbox messages; absent = the service */
    const struct receptor_report *receptors;
    size_t receptor_count;
    const struct checkpoint_report *checkpoints;
    size_t checkpoint_count;
    const struct checkpoint_ref *checkpoint_renewals; /* before the reports */
    size_t checkpoint_renewal_count;
    int checkpoint_max; /* checkpoints that are granted, after the claims; 0 = none. Messages that say "look
                           at this stream" are seen to: do not claim KIND_PERSPECTIVE beside it */
    const pawl_str *perspectives; /* keys that the caller can run; count 0 = all that are fed */
    size_t perspective_count;
    int claim_max[KIND_COUNT + 1]; /* 0 = claim nothing of the kind */
    struct lane_name only;         /* a claim of this lane and nothing else: see store_batch */
    int64_t lease_ms;
    int max_attempts;
    enum dead_policy policy;
    int flags;
    pawl_uuid request; /* nil = none */
};

struct work_batch_result {
    int64_t now_ms;
    int64_t lease_until_ms; /* of the instance */
    struct answer_list completed[KIND_COUNT + 1];
    struct answer_list failed[KIND_COUNT + 1];
    struct answer_list released[KIND_COUNT + 1];
    struct answer_list renewed[KIND_COUNT + 1];
    struct put_result put[KIND_COUNT + 1];
    struct answer_list receptors;
    struct answer_list checkpoints, checkpoint_renewals;
    struct checkpoint_grants granted;
    struct item_list claimed[KIND_COUNT + 1];
    int *lanes[KIND_COUNT +
               1]; /* with BATCH_LANES: owned, ascending; partition p belongs to lane p % lane_count */
    size_t lane_count[KIND_COUNT + 1];
};

struct dead_ref {
    enum store_kind kind;
    int64_t seq;
};

struct maintain_in {
    pawl_uuid caller; /* never removed by this call; nil = none */
    int rows_max;     /* bound of each deletion, e.g. 10,000 */
};

struct maintain_result {
    int64_t instances_removed, tombstones_removed, dedupe_removed, requests_removed, claims_removed,
        history_removed, receptors_removed, claims_expired, tally_folded;
};

/* Schema-wide settings that may be changed; -1 / NULL = leave as it is. */
struct settings_change {
    int64_t instance_lease_ms, stale_ms, dedupe_ms, history_ms, test_now_ms; /* test_now_ms 0 = real clock */
    int max_attempts;
    int dead_policy;
};

/* Why the epoch was raised last. */
enum epoch_cause {
    EPOCH_FIRST = 0, /* it never was */
    EPOCH_ASKED,     /* by epoch_raise */
    EPOCH_TIMELINE,  /* the server was promoted, or recovered to a point in time */
    EPOCH_COPY,      /* another cluster, or another file: a copy or a restore */
    EPOCH_WENT_BACK, /* a worker has seen tokens that the store does not know: it lost commits */
    EPOCH_CAUSE_LAST = EPOCH_WENT_BACK
};

struct settings {
    int partition_count, lane_count, max_attempts, dead_policy, schema_version;
    int epoch_cause;  /* enum epoch_cause */
    int64_t epoch_ms; /* when that was; 0 = never */
    int64_t epoch, instance_lease_ms, stale_ms, dedupe_ms, history_ms, test_now_ms;
};

/* The sums of what all workers have counted, by measure, kind, result, bucket. */
ROW_LIST(rollup_cells, struct rollup_cell, cells);

/* What a worker adds: the cells, and the points that they and others are in. */
struct rollups_new {
    const struct rollup_cell *cells;
    size_t count;
    const struct series_point *points;
    size_t point_count;
};

/* Which points; a field that is not set takes any. */
struct series_ask {
    int scope;              /* enum series_scope; 0 = any */
    int kind;               /* enum rollup_kind; 0 = any */
    pawl_str name;          /* absent = any */
    int64_t from_ms, to_ms; /* from is included */
    int64_t step_ms;        /* each step begins at a multiple of it */
};

/* The sums of one step of a series, and the highest of its gauges; -1 = nobody looked. */
struct series_row {
    int scope, kind;
    pawl_str name;
    int64_t at_ms; /* -1: no step, but what was seen last; the first row of each series */
    int64_t ready, dead, oldest_age_ms;
    int64_t done, failed;
    int64_t handle[ROLLUP_BUCKETS], wait[ROLLUP_BUCKETS];
};

ROW_LIST(series_rows, struct series_row, rows); /* by scope, kind, name, time */

#endif
