/* Starting a run from its document, or enqueueing the job that plans it. */
#include "work/run/start.h"

#include "base/error.h"
#include "base/json/json.h"
#include "base/json/tree_read.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "domain/pipeline/template.h"
#include "work/shared_store.h"

/* The requested key, or a new one. */
static pawl_status choose_key(const struct run_begin *in, struct arena *arena, pawl_str *key,
                              pawl_error *err) {
    pawl_uuid fresh = uuid_nil();
    char text[UUID_TEXT_BYTES];
    *key = str_absent(in->key) ? in->doc->key : in->key;
    if (!str_absent(*key))
        return PAWL_OK;
    pawl_status status = uuid_next(&fresh, err);
    return status == PAWL_OK ? str_dup(arena, str_from(uuid_format(fresh, text)), key, err) : status;
}

static pawl_status make_partitions(const struct run_parts *parts, struct arena *arena,
                                   struct partition_new **out, pawl_error *err) {
    struct partition_new *made = arena_array(arena, parts->count + 1, sizeof(*made));
    pawl_status status = made != NULL ? PAWL_OK : error_no_memory(err, "run");
    for (size_t i = 0; status == PAWL_OK && i < parts->count; i++) {
        const struct run_part *part = &parts->parts[i];
        const struct tree *total = tree_get_cstr(part->value, "total"),
                          *offset = tree_get_cstr(part->value, "offset"),
                          *cursor = tree_get_cstr(part->value, "cursor");
        made[i] = (struct partition_new){
            .name = part->id, .bounded = part->bounded, .low = part->low, .high = part->high, .total = -1};
        if (total != NULL && (!tree_to_i64(total, &made[i].total) || made[i].total < 0))
            status = tree_fault(total, "run", err, "total of partition '%.*s' must be a whole number from 0",
                                STR_ARG(part->id));
        if (status == PAWL_OK && offset != NULL &&
            (!tree_to_i64(offset, &made[i].offset) || made[i].offset < 0))
            status = tree_fault(offset, "run", err,
                                "offset of partition '%.*s' must be a whole number from 0",
                                STR_ARG(part->id));
        if (status == PAWL_OK && cursor != NULL)
            status = tree_text(arena, cursor, 0, &made[i].cursor, err);
        if (status == PAWL_OK)
            status = tree_text(arena, part->value, 0, &made[i].params, err);
    }
    *out = made;
    return status;
}

static pawl_status start(struct store *store, const struct run_begin *in, const struct run_parts *parts,
                         struct arena *arena, struct run_begun *out, pawl_error *err) {
    const struct run_doc *doc = in->doc;
    struct partition_new *partitions = NULL;
    struct run_started started = {0};
    struct run_start put = {.name = doc->name,
                            .key = out->key,
                            .type = STR(RUN_PAGE_TYPE),
                            .announce = doc->announce,
                            .target = doc->target,
                            .queue = doc->queue,
                            .traceparent = in->traceparent,
                            .wait_key = in->wait_key,
                            .agent = in->agent,
                            .parent = in->parent,
                            .page_size = doc->page_size,
                            .concurrency = doc->rate.concurrency,
                            .rate = doc->rate.rate,
                            .rate_ms = doc->rate.rate > 0 ? doc->rate.rate_ms : 0,
                            .paced = doc->rate.adaptive,
                            .deadline_ms = doc->deadline_ms,
                            .max_attempts = doc->attempts,
                            .priority = doc->priority,
                            .flags = JOB_AUDIT | JOB_EVENTS,
                            .end = END_HANDLER, /* the worker has applied the document's rule by then */
                            .policy = doc->failed == RUN_FAILED_PARTIAL ? FAILED_PARTIAL
                                      : doc->failed == RUN_FAILED_WAIT  ? FAILED_WAIT
                                                                        : FAILED_SKIP,
                            .count = parts->count};
    if (doc->consolidate != RUN_CONSOLIDATE_NONE)
        put.consolidate = STR(RUN_CONSOLIDATE_TYPE);
    pawl_status status = make_partitions(parts, arena, &partitions, err);
    put.partitions = partitions;
    if (status == PAWL_OK)
        status = run_doc_spec(arena, doc, &put.spec, err);
    if (status == PAWL_OK)
        status = tree_text(arena, in->params != NULL ? in->params : doc->params, 0, &put.params, err);
    if (status == PAWL_OK)
        status = store->ops->runs->start(store, &put, &started, err);
    if (status != PAWL_OK)
        return status;
    if (started.answer == ANSWER_NOT_FOUND)
        return error_set(err, PAWL_NOT_FOUND, "run",
                         "there is no statement '%.*s'; pawl statement set registers one",
                         STR_ARG(doc->target));
    if (started.answer == ANSWER_CONFLICT)
        return error_set(err, PAWL_CONFLICT, "run", "the run %lld that it belongs to has ended",
                         (long long)in->parent);
    out->run = started.id;
    out->again = started.answer == ANSWER_DUPLICATE;
    return PAWL_OK;
}

/* {"document": …, "params": …, "key": …}: the payload of the planning job. */
static pawl_status enqueue_plan(struct store *store, const struct run_begin *in, struct arena *arena,
                                struct run_begun *out, pawl_error *err) {
    struct buf payload;
    struct enqueue_result result = {0};
    const char *unique = arena_printf(arena, "run-plan:%.*s", STR_ARG(out->key));
    buf_init(&payload, 0);
    buf_append_cstr(&payload, "{\"document\":");
    tree_write(&payload, in->doc->document);
    buf_append_cstr(&payload, ",\"params\":");
    tree_write(&payload, in->params != NULL ? in->params : in->doc->params);
    buf_append_cstr(&payload, ",\"key\":");
    json_quote(&payload, out->key);
    buf_append_char(&payload, '}');
    struct job_new job = {.type = STR(RUN_PLAN_TYPE),
                          .payload = buf_str(&payload),
                          .queue = in->doc->queue,
                          .unique_key = str_from(unique),
                          .traceparent = in->traceparent,
                          .agent = in->agent,
                          .priority = in->doc->priority,
                          .max_attempts = in->doc->attempts,
                          .flags = JOB_AUDIT | JOB_EVENTS,
                          .timeout_ms = in->doc->plan_call.timeout_ms};
    struct jobs_enqueue put = {.jobs = &job, .count = 1, .payload_bytes_max = RUN_DOC_BYTES_MAX * 2};
    pawl_status status = unique != NULL ? buf_status(&payload, "run", err) : error_no_memory(err, "run");
    if (status == PAWL_OK)
        status = store->ops->jobs->enqueue(store, &put, arena, &result, err);
    if (status == PAWL_OK) {
        out->plan_job = result.ids[0];
        out->again = result.answers[0] == ANSWER_DUPLICATE;
    }
    buf_free(&payload);
    return status;
}

pawl_status run_begin(struct store *store, const struct run_begin *in, struct arena *arena,
                      struct run_begun *out, pawl_error *err) {
    struct run_begun begun = {0};
    struct run_parts parts = {0};
    bool later = in->parts == NULL && in->doc->planner == RUN_PLAN_TOOL;
    pawl_status status = choose_key(in, arena, &begun.key, err);
    if (status == PAWL_OK && in->parts != NULL)
        parts = *in->parts;
    else if (status == PAWL_OK && !later)
        status = run_doc_plan(arena, in->doc, &parts, err);
    struct run_check check = {.doc = in->doc,
                              .params = in->params,
                              .parts = later ? NULL : &parts,
                              .tools = in->tools,
                              .wait = in->wait,
                              .store = store};
    if (status == PAWL_OK)
        status = run_check(&check, arena, err);
    if (status == PAWL_OK)
        status = later ? enqueue_plan(store, in, arena, &begun, err)
                       : start(store, in, &parts, arena, &begun, err);
    if (status == PAWL_OK)
        *out = begun;
    return status;
}

pawl_status run_begin_shared(struct shared_store *shared, const struct run_begin *in, struct arena *arena,
                             struct run_begun *out, pawl_error *err) {
    struct store *store = NULL;
    pawl_status status = shared_store_take(shared, &store, err);
    if (status != PAWL_OK)
        return status;
    status = run_begin(store, in, arena, out, err);
    shared_store_give(shared, status);
    return status;
}

/* The list itself, or the member "partitions", also inside the answer of an MCP tool. */
static const struct tree *list_of(const struct tree *output) {
    const struct tree *structured = tree_get_cstr(output, "structured");
    if (output == NULL || output->kind == TREE_ARRAY)
        return output;
    const struct tree *list = tree_get_cstr(output, "partitions");
    return list != NULL ? list : tree_get_cstr(structured, "partitions");
}

pawl_status run_plan_call(const struct run_plan_ask *in, struct arena *arena, struct run_parts *parts,
                          pawl_error *err) {
    const struct run_call *plan = &in->doc->plan_call;
    struct buf text;
    const struct tree *about = NULL, *arguments = NULL;
    struct tool_answer answer = {0};
    buf_init(&text, 0);
    buf_append_cstr(&text, "{\"name\":");
    json_quote(&text, in->doc->name);
    buf_append_cstr(&text, ",\"key\":");
    json_quote(&text, in->key);
    if (plan->with == NULL) {
        buf_append_cstr(&text, ",\"params\":");
        tree_write(&text, in->params);
    }
    buf_append_char(&text, '}');
    pawl_status status = tree_parse_buf(arena, &text, "run", &about, err);
    struct template_scope scope = {.params = in->params, .run = about, .env = in->env};
    arguments = about;
    if (status == PAWL_OK && plan->with != NULL)
        status = template_fill(arena, plan->with, &scope, &arguments, err);
    struct tool_call call = {.uses = plan->uses,
                             .arguments = arguments,
                             .deadline_ms = clock_boot_ms() + plan->timeout_ms,
                             .cancel = in->cancel,
                             .idempotency_key = in->key,
                             .context = in->context,
                             .not_started_ms = in->not_started_ms};
    if (status == PAWL_OK)
        status = tools_call(in->tools, &call, arena, &answer, err);
    if (status != PAWL_OK)
        return status;
    const struct tree *list = list_of(answer.output);
    if (list == NULL)
        return error_set(err, PAWL_INVALID, "run",
                         "the tool %.*s must answer with a list of partitions, or {\"partitions\": […]}",
                         STR_ARG(plan->uses));
    return run_plan_list(arena, list, parts, err);
}
