/* Checking before a run starts whether it could work. */
#include "work/run/start.h"

#include <string.h>

#include "base/error.h"
#include "base/json/tree_read.h"
#include "base/str.h"
#include "domain/pipeline/template.h"
#include "domain/schema/schema.h"
#include "work/pipeline/job.h"

/* A tool call whose templates are being walked. */
struct walker {
    const struct run_check *in;
    const struct tree *params;
    const char *const *names; /* of ${run.…}; ends with NULL */
    unsigned roots;           /* enum template_root */
};

static bool is_among(pawl_str name, const char *const *names) {
    bool found = str_absent(name);
    for (size_t i = 0; !found && names[i] != NULL; i++)
        found = str_equal_cstr(name, names[i]);
    return found;
}

static pawl_status visit_item(const struct walker *walker, const struct template_use *use, pawl_error *err) {
    const struct run_parts *parts = walker->in->parts;
    pawl_status status = PAWL_OK;
    for (size_t i = 0; status == PAWL_OK && parts != NULL && i < parts->count; i++) {
        const struct tree *value = NULL;
        struct template_scope scope = {.item = parts->parts[i].value};
        status = template_resolve(use->path, &scope, &value, err);
        if (status == PAWL_OK)
            status = template_fits(use, value, "in every partition", err);
    }
    return status;
}

static pawl_status visit(void *self, const struct template_use *use, pawl_error *err) {
    struct walker *walker = self;
    struct template_scope scope = {.params = walker->params};
    const struct tree *value = NULL;
    walker->roots |= use->root;
    if (use->root == TEMPLATE_RUN && !use->optional && !is_among(use->name, walker->names))
        return tree_fault(use->place, "run", err,
                          "${%.*s} does not exist: docs/running-runs.md says what run has here",
                          STR_ARG(use->path));
    if (use->root == TEMPLATE_ITEM)
        return visit_item(walker, use, err);
    if (use->root != TEMPLATE_PARAMS)
        return PAWL_OK;
    pawl_status status = template_resolve(use->path, &scope, &value, err);
    return status == PAWL_OK ? template_fits(use, value, "in the parameters", err) : status;
}

/* Arguments that are already known: independent of partitions, or for each of them. */
static pawl_status check_arguments(const struct walker *walker, const struct run_call *call,
                                   const struct schema *schema, pawl_error *err) {
    bool each = (walker->roots & TEMPLATE_ITEM) != 0;
    const struct run_parts *parts = walker->in->parts;
    if ((walker->roots & ~(unsigned)(TEMPLATE_PARAMS | TEMPLATE_ITEM)) != 0 || (each && parts == NULL))
        return PAWL_OK;
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return error_no_memory(err, "run");
    pawl_status status = PAWL_OK;
    for (size_t i = 0; status == PAWL_OK && i < (each ? parts->count : 1); i++) {
        struct template_scope scope = {.params = walker->params, .item = each ? parts->parts[i].value : NULL};
        const struct tree *arguments = NULL;
        pawl_error reason = {0};
        arena_reset(arena);
        status = template_fill(arena, call->with, &scope, &arguments, err);
        if (status == PAWL_OK && schema_validate(schema, arguments, &reason) != PAWL_OK)
            status = tree_fault(call->with, "run", err, "the arguments do not fit the tool '%.*s': %s",
                                STR_ARG(call->uses), reason.text);
    }
    arena_free(arena);
    return status;
}

static pawl_status check_call(const struct run_check *in, const struct tree *params,
                              const struct run_call *call, const char *const *names, pawl_error *err) {
    struct walker walker = {.in = in, .params = params, .names = names};
    struct tool_info info = {0};
    pawl_status status = PAWL_OK;
    if (str_absent(call->uses))
        return PAWL_OK;
    if (in->tools != NULL)
        status = tools_find(in->tools, call->uses, &in->wait, &info, err);
    if (status == PAWL_OK && call->with != NULL)
        status = template_walk(call->with, visit, &walker, err);
    if (status == PAWL_OK && call->with != NULL && info.input != NULL)
        status = check_arguments(&walker, call, info.input, err);
    return status;
}

/* The statement that selects the pages; the store checks the one that stores them. */
static pawl_status check_statement(const struct run_check *in, struct arena *arena, pawl_error *err) {
    struct run_targets found = {0};
    if (in->store == NULL || str_absent(in->doc->fetch_sql))
        return PAWL_OK;
    pawl_status status = in->store->ops->runs->targets(in->store, arena, &found, err);
    if (status == PAWL_CONFLICT)
        return PAWL_OK; /* a caller that may only start runs cannot read statements */
    for (size_t i = 0; status == PAWL_OK && i < found.count; i++) {
        if (str_equal(found.targets[i].name, in->doc->fetch_sql))
            return PAWL_OK;
    }
    return status == PAWL_OK ? error_set(err, PAWL_NOT_FOUND, "run",
                                         "there is no statement '%.*s'; pawl statement set registers one",
                                         STR_ARG(in->doc->fetch_sql))
                             : status;
}

static pawl_status check_consolidation(const struct run_check *in, const struct tree *params,
                                       struct arena *arena, pawl_error *err) {
    const struct pipeline *pipeline = NULL;
    struct run_doc nested = {0};
    struct run_parts parts = {0};
    struct run_check inner = *in;
    pawl_status status = PAWL_OK;
    if (in->doc->consolidate == RUN_CONSOLIDATE_PIPELINE && in->tools != NULL) {
        status = pipeline_read(arena, in->doc->consolidate_document, &pipeline, err);
        struct pipeline_check_in check = {
            .tools = in->tools, .pipeline = pipeline, .env_any = true, .wait = in->wait};
        return status == PAWL_OK ? pipeline_job_check(&check, arena, NULL, err) : status;
    }
    if (in->doc->consolidate != RUN_CONSOLIDATE_RUN)
        return PAWL_OK;
    status = run_doc_read(arena, in->doc->consolidate_document, &nested, err);
    if (status == PAWL_OK && nested.planner != RUN_PLAN_TOOL)
        status = run_doc_plan(arena, &nested, &parts, err);
    if (status != PAWL_OK)
        return status;
    inner.doc = &nested;
    inner.params = nested.params->count > 0 ? nested.params : params;
    inner.parts = nested.planner != RUN_PLAN_TOOL ? &parts : NULL;
    return run_check(&inner, arena, err);
}

pawl_status run_check(const struct run_check *in, struct arena *arena, pawl_error *err) {
    static const char *const of_page[] = {"id",     "key",   "name",    "page",        "generation", "offset",
                                          "cursor", "limit", "attempt", "traceparent", "partition",  NULL};
    static const char *const of_plan[] = {"name", "key", NULL};
    static const char *const of_end[] = {"run",  "round",  "key",   "name", "partitions",
                                         "done", "failed", "items", NULL};
    const struct tree *params = in->params != NULL ? in->params : in->doc->params;
    pawl_status status = check_call(in, params, &in->doc->plan_call, of_plan, err);
    if (status == PAWL_OK)
        status = check_call(in, params, &in->doc->fetch, of_page, err);
    if (status == PAWL_OK)
        status = check_call(in, params, &in->doc->consolidate_call, of_end, err);
    if (status == PAWL_OK)
        status = check_statement(in, arena, err);
    return status == PAWL_OK ? check_consolidation(in, params, arena, err) : status;
}
