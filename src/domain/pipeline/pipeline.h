/* Pipelines: reading and checking a document of steps that call tools, and deciding which step may run. */
#ifndef DOMAIN_PIPELINE_PIPELINE_H
#define DOMAIN_PIPELINE_PIPELINE_H

#include "base/json/tree.h"
#include "domain/failure/retry.h"
#include "domain/pipeline/template.h"
#include "pawl.h"

/* A step that another waits for. */
struct pipeline_need {
    size_t step;
    bool must_succeed; /* false: it only has to end, because its output is optional */
};

/* One step. Everything lives in the pipeline's arena. */
struct pipeline_step {
    pawl_str id;                /* "step1", "step2", … by place when the document gives none */
    pawl_str uses;              /* the tool */
    const struct tree *with;    /* arguments with templates; an object; never NULL */
    const struct tree *foreach; /* an array or a template that gives one; NULL = runs once */
    int foreach_parallel;       /* how many items at a time; 0 = no limit */
    pawl_str condition;         /* `if`; absent = none */
    bool condition_on_status;   /* the condition refers to status: it alone decides whether the step runs */
    int64_t timeout_ms;
    int attempts; /* of the step within one attempt of the job; 1 = no retry */
    struct retry_policy backoff;
    const struct pipeline_need *needs; /* ascending: `needs` and what templates and the condition refer to */
    size_t needs_count;
    const struct tree *place;
};

struct pipeline {
    pawl_str name;               /* may be absent */
    const struct tree *document; /* as it was read */
    const struct tree *params;   /* a JSON Schema for the parameters; NULL = anything */
    const struct tree *output;   /* a template for the run's output; NULL = the object of all outputs */
    const struct pipeline_step *steps;
    size_t steps_count;
    const size_t *order; /* of the steps: each after those it waits for */
};

enum pipeline_format { PIPELINE_JSON = 1, PIPELINE_YAML = 2 };

/* Reads and checks a document: its shape, ids, needs (a cycle is reported with its path), templates and
 * conditions. PAWL_INVALID says "line 7, column 5: step 'b': …". The pipeline lives as long as the arena. */
PAWL_MUSTCHECK pawl_status pipeline_parse(struct arena *arena, pawl_str text, enum pipeline_format format,
                                          const struct pipeline **pipeline, pawl_error *err);
/* The same for a document that is already a tree. */
PAWL_MUSTCHECK pawl_status pipeline_read(struct arena *arena, const struct tree *document,
                                         const struct pipeline **pipeline, pawl_error *err);

struct schema;

/* Information for the check that only the caller has. */
struct pipeline_world {
    const struct tree *params; /* an object; NULL = {} */
    bool params_later;         /* not known yet: nothing that depends on them is checked */
    const char *const *env;    /* names that ${env.NAME} may use */
    size_t env_count;
    bool env_any;                  /* only the worker knows the names */
    const struct tree *env_values; /* NAME → string, for arguments that are already known; may be NULL */
    /* Whether a tool exists, and the schema of its arguments (NULL = none). PAWL_NOT_FOUND = no such tool. */
    pawl_status (*tool)(void *self, pawl_str uses, const struct schema **arguments, pawl_error *err);
    /* Checks arguments that are already known and fit the schema: PAWL_INVALID if they can never work. May be
     * NULL. */
    pawl_status (*arguments)(void *self, pawl_str uses, const struct tree *arguments, pawl_error *err);
    void *self;
};

/* Checks a pipeline at enqueue: parameters against their schema, parameter paths that must exist, names of
 * the environment, tools, and the arguments that are already known against the tool's schema. */
PAWL_MUSTCHECK pawl_status pipeline_check(const struct pipeline *pipeline, const struct pipeline_world *world,
                                          pawl_error *err);

/* The tools used, each once, in order of first use. Returns how many; tools may be NULL to count. */
size_t pipeline_tools(const struct pipeline *pipeline, pawl_str *tools, size_t count);

/* The recorded result of a step, or of one item of a foreach. */
enum step_state { STEP_WAITING, STEP_RUNNING, STEP_SUCCEEDED, STEP_FAILED, STEP_SKIPPED };

struct step_record {
    size_t step;
    size_t item;               /* index of a foreach; 0 for a step that runs once */
    enum step_state state;     /* RUNNING, SUCCEEDED or FAILED */
    const struct tree *output; /* SUCCEEDED; NULL = null */
    pawl_str error;            /* FAILED */
};

/* A step, or an item of a foreach, to start now. */
struct step_ready {
    size_t step;
    size_t item;
    const struct tree *with; /* filled */
};

enum pipeline_outcome { PIPELINE_RUNNING, PIPELINE_SUCCEEDED, PIPELINE_FAILED };

struct pipeline_plan {
    enum pipeline_outcome outcome;
    const struct step_ready *ready; /* in the order of pipeline.order */
    size_t ready_count;
    const enum step_state *states; /* one per step */
    const char *const *reasons;    /* one per step: why it was skipped or failed; NULL otherwise */
    const struct tree *output;     /* when it has ended */
    const char *error;             /* when it failed: the first failed step and why */
};

/*
 * Decides from the recorded results alone: the same records give the same plan, so a retried job resumes
 * where it was. The caller leaves out records of steps that have to run again. A step whose arguments or
 * foreach cannot be filled counts as failed, with the reason. context provides params, env and run.
 */
PAWL_MUSTCHECK pawl_status pipeline_plan(struct arena *arena, const struct pipeline *pipeline,
                                         const struct template_scope *context,
                                         const struct step_record *records, size_t records_count,
                                         struct pipeline_plan *plan, pawl_error *err);

const char *step_state_name(enum step_state state);

#endif
