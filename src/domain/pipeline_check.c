/* Checks a pipeline when work is enqueued: parameters, environment, tools, arguments that are known already.
 */
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "domain/pipeline_int.h"
#include "domain/schema.h"

struct checker {
    const struct pipeline_world *world;
    pawl_str step;
    unsigned roots; /* enum template_root: what the document just walked refers to */
};

static bool is_allowed(const struct pipeline_world *world, pawl_str name) {
    for (size_t i = 0; i < world->env_count; i++)
        if (str_equal_cstr(name, world->env[i]))
            return true;
    return false;
}

static pawl_status check_use(void *self, const struct template_use *use, pawl_error *err) {
    struct checker *checker = self;
    checker->roots |= use->root;
    if (use->root == TEMPLATE_ENV && !checker->world->env_any && !is_allowed(checker->world, use->name))
        return pipeline_wrong(use->place, checker->step, err,
                              "the variable '%.*s' is not among those that pipelines may read",
                              STR_ARG(use->name));
    if (use->root != TEMPLATE_PARAMS || use->optional || checker->world->params_later)
        return PAWL_OK;
    struct template_scope scope = {.params = checker->world->params};
    const struct tree *value = NULL;
    pawl_status status = template_resolve(use->path, &scope, &value, err);
    if (status == PAWL_OK && value == NULL)
        return pipeline_wrong(use->place, checker->step, err, "${%.*s} does not exist in the parameters",
                              STR_ARG(use->path));
    return status;
}

/* Whether what the document just walked refers to nothing but parameters and the environment. */
static bool is_known(const struct checker *checker) {
    unsigned known = (checker->world->params_later ? 0 : TEMPLATE_PARAMS) |
                     (checker->world->env_values != NULL ? TEMPLATE_ENV : 0);
    return (checker->roots & ~known) == 0;
}

/* A step with a condition may be left out exactly because there is no list. */
static pawl_status check_foreach(struct arena *arena, const struct pipeline_step *step,
                                 const struct checker *checker, pawl_error *err) {
    struct template_scope scope = {.params = checker->world->params, .env = checker->world->env_values};
    const struct tree *items = NULL;
    struct tree place = {.line = step->line, .column = step->column};
    if (!is_known(checker) || !str_absent(step->condition))
        return PAWL_OK;
    pawl_status status = template_fill(arena, step->foreach, &scope, &items, err);
    if (status == PAWL_OK && items->kind != TREE_ARRAY)
        status = pipeline_wrong(&place, step->id, err, "foreach is not a list");
    if (status == PAWL_OK && items->count > PAWL_PIPELINE_FOREACH_MAX)
        status = pipeline_wrong(&place, step->id, err, "foreach has more than %d items",
                                PAWL_PIPELINE_FOREACH_MAX);
    return status;
}

/* Arguments that refer to nothing but parameters and the environment are known now. */
static pawl_status check_arguments(struct arena *arena, const struct pipeline_step *step,
                                   const struct checker *checker, const struct schema *schema,
                                   pawl_error *err) {
    if (schema == NULL || !is_known(checker))
        return PAWL_OK;
    struct template_scope scope = {.params = checker->world->params, .env = checker->world->env_values};
    const struct tree *arguments = NULL;
    pawl_error reason;
    pawl_status status = template_fill(arena, step->with, &scope, &arguments, err);
    if (status != PAWL_OK)
        return status;
    status = schema_validate(schema, arguments, &reason);
    struct tree place = {.line = step->line, .column = step->column};
    if (status == PAWL_INVALID)
        return pipeline_wrong(step->with->line > 0 ? step->with : &place, step->id, err,
                              "the arguments do not fit the tool '%.*s': %s", STR_ARG(step->uses),
                              reason.text);
    return status == PAWL_OK ? PAWL_OK : pipeline_no_memory(err);
}

static pawl_status check_step(struct arena *arena, const struct pipeline_step *step,
                              const struct pipeline_world *world, pawl_error *err) {
    struct checker checker = {.world = world, .step = step->id};
    const struct schema *arguments = NULL;
    pawl_error reason;
    struct tree place = {.line = step->line, .column = step->column};
    pawl_status status = world->tool != NULL ? world->tool(world->self, step->uses, &arguments, &reason)
                                             : PAWL_OK;
    if (status == PAWL_NOT_FOUND)
        return pipeline_wrong(&place, step->id, err,
                              "the tool '%.*s' is not registered: pawl tool list shows those that are",
                              STR_ARG(step->uses));
    if (status != PAWL_OK)
        return error_set(err, status, "pipeline", "the tool '%.*s' cannot be looked up: %s",
                         STR_ARG(step->uses), reason.text);
    if (step->foreach != NULL)
        status = template_walk(step->foreach, check_use, &checker, err);
    if (status == PAWL_OK && step->foreach != NULL)
        status = check_foreach(arena, step, &checker, err);
    checker.roots = 0;
    if (status == PAWL_OK)
        status = template_walk(step->with, check_use, &checker, err);
    return status != PAWL_OK ? status : check_arguments(arena, step, &checker, arguments, err);
}

static pawl_status check_params(const struct pipeline *pipeline, const struct tree *params, pawl_error *err) {
    struct schema *schema = NULL;
    pawl_error reason;
    if (params->kind != TREE_OBJECT)
        return error_set(err, PAWL_INVALID, "pipeline", "the parameters must be an object");
    if (pipeline->params == NULL)
        return PAWL_OK;
    pawl_status status = schema_compile(pipeline->params, NULL, &schema, &reason);
    if (status == PAWL_OK)
        status = schema_validate(schema, params, &reason);
    schema_free(schema);
    return status == PAWL_OK ? PAWL_OK : error_set(err, status, "pipeline", "parameters: %s", reason.text);
}

pawl_status pipeline_check(const struct pipeline *pipeline, const struct pipeline_world *world,
                           pawl_error *err) {
    static const struct tree nothing = {.kind = TREE_OBJECT, .nodes = 1};
    struct pipeline_world filled = *world;
    if (filled.params == NULL)
        filled.params = &nothing;
    pawl_status status = world->params_later ? PAWL_OK : check_params(pipeline, filled.params, err);
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return pipeline_no_memory(err);
    for (size_t i = 0; i < pipeline->steps_count && status == PAWL_OK; i++) {
        status = check_step(arena, &pipeline->steps[i], &filled, err);
        arena_reset(arena);
    }
    struct checker checker = {.world = &filled};
    if (status == PAWL_OK && pipeline->output != NULL)
        status = template_walk(pipeline->output, check_use, &checker, err);
    arena_free(arena);
    return status;
}
