/* Starting, watching and controlling runs, and writing tools in C that fetch their pages. */
#ifndef PAWL_RUN_H
#define PAWL_RUN_H

#include "pawl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What to start. NULL means absent. */
typedef struct pawl_run_config {
    pawl_str document; /* docs/running-runs.md */
    bool yaml;         /* the document is YAML, else JSON */
    pawl_str params;   /* a JSON object; replaces the document's */
    pawl_str key;      /* a key is used by one run only, ever; replaces the document's */
    pawl_str traceparent;
} pawl_run_config;

enum { PAWL_RUN_KEY_BYTES = 129 };

typedef struct pawl_run_started {
    bool again;                   /* a run with this key already exists: nothing was written */
    int64_t run;                  /* 0: a job first asks a tool for the partitions; find the run by its key */
    char key[PAWL_RUN_KEY_BYTES]; /* the key to find it by */
} pawl_run_started;

/* PAWL_INVALID: err says where the document is wrong, and why. PAWL_UNKNOWN: start again with the same key.
 */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_run_start(pawl_store *store, const pawl_run_config *config,
                                                   pawl_run_started *started, pawl_error *err);

typedef enum pawl_run_state {
    PAWL_RUN_RUNNING = 1,
    PAWL_RUN_CONSOLIDATING,
    PAWL_RUN_NESTED,
    PAWL_RUN_IN_REPAIR,
    PAWL_RUN_COMPLETED,
    PAWL_RUN_FAILED,
    PAWL_RUN_CANCELLED
} pawl_run_state;

typedef struct pawl_run_status {
    int64_t run;
    pawl_run_state state;
    bool paused;
    int partitions, remaining, done, failed;
    int64_t items, pages;
    int64_t total;     /* number of items in the source; -1 = unknown */
    int permille;      /* progress */
    int64_t per_1000s; /* items per 1,000 seconds */
    int64_t eta_ms;    /* -1 = unknown */
    int64_t started_ms, ended_ms;
    char error[512]; /* if it failed */
} pawl_run_status;

/* Finds a run by number, or by key if run is 0. */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_run_show(pawl_store *store, int64_t run, pawl_str key,
                                                  pawl_run_status *status, pawl_error *err);

typedef enum pawl_run_action {
    PAWL_RUN_PAUSE = 1,
    PAWL_RUN_RESUME,
    PAWL_RUN_CANCEL,
    PAWL_RUN_RETRY /* every failed partition, or the failed consolidation */
} pawl_run_action;

/* PAWL_CONFLICT: it has ended, or there is nothing to do. */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_run_change(pawl_store *store, int64_t run, pawl_run_action action,
                                                    pawl_error *err);

/* One call to a tool; valid during the call. */
typedef struct pawl_tool_call {
    pawl_str name;
    pawl_str arguments;       /* a JSON object */
    pawl_str idempotency_key; /* the same for every retry of the same call */
    void *to;                 /* for pawl_tool_answer */
} pawl_tool_call;

/* Sets the tool's answer, JSON; copied. The last one counts; without one the answer is null. */
PAWL_API void pawl_tool_answer(const pawl_tool_call *call, pawl_str json);

/* Returns PAWL_OK on success; PAWL_INVALID, PAWL_NOT_FOUND or PAWL_CONFLICT if retrying will not help;
 * anything else if it may. May be called by several threads at once. */
typedef pawl_status (*pawl_tool_fn)(const pawl_tool_call *call, void *self, pawl_error *err);

/* Adds a tool for steps of pipelines and pages of runs (`uses: NAME`). Call it before the worker runs; the
 * worker must handle jobs. */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_worker_tool(pawl_worker *worker, const char *name,
                                                     pawl_tool_fn function, void *self, pawl_error *err);

#ifdef __cplusplus
}
#endif

#endif
