/* The jobs that plan and consolidate a run. */
#include "base/error.h"
#include "base/log.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "domain/pipeline/template.h"
#include "work/authority.h"
#include "work/pipeline/job.h"
#include "work/run/page_job.h"
#include "work/run/start.h"

struct work {
    const struct pipeline_run_in *in; /* own */
    struct pipeline_run_in own;       /* a copy of the job, with the run's agent if it has one */
    struct arena *arena;
    struct job_result_in *result;
    const struct tree *payload; /* of the job */
    const struct tree *params;  /* of the run */
    const struct tree *env;
    struct run_doc doc;
    int64_t run, round;
};

static bool open_work(struct work *work, const struct pipeline_run_in *in, struct job_result_in *result) {
    *work = (struct work){.own = *in, .result = result, .arena = arena_create(0)};
    work->in = &work->own;
    *result = (struct job_result_in){.end = JOB_END_RETRY, .delay_ms = -1, .error = STR("out of memory")};
    if (work->arena == NULL)
        return false;
    result->error = (pawl_str){NULL, 0};
    result->owner = work->arena;
    return true;
}

static void fail(struct work *work, pawl_status status, const pawl_error *err) {
    work->result->end = status == PAWL_STALE            ? JOB_END_CANCELLED
                        : pipeline_is_permanent(status) ? JOB_END_PERMANENT
                                                        : JOB_END_RETRY;
    work->result->error = str_from(arena_strdup(work->arena, err->text));
    log_event(work->in->world->log, LOG_LEVEL_WARN, "run_job_failed",
              "type=%.*s job=%lld attempt=%d error=%s", STR_ARG(work->in->job->type),
              (long long)work->in->job->id, work->in->job->attempts, err->text);
}

/* Loads the run's document and parameters. */
static pawl_status read_run(struct work *work, pawl_error *err) {
    struct store *store = NULL;
    struct run_list runs = {0};
    struct runs_filter filter = {.limit = 1};
    const struct tree *spec = NULL, *id = NULL, *round = NULL;
    pawl_status status = tree_parse(work->arena, work->in->job->payload, NULL, &work->payload, err);
    if (status != PAWL_OK)
        return status;
    id = tree_get_cstr(work->payload, "run");
    round = tree_get_cstr(work->payload, "round");
    if (id == NULL || !tree_to_i64(id, &work->run) || round == NULL || !tree_to_i64(round, &work->round))
        return error_set(err, PAWL_INVALID, "run", "the job is no consolidation of a run");
    filter.id = work->run;
    status = shared_store_take(work->in->world->shared, &store, err);
    if (status != PAWL_OK)
        return status;
    status = store->ops->runs->runs(store, &filter, work->arena, &runs, err);
    shared_store_give(work->in->world->shared, status);
    if (status == PAWL_OK && runs.count == 0)
        return error_set(err, PAWL_NOT_FOUND, "run", "there is no run %lld", (long long)work->run);
    if (status == PAWL_OK)
        status = tree_parse(work->arena, runs.runs[0].spec, NULL, &spec, err);
    if (status == PAWL_OK)
        status = run_doc_read(work->arena, spec, &work->doc, err);
    if (status == PAWL_OK)
        status = tree_parse(work->arena, runs.runs[0].params, NULL, &work->params, err);
    if (status == PAWL_OK)
        status = authority_join(work->in, runs.runs[0].agent, "run", &work->own.agent, err);
    return status == PAWL_OK ? pipeline_job_env(work->in->world, work->arena, &work->env, err) : status;
}

/* The object with one member added or replaced. */
static pawl_status add_member(struct arena *arena, const struct tree *object, const char *name,
                              const struct tree *value, const struct tree **out, pawl_error *err) {
    const struct tree **members = arena_array(arena, object->count + 1, sizeof(struct tree *));
    const struct tree *named = tree_with_key(arena, value, str_from(name));
    size_t count = 0;
    if (members == NULL || named == NULL)
        return error_no_memory(err, "run");
    for (size_t i = 0; i < object->count; i++) {
        if (!str_equal_cstr(object->items[i]->key, name))
            members[count++] = object->items[i];
    }
    members[count++] = named;
    *out = tree_object(arena, members, count);
    return *out != NULL ? PAWL_OK : error_no_memory(err, "run");
}

/* What is known of the run, with its parameters. */
static pawl_status make_arguments(struct work *work, const struct tree **out, pawl_error *err) {
    const struct run_call *call = &work->doc.consolidate_call;
    struct template_scope scope = {.params = work->params, .run = work->payload, .env = work->env};
    if (call->with != NULL)
        return template_fill(work->arena, call->with, &scope, out, err);
    return add_member(work->arena, work->payload, "params", work->params, out, err);
}

static pawl_status by_tool(struct work *work, pawl_error *err) {
    const struct run_call *with = &work->doc.consolidate_call;
    const struct tree *arguments = NULL;
    struct tool_answer answer = {0};
    const char *key =
        arena_printf(work->arena, "run:%lld:consolidate:%lld", (long long)work->run, (long long)work->round);
    pawl_status status = key != NULL ? make_arguments(work, &arguments, err) : error_no_memory(err, "run");
    int64_t deadline_ms = clock_boot_ms() + with->timeout_ms;
    if (work->in->deadline_ms > 0 && work->in->deadline_ms < deadline_ms)
        deadline_ms = work->in->deadline_ms;
    struct tool_call call = {.uses = with->uses,
                             .arguments = arguments,
                             .deadline_ms = deadline_ms,
                             .cancel = work->in->cancel,
                             .traceparent = work->in->job->traceparent,
                             .idempotency_key = str_from(key),
                             .context = (void *)work->in,
                             .not_started_ms = work->in->not_started_ms};
    if (status == PAWL_OK)
        status = tools_call(work->in->world->tools, &call, work->arena, &answer, err);
    if (status != PAWL_OK) {
        work->result->delay_ms = answer.retry_after_ms;
        return status;
    }
    work->result->end = JOB_END_DONE;
    return tree_text(work->arena, answer.output, 0, &work->result->output, err);
}

/* {"pipeline": …, "params": …}: the payload of the pipeline job. */
static pawl_status pipeline_payload(const struct work *work, pawl_str *payload, pawl_error *err) {
    const struct tree *params = NULL;
    struct buf text;
    pawl_status status = add_member(work->arena, work->params, "run", work->payload, &params, err);
    if (status != PAWL_OK)
        return status;
    buf_init(&text, 0);
    buf_append_cstr(&text, "{\"pipeline\":");
    tree_write(&text, work->doc.consolidate_document);
    buf_append_cstr(&text, ",\"params\":");
    tree_write(&text, params);
    buf_append_char(&text, '}');
    return str_keep(work->arena, &text, "run", payload, err);
}

/* The job as a pipeline job: its steps are recorded under the job's id, so it continues where it stopped. */
static void by_pipeline(struct work *work) {
    struct job job = *work->in->job;
    struct pipeline_run_in in = *work->in;
    pawl_error err = {0};
    pawl_status status = pipeline_payload(work, &job.payload, &err);
    if (status != PAWL_OK) {
        fail(work, status, &err);
        return;
    }
    job.type = STR(PIPELINE_JOB_TYPE);
    job.task = (pawl_str){NULL, 0};
    job.agent = in.agent;
    in.job = &job;
    struct arena *mine = work->arena;
    pipeline_run(&in, work->result); /* its result has its own arena */
    arena_free(mine);
    work->arena = NULL;
}

static pawl_status plan(struct work *work, const struct run_doc *doc, const struct tree *params, pawl_str key,
                        struct run_parts *parts, pawl_error *err) {
    struct run_plan_ask ask = {.tools = work->in->world->tools,
                               .doc = doc,
                               .params = params,
                               .env = work->env,
                               .key = key,
                               .cancel = work->in->cancel,
                               .context = (void *)work->in,
                               .not_started_ms = work->in->not_started_ms};
    return run_plan_call(&ask, work->arena, parts, err);
}

/* The key ensures that it is started once, however often the job is retried. */
static pawl_status by_run(struct work *work, pawl_error *err) {
    struct run_doc doc = {0};
    struct run_parts parts = {0};
    struct run_begun begun = {0};
    const char *key =
        arena_printf(work->arena, "run:%lld:consolidate:%lld", (long long)work->run, (long long)work->round);
    pawl_status status = key != NULL ? run_doc_read(work->arena, work->doc.consolidate_document, &doc, err)
                                     : error_no_memory(err, "run");
    if (status != PAWL_OK)
        return status;
    struct run_begin put = {.doc = &doc,
                            .key = str_from(key),
                            .params = doc.params->count > 0 ? doc.params : work->params,
                            .traceparent = work->in->job->traceparent,
                            .agent = work->in->agent,
                            .parent = work->run};
    if (doc.planner == RUN_PLAN_TOOL) {
        status = plan(work, &doc, put.params, put.key, &parts, err);
        put.parts = &parts;
    }
    if (status == PAWL_OK)
        status = run_begin_shared(work->in->world->shared, &put, work->arena, &begun, err);
    if (status != PAWL_OK)
        return status;
    work->result->end = JOB_END_DONE;
    const char *output = arena_printf(work->arena, "{\"run\":%lld}", (long long)begun.run);
    work->result->output = str_from(output);
    return output != NULL ? PAWL_OK : error_no_memory(err, "run");
}

void consolidate_job_run(const struct pipeline_run_in *in, struct job_result_in *result) {
    struct work work;
    pawl_error err = {0};
    if (!open_work(&work, in, result))
        return;
    pawl_status status = read_run(&work, &err);
    if (status == PAWL_OK)
        status = authority_run(work.in, &work.doc, work.arena, &err);
    if (status == PAWL_OK && work.doc.consolidate == RUN_CONSOLIDATE_PIPELINE) {
        by_pipeline(&work);
        return;
    }
    if (status == PAWL_OK)
        status = work.doc.consolidate == RUN_CONSOLIDATE_RUN ? by_run(&work, &err) : by_tool(&work, &err);
    if (status != PAWL_OK)
        fail(&work, status, &err);
}

void plan_job_run(const struct pipeline_run_in *in, struct job_result_in *result) {
    struct work work;
    struct run_parts parts = {0};
    struct run_begun begun = {0};
    pawl_error err = {0};
    if (!open_work(&work, in, result))
        return;
    pawl_status status = tree_parse(work.arena, in->job->payload, NULL, &work.payload, &err);
    const struct tree *document = tree_get_cstr(work.payload, "document"),
                      *params = tree_get_cstr(work.payload, "params"),
                      *key = tree_get_cstr(work.payload, "key");
    if (status == PAWL_OK && (document == NULL || params == NULL || key == NULL))
        status = error_set(&err, PAWL_INVALID, "run", "the job plans no run");
    if (status == PAWL_OK)
        status = run_doc_read(work.arena, document, &work.doc, &err);
    if (status == PAWL_OK)
        status = pipeline_job_env(in->world, work.arena, &work.env, &err);
    if (status == PAWL_OK)
        status = authority_run(work.in, &work.doc, work.arena, &err);
    if (status == PAWL_OK)
        status = plan(&work, &work.doc, params, key->text, &parts, &err);
    struct run_begin put = {.doc = &work.doc,
                            .parts = &parts,
                            .params = params,
                            .key = key != NULL ? key->text : (pawl_str){NULL, 0},
                            .traceparent = in->job->traceparent,
                            .agent = in->agent};
    if (status == PAWL_OK)
        status = run_begin_shared(in->world->shared, &put, work.arena, &begun, &err);
    if (status != PAWL_OK) {
        fail(&work, status, &err);
        return;
    }
    result->end = JOB_END_DONE;
    result->output = str_from(arena_printf(work.arena, "{\"run\":%lld}", (long long)begun.run));
}
