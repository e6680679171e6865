/* The tools in C: the built-in ones, such as pawl.send, and those of pawl_worker_tool. */
#include "work/pipeline/builtin.h"

#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/json/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/uuid.h"
#include "work/authority.h"
#include "work/pipeline/nested.h"
#include "work/pipeline/run.h"

static const char send_schema[] =
    "{\"type\":\"object\",\"required\":[\"type\"],\"additionalProperties\":false,\"properties\":{"
    "\"type\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":200},\"payload\":true,\"stream\":{\"type\":"
    "\"string\"},"
    "\"topic\":{\"type\":\"string\"},\"headers\":{\"type\":\"object\"}}}";
static const char enqueue_schema[] =
    "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\"task\":{\"type\":\"string\"},"
    "\"type\":{\"type\":\"string\"},\"payload\":true,\"queue\":{\"type\":\"string\"},\"key\":{\"type\":"
    "\"string\"},"
    "\"unique_key\":{\"type\":\"string\"},\"priority\":{\"type\":\"integer\",\"minimum\":-1000,\"maximum\":"
    "1000}}}";
_Static_assert(PAWL_JOB_PRIORITY_MAX == 1000, "bounds of enqueue_schema");
static const char append_schema[] =
    "{\"type\":\"object\",\"required\":[\"stream\",\"events\"],\"additionalProperties\":false,"
    "\"properties\":{\"stream\":{\"type\":\"string\",\"minLength\":1},"
    "\"expected_version\":{\"type\":\"integer\",\"minimum\":0},"
    "\"events\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":1000,\"items\":{\"type\":\"object\","
    "\"required\":[\"type\"],\"additionalProperties\":false,\"properties\":{"
    "\"type\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":200},\"payload\":true,\"metadata\":{"
    "\"type\":\"object\"},"
    "\"publish\":{\"type\":\"boolean\"},\"topic\":{\"type\":\"string\"}}}}}}";
_Static_assert(PAWL_APPEND_MAX == 1000, "maxItems of append_schema");
_Static_assert(PAWL_TYPE_BYTES_MAX == 200, "maxLength of types");
static const char signal_schema[] =
    "{\"type\":\"object\",\"required\":[\"event\"],\"additionalProperties\":false,\"properties\":{"
    "\"event\":{\"type\":\"string\",\"minLength\":1},\"payload\":true}}";
static const char run_schema[] =
    "{\"type\":\"object\",\"required\":[\"document\"],\"additionalProperties\":false,\"properties\":{"
    "\"document\":{\"type\":\"object\"},\"params\":{\"type\":\"object\"},\"key\":{\"type\":\"string\","
    "\"minLength\":1},\"wait\":{\"type\":\"boolean\"},\"timeout\":{\"type\":\"string\"}}}";

enum { SIGNAL_KEEP_MS = 86400000 /* a signal that arrives before its job waits is kept for a day */ };

static pawl_status desk_of(const struct tool_call *call, struct shared_store **shared, struct store **store,
                           pawl_error *err) {
    const struct pipeline_run_in *in = call->context;
    if (in == NULL)
        return error_set(err, PAWL_INVALID, "tools", "%.*s works only inside a job", STR_ARG(call->uses));
    *shared = in->world->shared;
    return shared_store_take(*shared, store, err);
}

/* The same for every try of a step, so that nothing is written twice. */
static pawl_status id_of(pawl_str key, pawl_uuid *id, pawl_error *err) {
    uint8_t digest[SHA256_BYTES];
    pawl_status status = sha256(key, digest, err);
    if (status == PAWL_OK)
        memcpy(id->b, digest, sizeof(id->b));
    return status;
}

/* A member as JSON in the arena; left as it is when there is none. */
static pawl_status json_of(const struct tree *from, const char *name, struct arena *arena, pawl_str *json,
                           pawl_error *err) {
    const struct tree *value = tree_get_cstr(from, name);
    return value != NULL ? tree_text(arena, value, 0, json, err) : PAWL_OK;
}

static pawl_status answer(struct arena *arena, const char *text, const struct tree **output,
                          pawl_error *err) {
    if (text == NULL)
        return error_no_memory(err, "tools");
    return tree_parse(arena, str_from(text), NULL, output, err);
}

static pawl_status send(void *self, const struct tool_call *call, struct arena *arena,
                        const struct tree **output, pawl_error *err) {
    struct shared_store *shared = NULL;
    struct store *store = NULL;
    pawl_outgoing message = {.type = tree_get_text(call->arguments, "type"),
                             .stream = tree_get_text(call->arguments, "stream"),
                             .topic = tree_get_text(call->arguments, "topic"),
                             .payload = STR("{}"),
                             .traceparent = call->traceparent};
    struct messages_put put = {.kind = KIND_OUTBOX, .messages = &message, .count = 1};
    char id[UUID_TEXT_BYTES];
    struct put_result written = {0};
    (void)self;
    pawl_status status = json_of(call->arguments, "payload", arena, &message.payload, err);
    if (status == PAWL_OK)
        status = json_of(call->arguments, "headers", arena, &message.headers, err);
    if (status == PAWL_OK)
        status = id_of(call->idempotency_key, &put.request, err);
    message.id = put.request;
    if (status == PAWL_OK)
        status = desk_of(call, &shared, &store, err);
    if (status != PAWL_OK)
        return status;
    status = store->ops->core.messages_put(store, &put, arena, &written, err);
    shared_store_give(shared, status);
    return status == PAWL_OK
               ? answer(arena, arena_printf(arena, "{\"id\":\"%s\"}", uuid_format(message.id, id)), output,
                        err)
               : status;
}

static pawl_status enqueue(void *self, const struct tool_call *call, struct arena *arena,
                           const struct tree **output, pawl_error *err) {
    const struct pipeline_run_in *in = call->context;
    struct shared_store *shared = NULL;
    struct store *store = NULL;
    struct job_new job = {.task = tree_get_text(call->arguments, "task"),
                          .type = tree_get_text(call->arguments, "type"),
                          .agent = in != NULL ? in->agent : (pawl_str){NULL, 0},
                          .queue = tree_get_text(call->arguments, "queue"),
                          .key = tree_get_text(call->arguments, "key"),
                          .unique_key = tree_get_text(call->arguments, "unique_key"),
                          .traceparent = call->traceparent,
                          .flags = JOB_AUDIT | JOB_EVENTS};
    struct jobs_enqueue put = {.jobs = &job, .count = 1};
    struct enqueue_result result = {0};
    const struct tree *priority = tree_get_cstr(call->arguments, "priority");
    int64_t number = 0;
    (void)self;
    if (priority != NULL && tree_to_i64(priority, &number))
        job.priority = (int)number; /* the schema has its bounds */
    pawl_status status = json_of(call->arguments, "payload", arena, &job.payload, err);
    if (status == PAWL_OK)
        status = id_of(call->idempotency_key, &put.request, err);
    if (status == PAWL_OK && !str_absent(job.agent))
        status = authority_job(in, &job, tree_get_cstr(call->arguments, "payload"), arena, err);
    if (status == PAWL_OK)
        status = desk_of(call, &shared, &store, err);
    if (status != PAWL_OK)
        return status;
    status = store->ops->jobs->enqueue(store, &put, arena, &result, err);
    shared_store_give(shared, status);
    if (status != PAWL_OK)
        return status;
    if (result.answers[0] == ANSWER_NOT_FOUND)
        return error_set(err, PAWL_NOT_FOUND, "tools", "there is no task '%.*s'", STR_ARG(job.task));
    if (result.answers[0] == ANSWER_REFUSED)
        return error_set(err, PAWL_INVALID, "tools",
                         "refused: the agent of the task '%.*s' lacks a scope: see pawl agent refusals",
                         STR_ARG(job.task));
    return answer(arena,
                  arena_printf(arena, "{\"job\":%lld,\"new\":%s}", (long long)result.ids[0],
                               result.answers[0] == ANSWER_APPLIED ? "true" : "false"),
                  output, err);
}

/* One event of a call of pawl.append. Its id is the same for every try of the step. */
static pawl_status event_of(const struct tool_call *call, size_t at, struct arena *arena, pawl_event *event,
                            pawl_error *err) {
    const struct tree *from = tree_get_cstr(call->arguments, "events")->items[at];
    const struct tree *publish = tree_get_cstr(from, "publish");
    *event = (pawl_event){.type = tree_get_text(from, "type"),
                          .payload = STR("{}"),
                          .topic = tree_get_text(from, "topic"),
                          .publish = publish != NULL && publish->kind == TREE_TRUE,
                          .traceparent = call->traceparent};
    char *key = arena_printf(arena, "%.*s#%zu", STR_ARG(call->idempotency_key), at);
    pawl_status status = key != NULL ? id_of(str_from(key), &event->id, err) : error_no_memory(err, "tools");
    if (status == PAWL_OK)
        status = json_of(from, "payload", arena, &event->payload, err);
    return status == PAWL_OK ? json_of(from, "metadata", arena, &event->metadata, err) : status;
}

static pawl_status append_answer(const struct events_append *in, const struct append_result *result,
                                 struct arena *arena, const struct tree **output, pawl_error *err) {
    if (result->answer == ANSWER_CONFLICT)
        return append_refused("tools", in, result, err);
    return answer(arena,
                  arena_printf(arena, "{\"first_version\":%lld,\"version\":%lld,\"new\":%s}",
                               (long long)result->first_version, (long long)result->version,
                               result->answer == ANSWER_APPLIED ? "true" : "false"),
                  output, err);
}

static pawl_status append(void *self, const struct tool_call *call, struct arena *arena,
                          const struct tree **output, pawl_error *err) {
    struct shared_store *shared = NULL;
    struct store *store = NULL;
    const struct tree *list = tree_get_cstr(call->arguments, "events");
    const struct tree *expected = tree_get_cstr(call->arguments, "expected_version");
    pawl_event *events = arena_array(arena, list->count, sizeof(*events));
    struct events_append in = {.stream = tree_get_text(call->arguments, "stream"),
                               .expected = EXPECT_ANY,
                               .events = events,
                               .count = list->count};
    struct append_result result = {0};
    (void)self;
    if (events == NULL)
        return error_no_memory(err, "tools");
    if (expected != NULL && !tree_to_i64(expected, &in.expected))
        return error_set(err, PAWL_INVALID, "tools", "expected_version is no version of a stream");
    pawl_status status = PAWL_OK;
    for (size_t i = 0; status == PAWL_OK && i < list->count; i++)
        status = event_of(call, i, arena, &events[i], err);
    if (status == PAWL_OK)
        status = desk_of(call, &shared, &store, err);
    if (status != PAWL_OK)
        return status;
    status = store->ops->events.events_append(store, &in, arena, &result, err);
    shared_store_give(shared, status);
    return status == PAWL_OK ? append_answer(&in, &result, arena, output, err) : status;
}

static pawl_status signal_event(void *self, const struct tool_call *call, struct arena *arena,
                                const struct tree **output, pawl_error *err) {
    struct shared_store *shared = NULL;
    struct store *store = NULL;
    struct job_wake wake = {.wait_key = tree_get_text(call->arguments, "event"), .keep_ms = SIGNAL_KEEP_MS};
    struct wake_result result = {0};
    (void)self;
    pawl_status status = json_of(call->arguments, "payload", arena, &wake.payload, err);
    if (status == PAWL_OK)
        status = desk_of(call, &shared, &store, err);
    if (status != PAWL_OK)
        return status;
    status = store->ops->jobs->wake(store, &wake, &result, err);
    shared_store_give(shared, status);
    return status == PAWL_OK
               ? answer(arena, arena_printf(arena, "{\"woken\":%lld}", (long long)result.woken), output, err)
               : status;
}

/* With "wait": false; a step that waits for the run is handled by the pipeline. */
static pawl_status start_run(void *self, const struct tool_call *call, struct arena *arena,
                             const struct tree **output, pawl_error *err) {
    const struct pipeline_run_in *in = call->context;
    pawl_str key = tree_get_text(call->arguments, "key"), none = {NULL, 0};
    struct run_begun begun = {0};
    (void)self;
    if (in == NULL)
        return error_set(err, PAWL_INVALID, "tools", "%.*s works only inside a job", STR_ARG(call->uses));
    pawl_status status = nested_begin(in, call->arguments, str_absent(key) ? call->idempotency_key : key,
                                      none, arena, &begun, err);
    return status == PAWL_OK ? answer(arena,
                                      arena_printf(arena, "{\"run\":%lld,\"new\":%s}", (long long)begun.run,
                                                   begun.again ? "false" : "true"),
                                      output, err)
                             : status;
}

pawl_status builtin_add(struct tools *tools, pawl_error *err) {
    static const struct tool_function_new rows[] = {
        {"pawl.send", "Puts a message into the outbox", send_schema, send, NULL},
        {"pawl.append", "Appends events to a stream", append_schema, append, NULL},
        {"pawl.enqueue", "Enqueues a job, of a task or of a type", enqueue_schema, enqueue, NULL},
        {"pawl.signal", "Wakes the jobs that wait for an event", signal_schema, signal_event, NULL},
        {"pawl.run", "Starts a run; as a step it waits for its end", run_schema, start_run, NULL},
    };
    pawl_status status = PAWL_OK;
    for (size_t i = 0; status == PAWL_OK && i < sizeof(rows) / sizeof(*rows); i++)
        status = tools_add_function(tools, &rows[i], err);
    return status;
}

/* A function of pawl_worker_tool. */
struct bridge {
    pawl_tool_fn function;
    void *self;
};

/* Where an answer goes. */
struct desk_of_answer {
    struct buf json;
};

void pawl_tool_answer(const pawl_tool_call *call, pawl_str json) {
    struct desk_of_answer *to = call->to;
    to->json.len = 0;
    buf_append(&to->json, json.ptr, json.len);
}

static pawl_status call_function(void *self, const struct tool_call *call, struct arena *arena,
                                 const struct tree **output, pawl_error *err) {
    const struct bridge *bridge = self;
    struct desk_of_answer to;
    struct buf arguments;
    buf_init(&arguments, 0);
    buf_init(&to.json, TOOLS_OUTPUT_BYTES_MAX);
    tree_write(&arguments, call->arguments);
    pawl_status status = buf_status(&arguments, "tools", err);
    pawl_tool_call given = {call->uses, buf_str(&arguments), call->idempotency_key, &to};
    if (status == PAWL_OK)
        status = bridge->function(&given, bridge->self, err);
    if (status == PAWL_OK)
        status = buf_status(&to.json, "tools", err);
    if (status == PAWL_OK)
        status = tree_parse(arena, to.json.len > 0 ? buf_str(&to.json) : STR("null"), NULL, output, err);
    buf_free(&arguments);
    buf_free(&to.json);
    return status;
}

pawl_status tool_function_add(struct tools *tools, struct arena *arena, const char *name,
                              pawl_tool_fn function, void *self, pawl_error *err) {
    struct bridge *bridge = arena_alloc(arena, sizeof(*bridge));
    char *copy = name != NULL ? arena_strdup(arena, name) : NULL;
    if (name == NULL || function == NULL)
        return error_set(err, PAWL_INVALID, "worker", "a tool in C needs a name and a function");
    if (bridge == NULL || copy == NULL)
        return error_no_memory(err, "worker");
    *bridge = (struct bridge){function, self};
    struct tool_function_new put = {
        .name = copy, .description = "A function", .function = call_function, .self = bridge};
    return tools_add_function(tools, &put, err);
}
