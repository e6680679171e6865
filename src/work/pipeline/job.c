/* Loading a pipeline job: its document, parameters, tools and permissions. */
#include "work/pipeline/job.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "work/authority.h"
#include "work/pipeline/nested.h"
#include "work/pipeline/wait.h"

/* Whether a tool exists; pawl.wait is built in. */
struct lookup {
    struct tools *tools;
    struct stop_limit wait;
};

static pawl_status look_up(void *self, pawl_str uses, const struct schema **arguments, pawl_error *err) {
    struct lookup *lookup = self;
    struct tool_info info;
    *arguments = NULL;
    if (str_equal_cstr(uses, PIPELINE_WAIT_TOOL))
        return PAWL_OK;
    pawl_status status = tools_find(lookup->tools, uses, &lookup->wait, &info, err);
    if (status == PAWL_OK)
        *arguments = info.input;
    return status;
}

static pawl_status look_into(void *self, pawl_str uses, const struct tree *arguments, pawl_error *err);

/* The checks that need no tools. */
static pawl_status check_shape(const struct tree *document, const struct tree *params, struct arena *arena,
                               pawl_error *err) {
    const struct pipeline *pipeline = NULL;
    struct lookup nothing = {0};
    pawl_status status = pipeline_read(arena, document, &pipeline, err);
    if (status == PAWL_OK)
        status =
            pipeline_check(pipeline,
                           &(struct pipeline_world){
                               .params = params, .env_any = true, .arguments = look_into, .self = &nothing},
                           err);
    return status == PAWL_OK ? pipeline_wait_check(pipeline, err) : status;
}

pawl_status pipeline_payload_check(const struct tree *payload, struct arena *arena, pawl_error *err) {
    const struct tree *document = tree_get_cstr(payload, "pipeline");
    if (document == NULL)
        return error_set(err, PAWL_INVALID, "pipeline",
                         "a job of type " PIPELINE_JOB_TYPE " needs {\"pipeline\": …, \"params\": …}");
    return check_shape(document, tree_get_cstr(payload, "params"), arena, err);
}

/* It needs a task or a type, and a pawl.pipeline must be able to run. */
static pawl_status check_enqueue(const struct tree *arguments, struct arena *arena, pawl_error *err) {
    const struct tree *type = tree_get_cstr(arguments, "type");
    if ((type == NULL) == (tree_get_cstr(arguments, "task") == NULL))
        return error_set(err, PAWL_INVALID, "pipeline", "pawl.enqueue needs a task or a type, and not both");
    return type != NULL && str_equal_cstr(type->text, PIPELINE_JOB_TYPE)
               ? pipeline_payload_check(tree_get_cstr(arguments, "payload"), arena, err)
               : PAWL_OK;
}

/* Checks the arguments of built-in tools, once they are known. */
static pawl_status look_into(void *self, pawl_str uses, const struct tree *arguments, pawl_error *err) {
    struct lookup *lookup = self;
    struct arena *arena = arena_create(0);
    pawl_status status = arena != NULL ? PAWL_OK : error_no_memory(err, "pipeline");
    if (status == PAWL_OK && str_equal_cstr(uses, PIPELINE_WAIT_TOOL))
        status = pipeline_wait_arguments(arguments, err);
    else if (status == PAWL_OK && str_equal_cstr(uses, PIPELINE_RUN_TOOL))
        status = nested_check(lookup->tools, &lookup->wait, arguments, arena, err);
    else if (status == PAWL_OK && str_equal_cstr(uses, "pawl.enqueue"))
        status = check_enqueue(arguments, arena, err);
    arena_free(arena);
    return status;
}

pawl_status pipeline_ask(struct tools *tools, const struct pipeline *pipeline, const struct stop_limit *wait,
                         struct arena *arena, pawl_error *err) {
    size_t count = pipeline_tools(pipeline, NULL, 0);
    pawl_str *names = arena_array(arena, count + 1, sizeof(*names));
    if (names == NULL)
        return error_no_memory(err, "pipeline");
    pipeline_tools(pipeline, names, count);
    if (count > 0)
        tools_ask(tools, names, count, wait);
    return PAWL_OK;
}

pawl_status pipeline_job_check(const struct pipeline_check_in *in, struct arena *arena, pawl_str *scopes,
                               pawl_error *err) {
    struct lookup lookup = {in->tools, in->wait};
    struct pipeline_world world = {.params = in->params,
                                   .params_later = in->params == NULL,
                                   .env = in->env,
                                   .env_count = in->env_count,
                                   .env_any = in->env_any,
                                   .tool = look_up,
                                   .arguments = look_into,
                                   .self = &lookup};
    pawl_status status = pipeline_ask(in->tools, in->pipeline, &in->wait, arena, err);
    if (status == PAWL_OK)
        status = pipeline_check(in->pipeline, &world, err);
    if (status == PAWL_OK)
        status = pipeline_wait_check(in->pipeline, err);
    struct needs needs = {.arena = arena, .tools = in->tools, .wait = in->wait};
    if (status == PAWL_OK && scopes != NULL)
        status = needs_pipeline(&needs, in->pipeline, err);
    if (status == PAWL_OK && scopes != NULL) {
        struct buf text;
        buf_init(&text, 0);
        buf_append_char(&text, '[');
        for (size_t i = 0; i < needs.count; i++) {
            if (i > 0)
                buf_append_char(&text, ',');
            json_quote(&text, needs.scopes[i]);
        }
        buf_append_char(&text, ']');
        status = str_keep(arena, &text, "pipeline", scopes, err);
    }
    return status;
}

pawl_status pipeline_task_read(const struct pipeline_run_in *in, pawl_str name, struct arena *arena,
                               struct task_list *tasks, pawl_error *err) {
    struct store *store = NULL;
    pawl_status status = shared_store_take(in->world->shared, &store, err);
    if (status != PAWL_OK)
        return status;
    status = store->ops->jobs->tasks(store, name, (pawl_str){NULL, 0}, 1, arena, tasks, err);
    shared_store_give(in->world->shared, status);
    return status;
}

static pawl_status check_agent(const struct pipeline_run_in *in, pawl_str agent,
                               const struct pipeline *pipeline, struct arena *arena, pawl_error *err) {
    struct pipeline_run_in own = *in;
    struct needs needs = authority_needs(in, arena);
    if (str_absent(agent))
        return PAWL_OK;
    own.agent = agent;
    pawl_status status = needs_pipeline(&needs, pipeline, err);
    return status == PAWL_OK ? authority_check(&own, &needs, err) : status;
}

pawl_status pipeline_job_env(const struct pipeline_world_of_worker *world, struct arena *arena,
                             const struct tree **env, pawl_error *err) {
    const struct tree **items = arena_array(arena, world->env_count + 1, sizeof(struct tree *));
    size_t count = 0;
    if (items == NULL)
        return error_no_memory(err, "pipeline");
    for (size_t i = 0; i < world->env_count; i++) {
        const char *value = getenv(world->env[i]);
        if (value == NULL)
            continue;
        struct tree *text = tree_scalar(arena, TREE_STRING, str_from(value));
        items[count] = text != NULL ? tree_with_key(arena, text, str_from(world->env[i])) : NULL;
        if (items[count++] == NULL)
            return error_no_memory(err, "pipeline");
    }
    *env = tree_object(arena, items, count);
    return *env != NULL ? PAWL_OK : error_no_memory(err, "pipeline");
}

pawl_status pipeline_job_read(const struct pipeline_run_in *in, struct arena *arena, struct pipeline_job *out,
                              pawl_error *err) {
    const struct tree *payload = NULL, *spec = NULL, *document = NULL;
    struct task_list tasks = {0};
    pawl_str agent = {NULL, 0};
    pawl_status status = tree_parse(arena, in->job->payload, NULL, &payload, err);
    if (status == PAWL_OK && str_absent(in->job->task)) {
        document = tree_get_cstr(payload, "pipeline");
        out->params = tree_get_cstr(payload, "params");
    } else if (status == PAWL_OK) {
        status = pipeline_task_read(in, in->job->task, arena, &tasks, err);
        if (status == PAWL_OK && tasks.count == 0)
            return error_set(err, PAWL_NOT_FOUND, "pipeline", "the task '%.*s' is gone",
                             STR_ARG(in->job->task));
        if (status == PAWL_OK) {
            agent = tasks.tasks->agent;
            status = tree_parse(arena, tasks.tasks->spec, NULL, &spec, err);
        }
        document = tree_get_cstr(spec, "pipeline");
        out->params = payload;
    }
    if (status != PAWL_OK)
        return status;
    if (document == NULL)
        return error_set(err, PAWL_INVALID, "pipeline", "the job has no pipeline");
    status = pipeline_read(arena, document, &out->pipeline, err);
    if (status == PAWL_OK)
        status = pipeline_job_env(in->world, arena, &out->env, err);
    if (status == PAWL_OK)
        status = authority_join(in, agent, "task", &out->agent, err);
    if (status == PAWL_OK)
        status = check_agent(in, out->agent, out->pipeline, arena, err);
    struct lookup lookup = {in->world->tools, tools_wait(in->world->tools, in->cancel)};
    struct pipeline_world world = {.params = out->params,
                                   .env = in->world->env,
                                   .env_count = in->world->env_count,
                                   .env_values = out->env,
                                   .tool = look_up,
                                   .arguments = look_into,
                                   .self = &lookup};
    if (status == PAWL_OK)
        status = pipeline_ask(in->world->tools, out->pipeline, &lookup.wait, arena, err);
    if (status == PAWL_OK)
        status = pipeline_check(out->pipeline, &world, err);
    if (status == PAWL_OK)
        status = pipeline_wait_check(out->pipeline, err);
    return status;
}

pawl_status pipeline_task_check(struct store *store, pawl_str name, pawl_str params, struct arena *arena,
                                pawl_error *err) {
    struct task_list tasks = {0};
    const struct tree *spec = NULL, *given = NULL;
    pawl_status status = store->ops->jobs->tasks(store, name, (pawl_str){NULL, 0}, 1, arena, &tasks, err);
    /* A caller that may only enqueue cannot read tasks; the worker then reports errors. */
    if (status == PAWL_CONFLICT)
        return PAWL_OK;
    if (status != PAWL_OK || tasks.count == 0)
        return status;
    const struct task *task = tasks.tasks;
    params = !str_absent(params) ? params : !str_absent(task->params) ? task->params : STR("{}");
    status = tree_parse(arena, task->spec, NULL, &spec, err);
    const struct tree *document = tree_get_cstr(spec, "pipeline");
    if (status != PAWL_OK || document == NULL)
        return status;
    status = tree_parse(arena, params, NULL, &given, err);
    return status == PAWL_OK ? check_shape(document, given, arena, err) : status;
}
