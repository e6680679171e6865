/* The runs interface of the stores: partitions read page by page, and a fan-in (docs/runs.md). */
#ifndef STORE_RUNS_H
#define STORE_RUNS_H

#include "store/jobs.h"

/* Set by the store on the jobs of a run (pages, consolidation), so that their end also affects the run;
 * enqueue refuses it. */
enum { JOB_RUN = 4 };

enum run_state {
    RUN_IS_RUNNING = 1,
    RUN_IS_CONSOLIDATING, /* no partition is open; its job is in flight */
    RUN_IS_NESTED,        /* consolidated; children are open */
    RUN_IS_IN_REPAIR,     /* policy wait: no partition is open, some failed */
    RUN_IS_COMPLETED,
    RUN_IS_FAILED, /* ended with a failure; retry and reset reopen it */
    RUN_IS_CANCELLED
};

enum part_state { PART_ACTIVE = 1, PART_DONE, PART_FAILED, PART_CANCELLED };

/* When a page is the last one of its partition. */
enum end_rule {
    END_HANDLER = 1, /* the handler says so (page_commit.more) */
    END_SHORT_PAGE   /* a page with fewer items than asked for, unless the handler says otherwise */
};

/* What to do when no partition is open and some failed. */
enum failed_policy {
    FAILED_SKIP = 1, /* no consolidation, the run has failed */
    FAILED_PARTIAL,  /* consolidate the partial result */
    FAILED_WAIT      /* stay open for repair */
};

/* One partition of a run as it starts. */
struct partition_new {
    pawl_str name;     /* unique in its run, at most PAWL_PARTITION_NAME_BYTES_MAX */
    pawl_str params;   /* JSON for the handler; absent: {} */
    bool bounded;      /* low and high are meant; bounded partitions of a run must not overlap */
    int64_t low, high; /* low included, high not */
    int64_t total;     /* records expected; -1 = unknown */
    int64_t offset;    /* where it begins */
    pawl_str cursor;   /* JSON; absent: none */
};

struct run_start {
    pawl_str name;
    pawl_str key;         /* unique forever: the same key again answers duplicate; absent: generated */
    pawl_str type;        /* of the page jobs; required */
    pawl_str consolidate; /* type of the consolidation job; absent: none, the run completes without one */
    pawl_str announce; /* type of a job for each partition that is done or failed (work_done); absent: none */
    pawl_str params;   /* JSON for the handlers; absent: {} */
    pawl_str spec;     /* JSON of the run document, opaque to the store; absent: {} */
    pawl_str target;   /* name of a statement of target_put; absent: run_item */
    pawl_str agent;    /* the agent of its jobs; a parent's takes precedence; absent: none */
    pawl_str queue;    /* of its jobs; absent: "default" */
    pawl_str traceparent; /* given to all its jobs; may be absent */
    pawl_str wait_key;    /* woken when the run ends (jobs.h, JOB_WAIT); may be absent */
    int64_t parent;       /* 0 = none */
    int page_size;        /* 0 = PAWL_PAGE_SIZE_DEFAULT */
    int concurrency;      /* pages at once in the whole fleet; 0 = no limit */
    int rate;             /* pages started per rate_ms; 0 = no limit */
    int64_t rate_ms;
    bool paced;          /* its pages are keyed even without limits, so that pace() can slow it down */
    int64_t deadline_ms; /* timeout of one page; 0 = PAWL_PAGE_DEADLINE_MS_DEFAULT */
    int max_attempts;    /* of a page and of the consolidation; 0 = PAWL_PAGE_ATTEMPTS_DEFAULT */
    int priority;
    int flags;                 /* JOB_AUDIT, JOB_EVENTS */
    enum end_rule end;         /* 0 = END_HANDLER */
    enum failed_policy policy; /* 0 = FAILED_SKIP */
    const struct partition_new *partitions;
    size_t count; /* 0 … PAWL_PARTITIONS_PER_RUN_MAX */
};

struct run_started {
    enum store_answer answer; /* applied; duplicate (id: the run that has the key); not found (parent,
                                 target); conflict (the parent has ended) */
    int64_t id;
};

/* Which page: the numbers at the front of a page job's payload. */
struct page_ref {
    pawl_uuid instance;
    struct job_ref job; /* as granted */
    int64_t run;
    int part;       /* its place in the list of partitions, from 0 */
    int generation; /* grows with reset and retry */
    int64_t page;   /* from 0 after a reset; a retry continues counting */
};

enum page_outcome {
    PAGE_ADVANCED = 1, /* begin: fetch it */
    PAGE_FINISHED,
    PAGE_SKIPPED, /* nothing changed; the job is completed */
    PAGE_FAILED   /* an endless loop: nothing stored, the job is dead, the partition failed */
};

enum page_skip {
    PAGE_NOT_SKIPPED = 0,
    PAGE_BEHIND,         /* the partition is past it: a duplicate */
    PAGE_AHEAD,          /* the partition is not there yet */
    PAGE_OLD_GENERATION, /* from before a reset or a retry */
    PAGE_PARTITION_DONE,
    PAGE_RUN_OVER, /* cancelled, consolidating, ended */
    PAGE_PAUSED,   /* only begin: resume enqueues it again */
    PAGE_UNKNOWN   /* no such run or partition */
};

/* What a handler needs to fetch a page. */
struct page {
    enum store_answer answer; /* applied, duplicate (reported before), stale (the grant has ended) */
    enum page_outcome outcome;
    enum page_skip skip;
    pawl_str run_key, run_name, run_params, spec;
    pawl_str partition, params, cursor, traceparent, agent; /* agent: of the run */
    bool bounded;
    int64_t low, high, total, offset;
    int64_t next_offset; /* skipped: where the partition is */
    int64_t deadline_ms;
    int limit; /* page size */
    enum end_rule end;
};

struct run_item {
    pawl_str key;     /* required, at most PAWL_ITEM_KEY_BYTES_MAX */
    pawl_str payload; /* JSON; absent: null */
};

enum page_more { MORE_BY_RULE = 0, MORE_YES, MORE_NO };

struct page_commit {
    struct page_ref ref;
    const struct run_item *items; /* of items with the same key, the last wins */
    size_t count;                 /* at most the run's page size */
    enum page_more more;          /* MORE_BY_RULE with END_HANDLER: a cursor means more, none means the end */
    pawl_str cursor;              /* of the next page, JSON; absent: by offset */
    int64_t fetch_ms;             /* duration of the handler */
};

struct page_result {
    enum store_answer answer; /* applied, duplicate (this token has reported it), stale */
    enum page_outcome outcome;
    enum page_skip skip;
    int64_t next_offset; /* where the partition is now */
    int64_t next_job;    /* 0 = none */
    bool last;           /* this was the run's last open partition */
    pawl_str error;      /* PAGE_FAILED */
};

struct run_row {
    int64_t id;
    pawl_str key, name, type, consolidate, announce, params, spec, target, queue, traceparent, wait_key,
        error, agent;
    enum run_state state;
    bool paused, paced; /* paced: its pages are keyed */
    bool consolidated;
    int64_t parent;
    int children_open, children_failed;
    int page_size, concurrency, rate, max_attempts, priority, flags,
        round; /* round: consolidations started */
    int64_t rate_ms, deadline_ms;
    enum end_rule end;
    enum failed_policy policy;
    int partitions, remaining, done, failed;
    int64_t started_ms, updated_ms, ended_ms; /* updated: of its most recently updated partition */
    int64_t job;                              /* the consolidation's; 0 = none */
    /* sums over its partitions */
    int64_t total; /* -1: of some it is unknown */
    int64_t items, repeats, pages, skipped, fetch_ms, fetch_ms_max, slow;
};

struct run_list {
    struct run_row *runs; /* by id, newest first */
    size_t count;
    int64_t now_ms;
};

/* AND; absent or 0 = any. */
struct runs_filter {
    int64_t id;
    pawl_str key, name;
    int state; /* enum run_state */
    bool open; /* only those that have not ended */
    int64_t parent;
    int64_t before_id; /* keyset cursor; 0 = from the newest */
    int limit;
};

struct partition_row {
    int64_t run;
    int part;
    pawl_str name, params, cursor, error;
    enum part_state state;
    bool paused, bounded;
    int64_t low, high, total, offset; /* offset: where the next page begins */
    int generation;
    int64_t page;           /* the next one */
    int64_t job;            /* that will fetch it; 0 = none */
    int64_t items, repeats; /* returned by the handler in this generation; keys named twice in one page */
    int64_t pages, skipped;
    int64_t fetch_ms, fetch_ms_max, fetch_ms_last, slow; /* slow: pages that took longer than the deadline */
    int64_t started_ms, updated_ms, ended_ms;
};

struct partition_list {
    struct partition_row *partitions; /* by (run, part) */
    size_t count;
    int64_t now_ms;
};

struct partitions_filter {
    int64_t run; /* 0 = of every run */
    pawl_str name;
    int state;         /* enum part_state; 0 = any */
    int64_t quiet_ms;  /* stuck: active, not paused, and not updated for this long; 0 = any */
    int64_t after_run; /* keyset cursor, with after_part; -1 and -1 = from the first */
    int after_part;
    int limit;
};

struct items_filter {
    int64_t run;
    int part; /* -1 = any */
    pawl_str after_key;
    int limit;
};

struct stored_item {
    int part;
    pawl_str key, payload;
};

ROW_LIST(stored_items, struct stored_item, items); /* by key, bytewise */

struct partition_reset {
    int64_t run;
    int part;
    int64_t offset;
    pawl_str cursor; /* absent: none */
};

struct run_retry {
    int64_t run;
    int part; /* -1: every failed partition, or the consolidation if that failed */
};

struct run_retried {
    enum store_answer answer; /* applied, not found, conflict (nothing to retry, or the run is past it) */
    int count;                /* partitions, or 1 for the consolidation */
};

/* How an adaptive worker changes the pace of the whole fleet. */
struct run_pace {
    int64_t run;
    int concurrency; /* -1 = leave it */
    int rate;        /* pages started per rate_ms from now on; -1 = leave it */
    int64_t rate_ms;
    int64_t hold_ms; /* no page starts before now + hold_ms (Retry-After); 0 = no hold */
};

/* A statement that stores the items of a page in a user's table. It has one parameter, a JSON array of
 * {"run","partition","key","payload"}. */
struct run_target {
    pawl_str name;
    pawl_str sql;
    int64_t updated_ms;
};

ROW_LIST(run_targets, struct run_target, targets); /* by name */

struct runs_maintain_result {
    int64_t runs_removed, items_removed;
};

/* As core.h: every slot is filled by every store, one transaction each, results in the arena. */
struct store_runs_ops {
#define OPERATION(name, ...) pawl_status (*name)(struct store * store, __VA_ARGS__);
#include "store/operations/runs.h"
#undef OPERATION
};

#endif
