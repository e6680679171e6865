/* Loading a pipeline job: its document, its parameters, and the agent it runs as. */
#ifndef WORK_PIPELINE_JOB_H
#define WORK_PIPELINE_JOB_H

#include "domain/pipeline/pipeline.h"
#include "work/pipeline/run.h"

struct pipeline_job {
    const struct pipeline *pipeline;
    const struct tree *params; /* an object */
    const struct tree *env;    /* NAME → text, of the allowed names that are set */
    pawl_str agent;            /* the agent it runs as; its task's if it has none itself */
};

/* Reads the job's pipeline (its own, or its task's), checks it against the available tools and the scopes of
 * its agent. PAWL_INVALID and PAWL_NOT_FOUND: it can never run; anything else: try again. */
PAWL_MUSTCHECK pawl_status pipeline_job_read(const struct pipeline_run_in *in, struct arena *arena,
                                             struct pipeline_job *out, pawl_error *err);

/* Asks the servers of its tools in parallel, so that it takes no longer than the slowest one. */
PAWL_MUSTCHECK pawl_status pipeline_ask(struct tools *tools, const struct pipeline *pipeline,
                                        const struct stop_limit *wait, struct arena *arena, pawl_error *err);

/* The values of the variables that templates may use: an object of texts. */
PAWL_MUSTCHECK pawl_status pipeline_job_env(const struct pipeline_world_of_worker *world, struct arena *arena,
                                            const struct tree **env, pawl_error *err);

/* The same checks for a document that is about to be stored or enqueued; wait limits the time for asking MCP
 * servers. scopes (may be NULL) receives what its tools require, each once, as a JSON array in the arena. */
struct pipeline_check_in {
    struct tools *tools;
    const struct pipeline *pipeline;
    const struct tree *params; /* NULL = not known yet: only what does not depend on them is checked */
    const char *const *env;
    size_t env_count;
    bool env_any; /* only the worker knows the variables */
    struct stop_limit wait;
};
PAWL_MUSTCHECK pawl_status pipeline_job_check(const struct pipeline_check_in *in, struct arena *arena,
                                              pawl_str *scopes, pawl_error *err);

/* The task of that name as the store has it now: one, or none. */
PAWL_MUSTCHECK pawl_status pipeline_task_read(const struct pipeline_run_in *in, pawl_str name,
                                              struct arena *arena, struct task_list *tasks, pawl_error *err);

/* Whether a job with its own pipeline could run; tools are not checked. */
PAWL_MUSTCHECK pawl_status pipeline_payload_check(const struct tree *payload, struct arena *arena,
                                                  pawl_error *err);

/* Whether a job of a task could run with these parameters (absent: the task's own); tools are not checked. A
 * task that does not exist, or that the caller may not read, is not an error here. */
PAWL_MUSTCHECK pawl_status pipeline_task_check(struct store *store, pawl_str name, pawl_str params,
                                               struct arena *arena, pawl_error *err);

#endif
