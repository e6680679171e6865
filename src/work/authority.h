/* Checking agents: which scopes a job needs, and whether its agent has them. */
#ifndef WORK_AUTHORITY_H
#define WORK_AUTHORITY_H

#include "domain/pipeline/pipeline.h"
#include "domain/run/doc.h"
#include "work/pipeline/run.h"

/* The scopes that something needs, each once, in the arena. */
struct needs {
    struct arena *arena;
    struct tools *tools;
    struct stop_limit wait; /* time limit for asking MCP servers */
    pawl_str *scopes;
    size_t count, capacity;
};

/* "job:TYPE", "statement:NAME": a handler of that type, a registered statement. */
/* Those of its registration, else "tool:" and its name. PAWL_NOT_FOUND: there is no such tool. */
PAWL_MUSTCHECK pawl_status needs_tool(struct needs *needs, pawl_str uses, pawl_error *err);
PAWL_MUSTCHECK pawl_status needs_pipeline(struct needs *needs, const struct pipeline *pipeline,
                                          pawl_error *err);
/* The scopes for everything a run does: planning, fetching, storing, announcing, consolidating. */
PAWL_MUSTCHECK pawl_status needs_run(struct needs *needs, const struct run_doc *doc, pawl_error *err);

/* Checks a job's agent; if there is none, everything is allowed. PAWL_INVALID: the agent is gone, disabled,
 * or lacks a scope, which is named; in->refused is then set. */
struct needs authority_needs(const struct pipeline_run_in *in, struct arena *arena);
PAWL_MUSTCHECK pawl_status authority_check(const struct pipeline_run_in *in, const struct needs *needs,
                                           pawl_error *err);
/* The agent of a job and of the task or run it uses; either may be absent. PAWL_INVALID, refused: they
 * differ. */
PAWL_MUSTCHECK pawl_status authority_join(const struct pipeline_run_in *in, pawl_str other, const char *noun,
                                          pawl_str *agent, pawl_error *err);
/* A job that is enqueued, or that a handler is about to run; payload may be NULL. PAWL_NOT_FOUND: its task.
 */
PAWL_MUSTCHECK pawl_status authority_job(const struct pipeline_run_in *in, const struct job_new *job,
                                         const struct tree *payload, struct arena *arena, pawl_error *err);
/* What a job does for a run, as the run's document says. */
PAWL_MUSTCHECK pawl_status authority_run(const struct pipeline_run_in *in, const struct run_doc *doc,
                                         struct arena *arena, pawl_error *err);
/* Checks a tool call now, even if it was checked before. */
PAWL_MUSTCHECK pawl_status authority_call(const struct pipeline_run_in *in, const struct tool_call *call,
                                          struct arena *arena, struct tool_answer *answer, pawl_error *err);

#endif
