/* Writing the OpenAPI 3.1 document from the table of routes. */
#include "server/http/openapi.h"

#include <string.h>

#include "base/limits.h"
#include "base/str.h"
#include "operations/front/fields.h"
#include "operations/front/schema.h"
#include "server/access/auth.h"
#include "server/http/route.h"

static void reference(struct json_writer *json, const char *target) {
    json_begin_object(json);
    schema_text(json, "$ref", target);
    json_end_object(json);
}

/* ---- Fields */

/* A value that the field takes. */
static void example(struct json_writer *json, const char *key, const struct field *field) {
    json_key(json, key);
    if (field->example != NULL) {
        json_raw(json, str_from(field->example));
        return;
    }
    switch (field->type) {
    case FIELD_INT:
    case FIELD_DURATION:
        json_int(json, field->min > 1 || field->max == 1 ? field->min : 2);
        return;
    case FIELD_TIME:
        json_raw(json, STR("4102444800000"));
        return;
    case FIELD_BOOL:
        json_bool(json, true);
        return;
    case FIELD_UUID:
    case FIELD_ID:
        json_cstr(json, "01890a5d-ac96-774b-bcce-b302099a8057");
        return;
    case FIELD_CHOICE:
        json_str(json, (pawl_str){field->choices, strcspn(field->choices, "|")});
        return;
    case FIELD_JSON:
    case FIELD_OBJECT:
        json_raw(json, STR("{\"n\": 1}"));
        return;
    case FIELD_TEXTS:
        json_raw(json, STR("[\"one\"]"));
        return;
    default:
        json_cstr(json, field->name);
    }
}

static void parameters(struct json_writer *json, const struct operation *route) {
    const struct field *field;
    json_key(json, "parameters");
    json_begin_array(json);
    for (size_t i = 0; (field = operation_input(route, i)) != NULL; i++) {
        if (field->in == IN_BODY || field->in == IN_TERMINAL)
            continue;
        json_begin_object(json);
        schema_text(json, "name", field->name);
        schema_text(json, "in", field->in == IN_PATH ? "path" : "query");
        if (field->required || field->in == IN_PATH) {
            json_key(json, "required");
            json_bool(json, true);
        }
        schema_text(json, "description", field->help);
        if (field->required || field->in == IN_PATH || field->example != NULL)
            example(json, "example", field);
        json_key(json, "schema");
        schema_field(json, field, false);
        json_end_object(json);
    }
    if (route->method == METHOD_POST)
        reference(json, "#/components/parameters/IdempotencyKey");
    json_end_array(json);
}

static bool has_body(const struct operation *route, bool required) {
    const struct field *field;
    for (size_t i = 0; (field = operation_input(route, i)) != NULL; i++)
        if (field->in == IN_BODY && (!required || field->required))
            return true;
    return false;
}

static void request_body(struct json_writer *json, const struct operation *route) {
    const struct field *field;
    if (!has_body(route, false))
        return;
    schema_open(json, "requestBody");
    json_key(json, "required");
    json_bool(json, has_body(route, true));
    schema_open(json, "content");
    schema_open(json, "application/json");
    json_key(json, "schema");
    schema_fields(json, route, true);
    json_key(json, "example");
    json_begin_object(json);
    for (size_t i = 0; (field = operation_input(route, i)) != NULL; i++)
        if (field->in == IN_BODY && (field->required || field->example != NULL))
            example(json, field->name, field);
    json_end_object(json);
    for (int level = 0; level < 3; level++)
        json_end_object(json);
}

/* ---- Answers */

static void answer_content(struct json_writer *json, const struct operation *route) {
    if (route->shape == ANSWER_EMPTY)
        return;
    schema_open(json, "content");
    schema_open(json, route->shape == ANSWER_TEXT     ? "text/plain"
                      : route->shape == ANSWER_STREAM ? "text/event-stream"
                                                      : "application/json");
    json_key(json, "schema");
    if (route->shape == ANSWER_LIST) {
        schema_list(json, route);
    } else if (route->shape == ANSWER_RECORD) {
        schema_columns(json, route);
    } else {
        json_begin_object(json);
        schema_text(json, "type", route->shape == ANSWER_OBJECT ? "object" : "string");
        json_end_object(json);
    }
    json_end_object(json);
    json_end_object(json);
}

static void responses(struct json_writer *json, const struct operation *route) {
    char status[8];
    schema_open(json, "responses");
    snprintf(status, sizeof status, "%d", route->status != 0 ? route->status : 200);
    schema_open(json, status);
    schema_text(json, "description", route->status == 202 ? "It runs; ask for its progress." : "It is done.");
    answer_content(json, route);
    json_end_object(json);
    json_key(json, "4XX");
    reference(json, "#/components/responses/Problem");
    json_key(json, "5XX");
    reference(json, "#/components/responses/Problem");
    json_end_object(json);
}

/* Its noun; what is its own noun concerns the system. */
static pawl_str tag_of(const struct operation *route) {
    const char *dot = strchr(route->name, '.');
    return dot != NULL ? (pawl_str){route->name, (size_t)(dot - route->name)} : STR("system");
}

static void operation(struct json_writer *json, const struct operation *route) {
    static const char *const keys[METHOD_COUNT] = {"get", "post", "put", "delete"};
    schema_open(json, keys[route->method]);
    char id[64];
    snprintf(id, sizeof id, "%s", route->name);
    id[strcspn(id, ".")] = id[strcspn(id, ".")] == '.' ? '_' : '\0';
    schema_text(json, "operationId", id);
    json_key(json, "tags");
    json_begin_array(json);
    json_str(json, tag_of(route));
    json_end_array(json);
    schema_text(json, "summary", route->summary);
    schema_text(json, "x-role", role_name(route->role));
    json_key(json, "security");
    json_begin_array(json);
    if (route->role != ROLE_NONE) {
        json_begin_object(json);
        json_key(json, route->role == ROLE_WORKER ? "worker" : "token");
        json_begin_array(json);
        json_end_array(json);
        json_end_object(json);
    }
    json_end_array(json);
    parameters(json, route);
    request_body(json, route);
    responses(json, route);
    json_end_object(json);
}

/* Whether an earlier route has the same path: its object holds them all. */
static bool seen_before(size_t index, const char *path) {
    size_t i = 0;
    while (i < index && strcmp(route_at(i)->path, path) != 0)
        i++;
    return i < index;
}

static void path_item(struct json_writer *json, const char *path) {
    const struct operation *route;
    json_key(json, path);
    json_begin_object(json);
    for (size_t i = 0; (route = route_at(i)) != NULL; i++)
        if (strcmp(route->path, path) == 0)
            operation(json, route);
    json_end_object(json);
}

/* ---- The document */

static const char components[] =
    "{\"securitySchemes\":{\"token\":{\"type\":\"http\",\"scheme\":\"bearer\",\"description\":\"The viewer's "
    "or "
    "the operator's token, or a session's cookie.\"},\"worker\":{\"type\":\"http\",\"scheme\":\"bearer\","
    "\"description\":\"The worker's "
    "token.\"}},\"parameters\":{\"IdempotencyKey\":{\"name\":\"Idempotency-Key\","
    "\"in\":\"header\",\"description\":\"The same key with the same request gets the same answer and does "
    "nothing again.\",\"schema\":{\"type\":\"string\",\"maxLength\":200}}},\"responses\":{\"Problem\":{"
    "\"description\":\"It was refused or failed, and why.\",\"content\":{\"application/problem+json\":{"
    "\"schema\":{\"$ref\":\"#/components/schemas/"
    "Problem\"}}}}},\"schemas\":{\"Problem\":{\"type\":\"object\","
    "\"required\":[\"type\",\"title\",\"status\",\"detail\"],\"properties\":{\"type\":{\"type\":\"string\"},"
    "\"title\":{\"type\":\"string\"},\"status\":{\"type\":\"integer\"},\"detail\":{\"type\":\"string\"}}}}}";

/* Every noun of a route is here; a test checks that. */
static const struct {
    const char *name, *description;
} tag_rows[] = {
    {"system", "The state of the whole system, what something is waiting for, pauses, upkeep."},
    {"series", "What happened over the last 30 days, for charts."},
    {"server", "Whether the server and its database are there, metrics, live changes."},
    {"session", "Signing in from a browser."},
    {"message", "Messages of the outbox, the inbox and perspectives, and dead letters."},
    {"event", "The event store."},
    {"stream", "Streams with waiting messages, and where a stream belongs."},
    {"job", "Pooled work."},
    {"limit", "Limits of the keys of jobs."},
    {"task", "What jobs are made of."},
    {"pipeline", "Steps of tasks."},
    {"schedule", "When tasks run."},
    {"run", "Reading a source in partitions, page by page."},
    {"statement", "SQL that runs use by name."},
    {"perspective", "Read models and how far they are."},
    {"receptor", "Handlers of events: their patterns, progress and results."},
    {"agent", "Which tools each agent may use, and what was refused."},
    {"audit", "What was executed."},
    {"action", "What people did."},
    {"pause", "What is held up."},
    {"alert", "Rules, their history, and silences."},
    {"instance", "Running worker processes."},
    {"partition", "Lanes and their owners."},
    {"duty", "What one instance at a time does for all."},
    {"doctor", "What endangers the work, and what to do."},
    {"setting", "Settings of the schema."},
    {"transport", "Brokers that can be used."},
    {"tool", "Tools for pipelines."},
    {"operation", "Bulk operations on everything that matches a filter."},
    {"lease", "Workers over HTTP; off unless the server is started with --lease-api."},
};

static void tags(struct json_writer *json) {
    json_key(json, "tags");
    json_begin_array(json);
    for (size_t i = 0; i < sizeof tag_rows / sizeof *tag_rows; i++) {
        json_begin_object(json);
        schema_text(json, "name", tag_rows[i].name);
        schema_text(json, "description", tag_rows[i].description);
        json_end_object(json);
    }
    json_end_array(json);
}

void openapi_write(struct json_writer *json) {
    const struct operation *route;
    json_begin_object(json);
    schema_text(json, "openapi", "3.1.0");
    schema_open(json, "info");
    schema_text(json, "title", "pawl");
    schema_text(json, "version", PAWL_VERSION);
    schema_text(json, "description",
                "Durable work: what is waiting, what is running, what failed, and what to do about it.");
    schema_open(json, "license");
    schema_text(json, "name", "MIT");
    schema_text(json, "identifier", "MIT");
    json_end_object(json);
    json_end_object(json);
    json_key(json, "servers");
    json_begin_array(json);
    json_begin_object(json);
    schema_text(json, "url", "/");
    json_end_object(json);
    json_end_array(json);
    tags(json);
    schema_open(json, "paths");
    for (size_t i = 0; (route = route_at(i)) != NULL; i++)
        if (!seen_before(i, route->path))
            path_item(json, route->path);
    json_end_object(json);
    json_key(json, "components");
    json_raw(json, str_from(components));
    json_end_object(json);
}
