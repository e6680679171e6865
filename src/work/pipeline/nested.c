/* The step pawl.run: starting a run from a pipeline and waiting for it. */
#include "work/pipeline/nested.h"

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "work/authority.h"
#include "work/pipeline/job.h"

bool nested_waits(const struct pipeline_step *step, const struct tree *with) {
    const struct tree *wait = tree_get_cstr(with, "wait");
    return str_equal_cstr(step->uses, PIPELINE_RUN_TOOL) && (wait == NULL || wait->kind != TREE_FALSE);
}

/* The document and the parameters of a step. */
static pawl_status read_with(const struct tree *with, struct arena *arena, struct run_doc *doc,
                             pawl_error *err) {
    const struct tree *document = tree_get_cstr(with, "document"), *params = tree_get_cstr(with, "params");
    if (document == NULL || (params != NULL && params->kind != TREE_OBJECT))
        return error_set(err, PAWL_INVALID, "pipeline",
                         "pawl.run needs a document, and params, if any, are an object");
    pawl_status status = run_doc_read(arena, document, doc, err);
    if (status == PAWL_OK && doc->planner == 0)
        status = error_set(err, PAWL_INVALID, "pipeline", "the run has no partitions");
    return status;
}

pawl_status nested_check(struct tools *tools, const struct stop_limit *wait, const struct tree *with,
                         struct arena *arena, pawl_error *err) {
    struct run_doc doc = {0};
    struct run_parts parts = {0};
    const struct tree *timeout = tree_get_cstr(with, "timeout"), *wait_for = tree_get_cstr(with, "wait");
    int64_t limit_ms = 0;
    if (timeout != NULL && !clock_parse_duration(timeout->text, &limit_ms))
        return error_set(err, PAWL_INVALID, "pipeline", "timeout of pawl.run is a duration such as \"2h\"");
    if (tree_get_cstr(with, "key") != NULL && (wait_for == NULL || wait_for->kind != TREE_FALSE))
        return error_set(err, PAWL_INVALID, "pipeline",
                         "a pawl.run that waits cannot have a key (or set wait: false)");
    pawl_status status = read_with(with, arena, &doc, err);
    if (status == PAWL_OK && doc.planner != RUN_PLAN_TOOL)
        status = run_doc_plan(arena, &doc, &parts, err);
    struct run_check check = {.doc = &doc,
                              .params = tree_get_cstr(with, "params"),
                              .parts = doc.planner != RUN_PLAN_TOOL ? &parts : NULL,
                              .tools = tools,
                              .wait = *wait};
    return status == PAWL_OK ? run_check(&check, arena, err) : status;
}

pawl_status nested_begin(const struct pipeline_run_in *in, const struct tree *with, pawl_str key,
                         pawl_str wait_key, struct arena *arena, struct run_begun *out, pawl_error *err) {
    const struct tree *params = tree_get_cstr(with, "params");
    struct run_doc doc = {0};
    struct run_parts parts = {0};
    pawl_status status = read_with(with, arena, &doc, err);
    struct run_begin put = {.doc = &doc,
                            .params = params,
                            .key = key,
                            .wait_key = wait_key,
                            .traceparent = in->job->traceparent,
                            .agent = in->agent};
    struct stop_limit wait = tools_wait(in->world->tools, in->cancel);
    if (status == PAWL_OK)
        status = nested_check(in->world->tools, &wait, with, arena, err);
    if (status == PAWL_OK && !str_absent(in->agent)) {
        struct needs needs = authority_needs(in, arena);
        status = needs_tool(&needs, STR(PIPELINE_RUN_TOOL), err);
        if (status == PAWL_OK)
            status = needs_run(&needs, &doc, err);
        if (status == PAWL_OK)
            status = authority_check(in, &needs, err);
    }
    if (status == PAWL_OK && doc.planner == RUN_PLAN_TOOL) {
        struct run_plan_ask ask = {.tools = in->world->tools,
                                   .doc = &doc,
                                   .params = params != NULL ? params : doc.params,
                                   .key = key,
                                   .cancel = in->cancel,
                                   .context = (void *)in,
                                   .not_started_ms = in->not_started_ms};
        status = pipeline_job_env(in->world, arena, &ask.env, err);
        if (status == PAWL_OK)
            status = run_plan_call(&ask, arena, &parts, err);
        put.parts = &parts;
    }
    return status == PAWL_OK ? run_begin_shared(in->world->shared, &put, arena, out, err) : status;
}

/* {"event": key, "timeout": …}: the arguments of a step that waits. */
static pawl_status wait_arguments(struct arena *arena, pawl_str key, const struct tree *with,
                                  const struct tree **out, pawl_error *err) {
    const struct tree *timeout = tree_get_cstr(with, "timeout");
    const struct tree *event = tree_scalar(arena, TREE_STRING, key);
    const struct tree *members[2] = {event != NULL ? tree_with_key(arena, event, STR("event")) : NULL,
                                     timeout};
    if (members[0] == NULL)
        return error_no_memory(err, "pipeline");
    *out = tree_object(arena, members, timeout != NULL ? 2 : 1);
    return *out != NULL ? PAWL_OK : error_no_memory(err, "pipeline");
}

pawl_status nested_look(struct wait_state *state, const struct pipeline_run_in *in, struct arena *arena,
                        const struct pipeline_step *step, const struct step_ready *ready,
                        struct wait_verdict *verdict, pawl_error *err) {
    struct step_ready waiting = *ready;
    struct run_begun begun = {0};
    const char *key = arena_printf(arena, "job:%lld:%.*s", (long long)in->job->id, STR_ARG(step->id));
    const char *wait_key =
        arena_printf(arena, "run-ended:job:%lld:%.*s", (long long)in->job->id, STR_ARG(step->id));
    if (key == NULL || wait_key == NULL)
        return error_no_memory(err, "pipeline");
    if (step->foreach != NULL || tree_get_cstr(ready->with, "key") != NULL)
        return error_set(
            err, PAWL_INVALID, "pipeline",
            "step '%.*s': a pawl.run that waits cannot have foreach or a key (or set wait: false)",
            STR_ARG(step->id));
    pawl_status status = nested_begin(in, ready->with, str_from(key), str_from(wait_key), arena, &begun, err);
    if (status == PAWL_OK)
        status = wait_arguments(arena, str_from(wait_key), ready->with, &waiting.with, err);
    return status == PAWL_OK ? wait_state_look(state, in, arena, step, &waiting, verdict, err) : status;
}

const char *nested_fault(struct arena *arena, const struct tree *output) {
    const struct tree *state = tree_get_cstr(output, "state"), *run = tree_get_cstr(output, "run");
    if (state == NULL || str_equal_cstr(state->text, "completed"))
        return NULL;
    const char *text = arena_printf(arena, "the run %.*s is %.*s",
                                    STR_ARG(run != NULL ? run->text : STR("?")), STR_ARG(state->text));
    return text != NULL ? text : "the run has not completed";
}
