/* Checks a pipeline when work is enqueued: parameters, environment, tools, arguments that are known already.
 */
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "domain/pipeline/int.h"
#include "domain/schema/schema.h"

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

/* What pipeline_run tells of itself; none: the whole of it. */
static bool is_run_name(pawl_str name) {
    return str_absent(name) || str_equal_cstr(name, "id") || str_equal_cstr(name, "task") ||
           str_equal_cstr(name, "attempt") || str_equal_cstr(name, "instant_ms");
}

static pawl_status check_use(void *self, const struct template_use *use, pawl_error *err) {
    struct checker *checker = self;
    checker->roots |= use->root;
    if (use->root == TEMPLATE_ENV && !checker->world->env_any && !is_allowed(checker->world, use->name))
        return pipeline_wrong(use->place, checker->step, err,
                              "the variable '%.*s' is not among those that pipelines may read",
                              STR_ARG(use->name));
    if (use->root == TEMPLATE_RUN && !use->optional && !is_run_name(use->name))
        return pipeline_wrong(use->place, checker->step, err,
                              "${%.*s} does not exist: of a run there are id, task, attempt and instant_ms",
                              STR_ARG(use->path));
    if (use->root != TEMPLATE_PARAMS || checker->world->params_later)
        return PAWL_OK;
    struct template_scope scope = {.params = checker->world->params};
    struct template_use bare = *use;
    const struct tree *value = NULL;
    pawl_error reason;
    bare.place = NULL; /* it precedes the step's name */
    pawl_status status = template_resolve(use->path, &scope, &value, err);
    if (status != PAWL_OK)
        return status;
    status = template_fits(&bare, value, "in the parameters", &reason);
    return status == PAWL_OK ? PAWL_OK : pipeline_wrong(use->place, checker->step, err, "%s", reason.text);
}

/* Whether what the document just walked refers to nothing but these roots, parameters and the environment. */
static bool is_known(const struct checker *checker, unsigned more) {
    unsigned known = (checker->world->params_later ? 0 : TEMPLATE_PARAMS) |
                     (checker->world->env_values != NULL ? TEMPLATE_ENV : 0) | more;
    return (checker->roots & ~known) == 0;
}

/* *items: the list, when it is known. A step with a condition may be left out exactly because there is none.
 */
static pawl_status check_foreach(struct arena *arena, const struct pipeline_step *step,
                                 const struct checker *checker, const struct tree **items, pawl_error *err) {
    struct template_scope scope = {.params = checker->world->params, .env = checker->world->env_values};
    struct tree place = {.line = step->line, .column = step->column};
    *items = NULL;
    if (!is_known(checker, 0) || !str_absent(step->condition))
        return PAWL_OK;
    pawl_status status = template_fill(arena, step->foreach, &scope, items, err);
    if (status == PAWL_OK && (*items)->kind != TREE_ARRAY)
        status = pipeline_wrong(&place, step->id, err, "foreach is not a list");
    if (status == PAWL_OK && (*items)->count > PAWL_PIPELINE_FOREACH_MAX)
        status = pipeline_wrong(&place, step->id, err, "foreach has more than %d items",
                                PAWL_PIPELINE_FOREACH_MAX);
    return status;
}

/* The arguments of one call, filled. */
static pawl_status check_filled(struct arena *arena, const struct pipeline_step *step,
                                const struct checker *checker, const struct template_scope *scope,
                                const struct schema *schema, pawl_error *err) {
    const struct tree *arguments = NULL;
    pawl_error reason;
    struct tree place = {.line = step->line, .column = step->column};
    pawl_status status = template_fill(arena, step->with, scope, &arguments, &reason);
    if (status == PAWL_INVALID)
        return error_set(err, status, "pipeline", "step '%.*s': %s", STR_ARG(step->id), reason.text);
    if (status == PAWL_OK && schema != NULL)
        status = schema_validate(schema, arguments, &reason);
    if (status == PAWL_INVALID)
        return pipeline_wrong(step->with->line > 0 ? step->with : &place, step->id, err,
                              "the arguments do not fit the tool '%.*s': %s", STR_ARG(step->uses),
                              reason.text);
    if (status == PAWL_OK && checker->world->arguments != NULL)
        status = checker->world->arguments(checker->world->self, step->uses, arguments, &reason);
    if (status == PAWL_INVALID || status == PAWL_NOT_FOUND)
        return pipeline_wrong(step->with->line > 0 ? step->with : &place, step->id, err, "%s", reason.text);
    return status == PAWL_OK ? PAWL_OK : error_set(err, status, "pipeline", "%s", reason.text);
}

/* Arguments that refer to nothing but parameters, the environment and a list that is known are known now. */
static pawl_status check_arguments(const struct pipeline_step *step, const struct checker *checker,
                                   const struct tree *items, const struct schema *schema, pawl_error *err) {
    unsigned each = items != NULL ? TEMPLATE_ITEM | TEMPLATE_INDEX : 0;
    struct template_scope scope = {.params = checker->world->params, .env = checker->world->env_values};
    if ((schema == NULL && checker->world->arguments == NULL) || !is_known(checker, each))
        return PAWL_OK;
    size_t count = (checker->roots & each) != 0 ? items->count : 1;
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return pipeline_no_memory(err);
    pawl_status status = PAWL_OK;
    for (size_t i = 0; status == PAWL_OK && i < count; i++) {
        arena_reset(arena);
        scope.item = items != NULL && items->count > 0 ? items->items[i] : NULL;
        scope.index = items != NULL ? tree_from_i64(arena, (int64_t)i) : NULL;
        status = items != NULL && scope.index == NULL
                     ? pipeline_no_memory(err)
                     : check_filled(arena, step, checker, &scope, schema, err);
    }
    arena_free(arena);
    return status;
}

static pawl_status check_step(struct arena *arena, const struct pipeline_step *step,
                              const struct pipeline_world *world, pawl_error *err) {
    struct checker checker = {.world = world, .step = step->id};
    const struct schema *arguments = NULL;
    const struct tree *items = NULL;
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
        status = check_foreach(arena, step, &checker, &items, err);
    checker.roots = 0;
    if (status == PAWL_OK)
        status = template_walk(step->with, check_use, &checker, err);
    return status != PAWL_OK ? status : check_arguments(step, &checker, items, arguments, err);
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
