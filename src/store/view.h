/* The view interface of the stores: read-only queries that never count the rows of a big table. */
#ifndef STORE_VIEW_H
#define STORE_VIEW_H

#include "base/buf.h"
#include "store/types.h"

struct store;
struct fleet_facts; /* fleet.h */

enum message_state {
    STATE_READY = 1, /* waiting for the owner of its lane */
    STATE_LEASED,    /* in an active claim */
    STATE_SCHEDULED, /* aside, first of its stream, waiting for its time or to be claimed */
    STATE_BLOCKED,   /* aside, waiting for an earlier message, or in a blocked stream */
    STATE_DEAD,
    STATE_DONE /* in the history */
};

/* Of the failed attempts of a message, the last so many are kept, for so long. */
enum { MESSAGE_ATTEMPTS_KEPT = 20, MESSAGE_ATTEMPTS_KEPT_DAYS = 30 };
#define MESSAGE_ATTEMPTS_KEPT_MS (MESSAGE_ATTEMPTS_KEPT_DAYS * INT64_C(86400000))

/* A failed attempt: its worker reported the failure, or was lost with it. */
struct attempt_row {
    int kind; /* enum store_kind */
    int number;
    int outcome;                     /* enum run_outcome */
    int64_t started_ms, finished_ms; /* from when it was granted */
    pawl_uuid instance;
    pawl_str error; /* absent when it was lost */
};

ROW_LIST(attempt_rows, struct attempt_row, rows);

/* One message in any state. Texts are absent (ptr NULL) where they do not apply. */
struct message_row {
    struct item item; /* token and lease_until_ms are set when leased */
    enum message_state state;
    pawl_uuid claimed_by; /* nil unless leased */
    int attempts;         /* failures so far */
    int64_t scheduled_ms; /* 0 unless scheduled */
    int reason;           /* enum aside_reason, or enum dead_reason when dead */
    pawl_str error;
    pawl_str fingerprint; /* dead only */
    int64_t ended_ms;     /* dead or done */
};

struct message_rows {
    struct message_row *rows;
    size_t count;
    int64_t next_seq; /* after_seq of the next page; 0 = that was all */
};

/* Filters are combined with AND; absent or 0 = any. Ordered by seq; after_seq is the keyset cursor. A page is
 * every matching message with after_seq < seq <= next_seq: it may end early, or even be empty, because the
 * number of rows examined is limited. */
struct message_filter {
    enum store_kind kind; /* 0 = any */
    int state;            /* enum message_state; 0 = any but done */
    pawl_str stream;
    pawl_str type;
    pawl_str topic;
    pawl_str fingerprint; /* dead only */
    int lane;             /* -1 = any */
    int64_t after_seq;
    int64_t before_ms; /* done and dead: ended before; 0 = any */
    int limit;
    int scan_max; /* about how many rows are examined; 0 = PAWL_LIST_SCAN */
};

ROW_LIST(uuid_list, pawl_uuid, ids);

struct instance_row {
    pawl_uuid id;
    pawl_str service, host, metadata;
    int pid, kinds;
    enum instance_state state;
    int64_t started_ms, beat_ms, lease_until_ms, beat_age_ms;
    int lanes[KIND_COUNT + 1];
    int claims;        /* active claim parts */
    int in_flight;     /* messages in them */
    int jobs;          /* that it has leased */
    int64_t processed; /* messages and jobs that ended with it since it started; its own count */
};

ROW_LIST(instance_rows, struct instance_row, rows);

struct lane_row {
    enum store_kind kind;
    int lane;
    pawl_uuid owner; /* nil = free */
    int64_t token, high, moves;
    bool draining;
    int claims, holds;
};

ROW_LIST(lane_rows, struct lane_row, rows);

struct dead_group {
    enum store_kind kind;
    pawl_str fingerprint;
    pawl_str sample_error;
    int64_t count, first_ms, last_ms;
};

ROW_LIST(dead_groups, struct dead_group, groups);

/* Gauges and counters of one kind, from the tally and the small tables. */
struct kind_counts {
    int64_t ready, leased, aside, dead;                               /* gauges */
    int64_t put, done, failed, stale, duplicate, redriven, discarded; /* counters */
    int64_t oldest_ready_ms; /* put_ms of the oldest waiting message of any lane; 0 = none */
    int64_t next_due_ms;     /* when the first message aside may run again; 0 = none waits for a time */
    int64_t claims_active, claims_overdue;
    int lanes_free;
};

/* What the database guarantees for an acknowledged commit. */
struct durability {
    pawl_str found; /* its settings, name=value */
    bool crash;     /* it survives a crash of the machine */
    bool failover;  /* no standby can take over without it */
};

struct counts {
    int64_t now_ms;
    struct kind_counts kind[KIND_COUNT + 1];
};

enum why_cause {
    WHY_UNKNOWN_MESSAGE = 0,
    WHY_RUNNING,      /* leased by `instance` until `until_ms` */
    WHY_LEASE_OVER,   /* leased, but the lease has expired: the next claim recovers it */
    WHY_READY,        /* its lane has a live owner: it is next or soon */
    WHY_NO_OWNER,     /* its lane has no owner */
    WHY_OWNER_SILENT, /* its lane's owner sends no heartbeats */
    WHY_DRAINING,     /* its lane is being handed over */
    WHY_BEHIND,       /* an earlier message of the stream (`blocker_*`) is unfinished */
    WHY_SCHEDULED,    /* waits until `until_ms` for its next attempt */
    WHY_SUSPECT,      /* its worker died: it runs alone, one at a time */
    WHY_BLOCKED,      /* its stream is blocked by dead letter `blocker_*` */
    WHY_DEAD,
    WHY_DONE,
    /* The following are found by view/why/pause.h, which also checks the pauses, not by a store. */
    WHY_PAUSED,   /* it, or the message it waits for, is paused */
    WHY_CANCELLED /* its holder ends it */
};

struct why {
    enum why_cause cause;
    struct message_row row; /* the message itself; row.state tells where it is */
    pawl_uuid instance;
    int64_t until_ms;
    int64_t now_ms;
    pawl_uuid blocker_id;
    int64_t blocker_seq;
    enum why_cause blocker_cause; /* one step further: why the blocker is not done */
    /* More than PAWL_WHY_AHEAD messages of its lane are ahead of it, and none of the first ones is of its
     * stream; the others were not examined. */
    bool many_ahead;
    /* The session whose open transaction has locked the lane, claim, stream or instance that it waits for;
     * absent if none has for a second, and on SQLite, where other processes' transactions cannot be seen. */
    pawl_str locked; /* lane, claim, stream, instance */
    int locked_pid;
    pawl_str locked_by;      /* the application_name, may be empty */
    int64_t locked_since_ms; /* 0: unknown */
};

struct violation {
    pawl_str invariant; /* name of the file */
    pawl_str detail;
};

ROW_LIST(violations, struct violation, rows);

struct checkpoint_row {
    pawl_str stream, perspective, error;
    int64_t version, token, updated_ms;
    enum checkpoint_status status;
    int attempts;
};

struct receptor_row {
    pawl_uuid event_id;
    pawl_str receptor, error;
    int status, attempts;
    int64_t updated_ms;
};

struct store_view_ops {
#define OPERATION(name, ...) pawl_status (*name)(struct store * store, __VA_ARGS__);
#include "store/operations/view.h"
#undef OPERATION
};

#endif
