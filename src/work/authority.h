/* Whether the agent of a job may do what the job does: which scopes that needs, and whether it has them. */
#ifndef WORK_AUTHORITY_H
#define WORK_AUTHORITY_H

#include "domain/pipeline/pipeline.h"
#include "domain/run/doc.h"
#include "work/pipeline/run.h"

/* The scopes that something needs, each once, in the arena. */
struct needs {
    struct arena *arena;
    struct tools *tools;
    struct tool_wait wait; /* bounds asking MCP servers */
    pawl_str *scopes;
    size_t count, capacity;
};

/* "job:TYPE", "statement:NAME": a handler of that type, a registered statement. */
/* Those of its registration, else "tool:" and its name. PAWL_NOT_FOUND: there is no such tool. */
PAWL_MUSTCHECK pawl_status needs_tool(struct needs *needs, pawl_str uses, pawl_error *err);
PAWL_MUSTCHECK pawl_status needs_pipeline(struct needs *needs, const struct pipeline *pipeline,
                                          pawl_error *err);
/* Everything the run can do: planning, fetching, storing, announcing, consolidating. */
PAWL_MUSTCHECK pawl_status needs_run(struct needs *needs, const struct run_doc *doc, pawl_error *err);

/* For the work of a job, whose agent may be absent: then everything is allowed. PAWL_INVALID: the agent is
 * gone, disabled, or lacks a scope, which is named; in->refused says so too. */
struct needs authority_needs(const struct pipeline_run_in *in, struct arena *arena);
PAWL_MUSTCHECK pawl_status authority_check(const struct pipeline_run_in *in, const struct needs *needs,
                                           pawl_error *err);
/* The one agent of a job and of the task or run it uses; either may be absent. PAWL_INVALID, refused: they
 * are different ones. */
PAWL_MUSTCHECK pawl_status authority_join(const struct pipeline_run_in *in, pawl_str other, const char *noun,
                                          pawl_str *agent, pawl_error *err);
/* A job that is enqueued, or that a handler is about to run; payload may be NULL. PAWL_NOT_FOUND: its task.
 */
PAWL_MUSTCHECK pawl_status authority_job(const struct pipeline_run_in *in, const struct job_new *job,
                                         const struct tree *payload, struct arena *arena, pawl_error *err);
/* A call of a tool: checked now, whatever was checked before. */
PAWL_MUSTCHECK pawl_status authority_call(const struct pipeline_run_in *in, const struct tool_call *call,
                                          struct arena *arena, struct tool_answer *answer, pawl_error *err);

#endif
