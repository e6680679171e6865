/* Starting a run from its document, or enqueueing the job that plans it, and checking before whether it could
 * work. */
#ifndef WORK_RUN_START_H
#define WORK_RUN_START_H

#include "domain/run/doc.h"
#include "handler/tools/tools.h"
#include "store/store.h"

#define RUN_PAGE_TYPE "pawl.page"               /* jobs that are pages */
#define RUN_CONSOLIDATE_TYPE "pawl.consolidate" /* the job after the last partition */
#define RUN_PLAN_TYPE "pawl.plan"               /* asks a tool for the partitions, then starts the run */

struct run_begin {
    const struct run_doc *doc;
    const struct run_parts *parts; /* NULL = as the document says; required when a tool plans */
    const struct tree *params;     /* an object instead of the document's; NULL = the document's */
    pawl_str key;                  /* instead of the document's; absent = the document's, or a new one */
    pawl_str wait_key, traceparent;
    pawl_str agent;      /* the agent it runs as; absent: none, or the parent's */
    int64_t parent;      /* 0 = none */
    struct tools *tools; /* to check it against; NULL = unknown here, or already checked */
    struct stop_limit wait;
};

struct run_begun {
    bool again;       /* a run with this key exists: nothing was written */
    int64_t run;      /* 0 = not yet: it starts when plan_job has called the tool */
    int64_t plan_job; /* 0 = none */
    pawl_str key;     /* the key to find it by */
};

/* Checks it (run_check) and starts it, or enqueues the job that plans it first. Texts in the arena.
 * PAWL_NOT_FOUND: there is no such tool or statement. */
PAWL_MUSTCHECK pawl_status run_begin(struct store *store, const struct run_begin *in, struct arena *arena,
                                     struct run_begun *out, pawl_error *err);

/* The same with the store that the jobs of a worker share. */
struct shared_store;
PAWL_MUSTCHECK pawl_status run_begin_shared(struct shared_store *shared, const struct run_begin *in,
                                            struct arena *arena, struct run_begun *out, pawl_error *err);

/* Asks the planning tool for the partitions. Statuses as tools_call. */
struct run_plan_ask {
    struct tools *tools;
    const struct run_doc *doc;
    const struct tree *params, *env; /* env may be NULL */
    pawl_str key;
    const stop_flag *cancel; /* may be NULL */
    void *context;           /* as tool_call */
    atomic_llong *not_started_ms;
};
PAWL_MUSTCHECK pawl_status run_plan_call(const struct run_plan_ask *in, struct arena *arena,
                                         struct run_parts *parts, pawl_error *err);

/* check.c: the tools, statements, templates and arguments of a run. */
struct run_check {
    const struct run_doc *doc;
    const struct tree *params;     /* NULL = the document's */
    const struct run_parts *parts; /* NULL = not known yet */
    struct tools *tools;           /* NULL = only the worker knows them */
    struct stop_limit wait;        /* time limit for asking MCP servers */
    struct store *store;           /* NULL = its statements are not checked */
};

/* PAWL_INVALID, PAWL_NOT_FOUND: it can never work; the error says what and where. */
PAWL_MUSTCHECK pawl_status run_check(const struct run_check *in, struct arena *arena, pawl_error *err);

#endif
