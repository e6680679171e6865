/* Checks a pipeline when work is enqueued: parameters, environment, tools, and arguments that are already
 * known. */
#include <string.h>

#include "base/error.h"
#include "base/json/tree_read.h"
#include "base/limits.h"
#include "base/str.h"
#include "domain/pipeline/pipeline.h"
#include "domain/schema/schema.h"

struct checker {
    const struct pipeline_world *world;
    struct tree_reader in;
    unsigned roots; /* enum template_root: what the document just walked refers to */
};

static bool is_allowed(const struct pipeline_world *world, pawl_str name) {
    for (size_t i = 0; i < world->env_count; i++)
        if (str_equal_cstr(name, world->env[i]))
            return true;
    return false;
}

/* The members of `run`; none: all of it. */
static bool is_run_name(pawl_str name) {
    return str_absent(name) || str_equal_cstr(name, "id") || str_equal_cstr(name, "task") ||
           str_equal_cstr(name, "attempt") || str_equal_cstr(name, "instant_ms");
}

static pawl_status check_use(void *self, const struct template_use *use, pawl_error *err) {
    struct checker *checker = self;
    struct tree_reader *in = &checker->in;
    checker->roots |= use->root;
    if (use->root == TEMPLATE_ENV && !checker->world->env_any && !is_allowed(checker->world, use->name))
        return tree_wrong(in, use->place, "the variable '%.*s' is not among those that pipelines may read",
                          STR_ARG(use->name));
    if (use->root == TEMPLATE_RUN && !use->optional && !is_run_name(use->name))
        return tree_wrong(in, use->place,
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
    if (status == PAWL_OK && template_fits(&bare, value, "in the parameters", &reason) != PAWL_OK)
        status = tree_wrong(in, use->place, "%s", reason.text);
    return status;
}

static void check_template(struct checker *checker, const struct tree *value) {
    if (checker->in.status == PAWL_OK && value != NULL)
        checker->in.status = template_walk(value, check_use, checker, checker->in.err);
}

/* Whether the document just walked refers only to these roots, parameters and the environment. */
static bool is_known(const struct checker *checker, unsigned more) {
    unsigned known = (checker->world->params_later ? 0 : TEMPLATE_PARAMS) |
                     (checker->world->env_values != NULL ? TEMPLATE_ENV : 0) | more;
    return (checker->roots & ~known) == 0;
}

/* *items: the list, if it is known. A step with a condition may be skipped precisely because there is no
 * list. */
static void check_foreach(struct checker *checker, const struct pipeline_step *step,
                          const struct tree **items) {
    struct template_scope scope = {.params = checker->world->params, .env = checker->world->env_values};
    struct tree_reader *in = &checker->in;
    check_template(checker, step->foreach);
    if (in->status != PAWL_OK || step->foreach == NULL || !is_known(checker, 0) ||
        !str_absent(step->condition))
        return;
    in->status = template_fill(in->arena, step->foreach, &scope, items, in->err);
    if (in->status == PAWL_OK && (*items)->kind != TREE_ARRAY)
        tree_wrong(in, step->place, "foreach is not a list");
    else if (in->status == PAWL_OK && (*items)->count > PAWL_PIPELINE_FOREACH_MAX)
        tree_wrong(in, step->place, "foreach has more than %d items", PAWL_PIPELINE_FOREACH_MAX);
}

/* The arguments of one call, filled. */
static pawl_status check_filled(struct checker *checker, const struct pipeline_step *step,
                                struct arena *arena, const struct template_scope *scope,
                                const struct schema *schema) {
    const struct tree *arguments = NULL, *place = step->with->line > 0 ? step->with : step->place;
    struct tree_reader *in = &checker->in;
    pawl_error reason;
    pawl_status status = template_fill(arena, step->with, scope, &arguments, &reason);
    if (status == PAWL_INVALID)
        return tree_wrong(in, NULL, "%s", reason.text);
    if (status == PAWL_OK && schema != NULL)
        status = schema_validate(schema, arguments, &reason);
    if (status == PAWL_INVALID)
        return tree_wrong(in, place, "the arguments do not fit the tool '%.*s': %s", STR_ARG(step->uses),
                          reason.text);
    if (status == PAWL_OK && checker->world->arguments != NULL)
        status = checker->world->arguments(checker->world->self, step->uses, arguments, &reason);
    if (status == PAWL_INVALID || status == PAWL_NOT_FOUND)
        return tree_wrong(in, place, "%s", reason.text);
    if (status != PAWL_OK)
        in->status = error_set(in->err, status, "pipeline", "%s", reason.text);
    return in->status;
}

/* Arguments that refer only to parameters, the environment and a known list are already known. */
static void check_arguments(struct checker *checker, const struct pipeline_step *step,
                            const struct tree *items, const struct schema *schema) {
    unsigned each = items != NULL ? TEMPLATE_ITEM | TEMPLATE_INDEX : 0;
    struct template_scope scope = {.params = checker->world->params, .env = checker->world->env_values};
    if ((schema == NULL && checker->world->arguments == NULL) || !is_known(checker, each))
        return;
    size_t count = items != NULL && (checker->roots & each) != 0 ? items->count : 1;
    struct arena *arena = arena_create(0);
    for (size_t i = 0; checker->in.status == PAWL_OK && i < count; i++) {
        arena_reset(arena);
        scope.item = items != NULL && items->count > 0 ? items->items[i] : NULL;
        scope.index = items != NULL ? tree_from_i64(arena, (int64_t)i) : NULL;
        if (items != NULL && scope.index == NULL)
            tree_no_memory(&checker->in);
        else
            (void)check_filled(checker, step, arena, &scope, schema);
    }
    arena_free(arena);
}

static void check_step(struct checker *checker, const struct pipeline_step *step) {
    const struct pipeline_world *world = checker->world;
    struct tree_reader *in = &checker->in;
    const struct schema *arguments = NULL;
    const struct tree *items = NULL;
    pawl_error reason;
    in->step = step->id;
    checker->roots = 0;
    pawl_status status = world->tool != NULL ? world->tool(world->self, step->uses, &arguments, &reason)
                                             : PAWL_OK;
    if (status == PAWL_NOT_FOUND)
        tree_wrong(in, step->place, "the tool '%.*s' is not registered: pawl tool list shows those that are",
                   STR_ARG(step->uses));
    else if (status != PAWL_OK)
        in->status = error_set(in->err, status, "pipeline", "the tool '%.*s' cannot be looked up: %s",
                               STR_ARG(step->uses), reason.text);
    check_foreach(checker, step, &items);
    checker->roots = 0;
    check_template(checker, step->with);
    if (in->status == PAWL_OK)
        check_arguments(checker, step, items, arguments);
    in->step = (pawl_str){NULL, 0};
}

static void check_params(struct tree_reader *in, const struct pipeline *pipeline, const struct tree *params) {
    struct schema *schema = NULL;
    pawl_error reason;
    if (params->kind != TREE_OBJECT)
        tree_wrong(in, NULL, "the parameters must be an object");
    if (in->status != PAWL_OK || pipeline->params == NULL)
        return;
    pawl_status status = schema_compile(pipeline->params, NULL, &schema, &reason);
    if (status == PAWL_OK)
        status = schema_validate(schema, params, &reason);
    schema_free(schema);
    if (status != PAWL_OK)
        in->status = error_set(in->err, status, "pipeline", "parameters: %s", reason.text);
}

pawl_status pipeline_check(const struct pipeline *pipeline, const struct pipeline_world *world,
                           pawl_error *err) {
    struct pipeline_world filled = *world;
    struct checker checker = {.world = &filled,
                              .in = {.arena = arena_create(0), .op = "pipeline", .err = err}};
    struct tree_reader *in = &checker.in;
    if (filled.params == NULL)
        filled.params = &tree_empty;
    if (!world->params_later)
        check_params(in, pipeline, filled.params);
    for (size_t i = 0; i < pipeline->steps_count && in->status == PAWL_OK; i++) {
        check_step(&checker, &pipeline->steps[i]);
        arena_reset(in->arena);
    }
    check_template(&checker, pipeline->output);
    arena_free(in->arena);
    return in->status;
}
