/* What a pipeline's job is made of. */
#include "work/pipeline_job.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "domain/scope.h"
#include "work/pipeline_wait.h"

static pawl_status no_memory(pawl_error *err) {
    return error_set(err, PAWL_NO_MEMORY, "pipeline", "out of memory");
}

/* Whether a tool exists; the one that waits is ours. */
struct lookup {
    struct tools *tools;
    struct tool_wait wait;
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

/* The scopes that the tools of a pipeline require, each once. */
static pawl_status required_scopes(struct tools *tools, const struct pipeline *pipeline,
                                   const struct tool_wait *wait, struct arena *arena, pawl_str **scopes,
                                   size_t *count, pawl_error *err) {
    size_t used = pipeline_tools(pipeline, NULL, 0), made = 0;
    pawl_str *names = arena_array(arena, used + 1, sizeof(*names));
    pawl_str *list = arena_array(arena, used * TOOLS_SCOPES_MAX + 1, sizeof(*list));
    if (names == NULL || list == NULL)
        return no_memory(err);
    pipeline_tools(pipeline, names, used);
    pawl_status status = PAWL_OK;
    for (size_t i = 0; status == PAWL_OK && i < used; i++) {
        struct tool_info info = {0};
        if (str_equal_cstr(names[i], PIPELINE_WAIT_TOOL))
            continue;
        status = tools_find(tools, names[i], wait, &info, err);
        pawl_str own = {NULL, 0};
        if (status == PAWL_OK && info.scope_count == 0)
            status = scope_of_tool(arena, names[i], &own, err);
        size_t wanted = info.scope_count > 0 ? info.scope_count : 1;
        for (size_t k = 0; status == PAWL_OK && k < wanted; k++) {
            pawl_str scope = info.scope_count > 0 ? info.scopes[k] : own;
            size_t at = 0;
            while (at < made && !str_equal(list[at], scope))
                at++;
            if (at == made)
                list[made++] = scope;
        }
    }
    if (status == PAWL_OK) {
        *scopes = list;
        *count = made;
    }
    return status;
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
                                   .self = &lookup};
    pawl_status status = pipeline_check(in->pipeline, &world, err);
    if (status == PAWL_OK)
        status = pipeline_wait_check(in->pipeline, err);
    pawl_str *list = NULL;
    size_t count = 0;
    if (status == PAWL_OK && scopes != NULL)
        status = required_scopes(in->tools, in->pipeline, &in->wait, arena, &list, &count, err);
    if (status == PAWL_OK && scopes != NULL) {
        struct buf text;
        buf_init(&text, 0);
        buf_append_char(&text, '[');
        for (size_t i = 0; i < count; i++) {
            if (i > 0)
                buf_append_char(&text, ',');
            json_quote(&text, list[i]);
        }
        buf_append_char(&text, ']');
        status = buf_status(&text, "pipeline", err);
        if (status == PAWL_OK)
            status = str_dup(arena, buf_str(&text), scopes, err);
        buf_free(&text);
    }
    return status;
}

/* The task of the job and the scopes of its agent, as the store has them now. */
static pawl_status read_task(const struct pipeline_run_in *in, struct arena *arena, struct task *task,
                             const struct agent **agent, pawl_error *err) {
    struct store *store = NULL;
    struct task_list tasks = {0};
    struct agent_list agents = {0};
    pawl_status status = desk_take(in->world->desk, &store, err);
    if (status != PAWL_OK)
        return status;
    status = store->ops->jobs->tasks(store, in->job->task, (pawl_str){NULL, 0}, 1, arena, &tasks, err);
    if (status == PAWL_OK && tasks.count > 0 && !str_absent(tasks.tasks[0].agent))
        status = store->ops->jobs->agents(store, arena, &agents, err);
    desk_give(in->world->desk, status);
    if (status != PAWL_OK)
        return status;
    if (tasks.count == 0)
        return error_set(err, PAWL_NOT_FOUND, "pipeline", "the task '%.*s' is gone", STR_ARG(in->job->task));
    *task = tasks.tasks[0];
    for (size_t i = 0; i < agents.count; i++) {
        if (str_equal(agents.agents[i].name, task->agent))
            *agent = agents.agents + i;
    }
    return PAWL_OK;
}

static pawl_status check_agent(const struct pipeline_run_in *in, const struct task *task,
                               const struct agent *agent, struct arena *arena, struct pipeline_job *out,
                               pawl_error *err) {
    struct tool_wait wait = {clock_boot_ms() + TOOLS_LIST_MS, in->cancel};
    const struct tree *list = NULL;
    pawl_str *required = NULL, *granted = NULL;
    size_t count = 0;
    if (str_absent(task->agent))
        return PAWL_OK;
    out->refused = true;
    if (agent == NULL || agent->disabled)
        return error_set(err, PAWL_INVALID, "pipeline", "the agent %.*s of the task is %s",
                         STR_ARG(task->agent), agent == NULL ? "gone" : "disabled");
    pawl_status status = tree_parse(arena, agent->scopes, NULL, &list, err);
    if (status == PAWL_OK)
        granted = arena_array(arena, list->count + 1, sizeof(*granted));
    if (status == PAWL_OK && granted == NULL)
        status = no_memory(err);
    for (size_t i = 0; status == PAWL_OK && i < list->count; i++)
        granted[i] = list->items[i]->text;
    if (status == PAWL_OK) {
        out->refused = false;
        status = required_scopes(in->world->tools, out->pipeline, &wait, arena, &required, &count, err);
    }
    if (status == PAWL_OK) {
        status = scope_require(granted, list->count, required, count, err);
        out->refused = status == PAWL_INVALID;
    }
    return status;
}

pawl_status pipeline_job_env(const struct pipeline_world_of_worker *world, struct arena *arena,
                             const struct tree **env, pawl_error *err) {
    const struct tree **items = arena_array(arena, world->env_count + 1, sizeof(struct tree *));
    size_t count = 0;
    if (items == NULL)
        return no_memory(err);
    for (size_t i = 0; i < world->env_count; i++) {
        const char *value = getenv(world->env[i]);
        if (value == NULL)
            continue;
        struct tree *text = tree_scalar(arena, TREE_STRING, str_from(value));
        items[count] = text != NULL ? tree_with_key(arena, text, str_from(world->env[i])) : NULL;
        if (items[count++] == NULL)
            return no_memory(err);
    }
    *env = tree_object(arena, items, count);
    return *env != NULL ? PAWL_OK : no_memory(err);
}

pawl_status pipeline_job_read(const struct pipeline_run_in *in, struct arena *arena, struct pipeline_job *out,
                              pawl_error *err) {
    const struct tree *payload = NULL, *spec = NULL, *document = NULL;
    struct task task = {0};
    const struct agent *agent = NULL;
    pawl_status status = tree_parse(arena, in->job->payload, NULL, &payload, err);
    if (status == PAWL_OK && str_absent(in->job->task)) {
        document = tree_get_cstr(payload, "pipeline");
        out->params = tree_get_cstr(payload, "params");
    } else if (status == PAWL_OK) {
        status = read_task(in, arena, &task, &agent, err);
        if (status == PAWL_OK)
            status = tree_parse(arena, task.spec, NULL, &spec, err);
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
        status = check_agent(in, &task, agent, arena, out, err);
    struct lookup lookup = {in->world->tools, {clock_boot_ms() + TOOLS_LIST_MS, in->cancel}};
    struct pipeline_world world = {.params = out->params,
                                   .env = in->world->env,
                                   .env_count = in->world->env_count,
                                   .env_values = out->env,
                                   .tool = look_up,
                                   .self = &lookup};
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
    const struct pipeline *pipeline = NULL;
    pawl_status status = store->ops->jobs->tasks(store, name, (pawl_str){NULL, 0}, 1, arena, &tasks, err);
    /* Who may only enqueue may not look: then the worker says what is wrong. */
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
    if (status == PAWL_OK)
        status = pipeline_read(arena, document, &pipeline, err);
    if (status == PAWL_OK)
        status = pipeline_check(pipeline, &(struct pipeline_world){.params = given, .env_any = true}, err);
    return status;
}
