/* Checking an agent's scopes against what its job does. */
#include "work/authority.h"

#include "base/error.h"
#include "base/str.h"
#include "domain/authority/scope.h"
#include "work/pipeline/job.h"

static pawl_status needs_scope(struct needs *needs, pawl_str scope, pawl_error *err) {
    for (size_t i = 0; i < needs->count; i++) {
        if (str_equal(needs->scopes[i], scope))
            return PAWL_OK;
    }
    if (needs->count == needs->capacity) {
        size_t wanted = needs->capacity > 0 ? needs->capacity * 2 : 16;
        pawl_str *grown = arena_array(needs->arena, wanted, sizeof(*grown));
        if (grown == NULL)
            return error_no_memory(err, "agent");
        for (size_t i = 0; i < needs->count; i++)
            grown[i] = needs->scopes[i];
        needs->scopes = grown;
        needs->capacity = wanted;
    }
    needs->scopes[needs->count++] = scope;
    return PAWL_OK;
}

static pawl_status needs_named(struct needs *needs, const char *kind, pawl_str name, pawl_error *err) {
    const char *scope = arena_printf(needs->arena, "%s:%.*s", kind, STR_ARG(name));
    return scope != NULL ? needs_scope(needs, str_from(scope), err) : error_no_memory(err, "agent");
}

pawl_status needs_tool(struct needs *needs, pawl_str uses, pawl_error *err) {
    struct tool_info info = {0};
    if (str_equal_cstr(uses, PIPELINE_WAIT_TOOL))
        return PAWL_OK;
    pawl_status status = tools_find(needs->tools, uses, &needs->wait, &info, err);
    if (status == PAWL_OK && info.scope_count == 0)
        return needs_named(needs, "tool", uses, err);
    for (size_t i = 0; status == PAWL_OK && i < info.scope_count; i++)
        status = needs_scope(needs, info.scopes[i], err);
    return status;
}

pawl_status needs_pipeline(struct needs *needs, const struct pipeline *pipeline, pawl_error *err) {
    pawl_status status = pipeline_ask(needs->tools, pipeline, &needs->wait, needs->arena, err);
    for (size_t i = 0; status == PAWL_OK && i < pipeline->steps_count; i++)
        status = needs_tool(needs, pipeline->steps[i].uses, err);
    return status;
}

static pawl_status needs_document(struct needs *needs, const struct tree *document, pawl_error *err) {
    const struct pipeline *pipeline = NULL;
    pawl_status status = pipeline_read(needs->arena, document, &pipeline, err);
    return status == PAWL_OK ? needs_pipeline(needs, pipeline, err) : status;
}

static pawl_status needs_consolidation(struct needs *needs, const struct run_doc *doc, pawl_error *err) {
    struct run_doc nested = {0};
    if (doc->consolidate == RUN_CONSOLIDATE_NONE)
        return PAWL_OK;
    if (doc->consolidate == RUN_CONSOLIDATE_TOOL)
        return needs_tool(needs, doc->consolidate_call.uses, err);
    if (doc->consolidate == RUN_CONSOLIDATE_PIPELINE)
        return needs_document(needs, doc->consolidate_document, err);
    /* The same nesting limit as in run_doc_read: RUN_DOC_NESTED_MAX. */
    pawl_status status = run_doc_read(needs->arena, doc->consolidate_document, &nested, err);
    return status == PAWL_OK ? needs_run(needs, &nested, err) : status;
}

pawl_status needs_run(struct needs *needs, const struct run_doc *doc, pawl_error *err) {
    pawl_status status = PAWL_OK;
    if (doc->planner == RUN_PLAN_TOOL)
        status = needs_tool(needs, doc->plan_call.uses, err);
    if (status == PAWL_OK && !str_absent(doc->fetch.uses))
        status = needs_tool(needs, doc->fetch.uses, err);
    if (status == PAWL_OK && !str_absent(doc->fetch_sql))
        status = needs_named(needs, "statement", doc->fetch_sql, err);
    if (status == PAWL_OK && !str_absent(doc->target))
        status = needs_named(needs, "statement", doc->target, err);
    if (status == PAWL_OK && !str_absent(doc->announce))
        status = needs_named(needs, "job", doc->announce, err);
    return status == PAWL_OK ? needs_consolidation(needs, doc, err) : status;
}

/* The scopes a task was registered with, and those its pipeline needs now. */
static pawl_status needs_task(struct needs *needs, const struct task *task, pawl_error *err) {
    const struct tree *spec = NULL;
    pawl_str scope;
    pawl_status status = PAWL_OK;
    for (size_t at = 0; status == PAWL_OK && scope_list_next(task->scopes, &at, &scope);)
        status = needs_scope(needs, scope, err);
    if (status == PAWL_OK && !str_absent(task->spec))
        status = tree_parse(needs->arena, task->spec, NULL, &spec, err);
    const struct tree *document = tree_get_cstr(spec, "pipeline");
    if (status != PAWL_OK)
        return status;
    if (document != NULL)
        return needs_document(needs, document, err);
    /* The author of the agent's task has declared what its handler needs. */
    return str_absent(task->agent) ? needs_named(needs, "job", task->type, err) : PAWL_OK;
}

/* A job of a task (NULL: none), or of a type with a payload (may be NULL). */
static pawl_status needs_job(struct needs *needs, const struct task *task, pawl_str type,
                             const struct tree *payload, pawl_error *err) {
    if (task != NULL)
        return needs_task(needs, task, err);
    const struct tree *document = tree_get_cstr(payload, "pipeline");
    if (str_equal_cstr(type, PIPELINE_JOB_TYPE) && document != NULL)
        return needs_document(needs, document, err);
    return needs_named(needs, "job", type, err);
}

struct needs authority_needs(const struct pipeline_run_in *in, struct arena *arena) {
    return (struct needs){
        .arena = arena, .tools = in->world->tools, .wait = tools_wait(in->world->tools, in->cancel)};
}

static bool has(pawl_str granted, pawl_str wanted) {
    pawl_str scope;
    bool found = false;
    for (size_t at = 0; !found && scope_list_next(granted, &at, &scope);)
        found = scope_covers(scope, wanted);
    return found;
}

static void note_refusal(const struct pipeline_run_in *in) {
    if (in->refused != NULL)
        atomic_store(in->refused, true);
}

pawl_status authority_check(const struct pipeline_run_in *in, const struct needs *needs, pawl_error *err) {
    struct store *store = NULL;
    struct agent_list agents = {0};
    const struct agent *agent = NULL;
    if (str_absent(in->agent))
        return PAWL_OK;
    pawl_status status = shared_store_take(in->world->shared, &store, err);
    if (status != PAWL_OK)
        return status;
    status = store->ops->jobs->agents(store, needs->arena, &agents, err);
    shared_store_give(in->world->shared, status);
    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < agents.count; i++) {
        if (str_equal(agents.agents[i].name, in->agent))
            agent = &agents.agents[i];
    }
    if (agent == NULL || agent->disabled) {
        note_refusal(in);
        return error_set(err, PAWL_INVALID, "agent", "refused: the agent %.*s is %s", STR_ARG(in->agent),
                         agent == NULL ? "gone" : "disabled");
    }
    for (size_t i = 0; i < needs->count; i++) {
        if (has(agent->scopes, needs->scopes[i]))
            continue;
        note_refusal(in);
        return error_set(err, PAWL_INVALID, "agent",
                         "refused: the agent %.*s lacks the scope '%.*s'; pawl agent set grants scopes",
                         STR_ARG(in->agent), STR_ARG(needs->scopes[i]));
    }
    return PAWL_OK;
}

pawl_status authority_join(const struct pipeline_run_in *in, pawl_str other, const char *noun,
                           pawl_str *agent, pawl_error *err) {
    if (!str_absent(in->agent) && !str_absent(other) && !str_equal(in->agent, other)) {
        note_refusal(in);
        return error_set(err, PAWL_INVALID, "agent",
                         "refused: this is the agent %.*s, and the %s belongs to the agent %.*s; an agent "
                         "may use only its own, and those that belong to no agent",
                         STR_ARG(in->agent), noun, STR_ARG(other));
    }
    *agent = str_absent(in->agent) ? other : in->agent;
    return PAWL_OK;
}

pawl_status authority_job(const struct pipeline_run_in *in, const struct job_new *job,
                          const struct tree *payload, struct arena *arena, pawl_error *err) {
    struct needs needs = authority_needs(in, arena);
    struct task_list tasks = {0};
    pawl_str agent;
    pawl_status status = PAWL_OK;
    if (!str_absent(job->task)) {
        status = pipeline_task_read(in, job->task, arena, &tasks, err);
        if (status == PAWL_OK && tasks.count == 0)
            status = error_set(err, PAWL_NOT_FOUND, "agent", "there is no task '%.*s'", STR_ARG(job->task));
        if (status == PAWL_OK)
            status = authority_join(in, tasks.tasks->agent, "task", &agent, err);
    }
    if (status == PAWL_OK)
        status = needs_job(&needs, tasks.tasks, job->type, payload, err);
    return status == PAWL_OK ? authority_check(in, &needs, err) : status;
}

pawl_status authority_run(const struct pipeline_run_in *in, const struct run_doc *doc, struct arena *arena,
                          pawl_error *err) {
    struct needs needs = authority_needs(in, arena);
    if (str_absent(in->agent))
        return PAWL_OK;
    pawl_status status = needs_run(&needs, doc, err);
    return status == PAWL_OK ? authority_check(in, &needs, err) : status;
}

pawl_status authority_call(const struct pipeline_run_in *in, const struct tool_call *call,
                           struct arena *arena, struct tool_answer *answer, pawl_error *err) {
    struct needs needs = authority_needs(in, arena);
    pawl_status status = PAWL_OK;
    if (!str_absent(in->agent)) {
        status = needs_tool(&needs, call->uses, err);
        if (status == PAWL_OK)
            status = authority_check(in, &needs, err);
    }
    return status == PAWL_OK ? tools_call(in->world->tools, call, arena, answer, err) : status;
}
