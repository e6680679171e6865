/* Writing the OpenAPI 3.1 document from the table of routes. */
#include "server/http/openapi.h"

#include <string.h>

#include "base/limits.h"
#include "base/str.h"
#include "server/access/auth.h"
#include "server/http/route.h"

static void text(struct json_writer *json, const char *key, const char *value) {
    json_key(json, key);
    json_cstr(json, value);
}

static void open_object(struct json_writer *json, const char *key) {
    json_key(json, key);
    json_begin_object(json);
}

static void reference(struct json_writer *json, const char *target) {
    json_begin_object(json);
    text(json, "$ref", target);
    json_end_object(json);
}

/* ---- Fields */

static void choices(struct json_writer *json, const char *list) {
    json_key(json, "enum");
    json_begin_array(json);
    while (*list != '\0') {
        size_t len = strcspn(list, "|");
        json_str(json, (pawl_str){list, len});
        list += list[len] == '|' ? len + 1 : len;
    }
    json_end_array(json);
}

static void bounds(struct json_writer *json, const char *low, const char *high, const struct field *field) {
    if (field->min != 0 || strcmp(low, "minimum") == 0) {
        json_key(json, low);
        json_int(json, field->min);
    }
    if (field->max != 0) {
        json_key(json, high);
        json_int(json, field->max);
    }
}

static void array(struct json_writer *json, const struct field *field, const char *type, const char *format) {
    text(json, "type", "array");
    bounds(json, "minItems", "maxItems", field);
    open_object(json, "items");
    text(json, "type", type);
    if (format != NULL)
        text(json, "format", format);
    json_end_object(json);
}

static void field_schema(struct json_writer *json, const struct field *field) {
    json_begin_object(json);
    switch (field->type) {
    case FIELD_TEXT:
    case FIELD_CURSOR:
        text(json, "type", "string");
        json_key(json, "minLength");
        json_int(json, field->min != 0 ? field->min : 1);
        break;
    case FIELD_INT:
        text(json, "type", "integer");
        text(json, "format", "int64");
        bounds(json, "minimum", "maximum", field);
        break;
    case FIELD_BOOL:
        text(json, "type", "boolean");
        break;
    case FIELD_UUID:
        text(json, "type", "string");
        text(json, "format", "uuid");
        break;
    case FIELD_ID:
        text(json, "type", "string");
        text(json, "pattern", "^[0-9a-fA-F]{8}[0-9a-fA-F-]{0,28}$");
        break;
    case FIELD_CHOICE:
        text(json, "type", "string");
        choices(json, field->choices);
        break;
    case FIELD_JSON:
        break; /* anything */
    case FIELD_OBJECT:
        text(json, "type", "object");
        break;
    case FIELD_TEXTS:
        array(json, field, "string", NULL);
        break;
    case FIELD_INTS:
        array(json, field, "integer", "int64");
        break;
    case FIELD_UUIDS:
        array(json, field, "string", "uuid");
        break;
    case FIELD_OBJECTS:
        array(json, field, "object", NULL);
        break;
    }
    if (field->in == IN_BODY)
        text(json, "description", field->help);
    json_end_object(json);
}

static void parameters(struct json_writer *json, const struct operation *route) {
    json_key(json, "parameters");
    json_begin_array(json);
    for (size_t i = 0; i < route->field_count; i++) {
        const struct field *field = &route->fields[i];
        if (field->in == IN_BODY)
            continue;
        json_begin_object(json);
        text(json, "name", field->name);
        text(json, "in", field->in == IN_PATH ? "path" : "query");
        if (field->required) {
            json_key(json, "required");
            json_bool(json, true);
        }
        text(json, "description", field->help);
        json_key(json, "schema");
        field_schema(json, field);
        json_end_object(json);
    }
    if (route->method == METHOD_POST)
        reference(json, "#/components/parameters/IdempotencyKey");
    json_end_array(json);
}

static bool has_body(const struct operation *route, bool required) {
    for (size_t i = 0; i < route->field_count; i++)
        if (route->fields[i].in == IN_BODY && (!required || route->fields[i].required))
            return true;
    return false;
}

static void request_body(struct json_writer *json, const struct operation *route) {
    if (!has_body(route, false))
        return;
    open_object(json, "requestBody");
    json_key(json, "required");
    json_bool(json, has_body(route, true));
    open_object(json, "content");
    open_object(json, "application/json");
    open_object(json, "schema");
    text(json, "type", "object");
    json_key(json, "additionalProperties");
    json_bool(json, false);
    open_object(json, "properties");
    for (size_t i = 0; i < route->field_count; i++) {
        if (route->fields[i].in != IN_BODY)
            continue;
        json_key(json, route->fields[i].name);
        field_schema(json, &route->fields[i]);
    }
    json_end_object(json);
    if (has_body(route, true)) {
        json_key(json, "required");
        json_begin_array(json);
        for (size_t i = 0; i < route->field_count; i++)
            if (route->fields[i].in == IN_BODY && route->fields[i].required)
                json_cstr(json, route->fields[i].name);
        json_end_array(json);
    }
    for (int level = 0; level < 4; level++)
        json_end_object(json);
}

/* ---- Answers */

static void nullable(struct json_writer *json, const char *key, const char *suffix, const char *type,
                     const char *format) {
    char name[64];
    snprintf(name, sizeof name, "%s%s", key, suffix);
    open_object(json, name);
    if (type != NULL) {
        json_key(json, "type");
        json_begin_array(json);
        json_cstr(json, type);
        json_cstr(json, "null");
        json_end_array(json);
    }
    if (format != NULL)
        text(json, "format", format);
    json_end_object(json);
}

static void columns_schema(struct json_writer *json, const struct operation *route) {
    json_begin_object(json);
    text(json, "type", "object");
    open_object(json, "properties");
    for (size_t i = 0; i < route->column_count; i++) {
        const struct column *column = &route->columns[i];
        switch (column->type) {
        case CELL_TEXT:
            nullable(json, column->key, "", "string", NULL);
            break;
        case CELL_INT:
            nullable(json, column->key, "", "integer", "int64");
            break;
        case CELL_BOOL:
            nullable(json, column->key, "", "boolean", NULL);
            break;
        case CELL_UUID:
            nullable(json, column->key, "", "string", "uuid");
            break;
        case CELL_TIME:
            nullable(json, column->key, "_ms", "integer", "int64");
            nullable(json, column->key, "_at", "string", "date-time");
            break;
        case CELL_DURATION:
            nullable(json, column->key, "_ms", "integer", "int64");
            break;
        case CELL_JSON:
            nullable(json, column->key, "", NULL, NULL);
            break;
        }
    }
    json_end_object(json);
    json_end_object(json);
}

static void list_schema(struct json_writer *json, const struct operation *route) {
    json_begin_object(json);
    text(json, "type", "object");
    json_key(json, "required");
    json_begin_array(json);
    json_cstr(json, "items");
    json_cstr(json, "next");
    json_cstr(json, "more");
    json_end_array(json);
    open_object(json, "properties");
    open_object(json, "items");
    text(json, "type", "array");
    json_key(json, "items");
    columns_schema(json, route);
    json_end_object(json);
    nullable(json, "next", "", "string", NULL);
    open_object(json, "more");
    text(json, "type", "boolean");
    json_end_object(json);
    json_end_object(json);
    json_end_object(json);
}

static void answer_content(struct json_writer *json, const struct operation *route) {
    if (route->shape == ANSWER_EMPTY)
        return;
    open_object(json, "content");
    open_object(json, route->shape == ANSWER_TEXT     ? "text/plain"
                      : route->shape == ANSWER_STREAM ? "text/event-stream"
                                                      : "application/json");
    json_key(json, "schema");
    if (route->shape == ANSWER_LIST) {
        list_schema(json, route);
    } else if (route->shape == ANSWER_RECORD) {
        columns_schema(json, route);
    } else {
        json_begin_object(json);
        text(json, "type", route->shape == ANSWER_OBJECT ? "object" : "string");
        json_end_object(json);
    }
    json_end_object(json);
    json_end_object(json);
}

static void responses(struct json_writer *json, const struct operation *route) {
    char status[8];
    open_object(json, "responses");
    snprintf(status, sizeof status, "%d", route->status != 0 ? route->status : 200);
    open_object(json, status);
    text(json, "description", route->status == 202 ? "It runs; ask for its progress." : "It is done.");
    answer_content(json, route);
    json_end_object(json);
    json_key(json, "4XX");
    reference(json, "#/components/responses/Problem");
    json_key(json, "5XX");
    reference(json, "#/components/responses/Problem");
    json_end_object(json);
}

static void operation(struct json_writer *json, const struct operation *route) {
    static const char *const keys[METHOD_COUNT] = {"get", "post", "put", "delete"};
    open_object(json, keys[route->method]);
    text(json, "operationId", route->id);
    json_key(json, "tags");
    json_begin_array(json);
    json_cstr(json, route->tag);
    json_end_array(json);
    text(json, "summary", route->route_summary != NULL ? route->route_summary : route->summary);
    text(json, "x-credential", credential_name(route->credential));
    json_key(json, "security");
    json_begin_array(json);
    if (route->credential != CREDENTIAL_NONE) {
        json_begin_object(json);
        json_key(json, route->credential == CREDENTIAL_WORKER ? "worker" : "token");
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

/* Every tag of a route is here; a test checks that. */
static const struct {
    const char *name, *description;
} tag_rows[] = {
    {"health", "Whether the server and its database are there, and metrics."},
    {"session", "Signing in from a browser."},
    {"status", "The state of the whole system: now, recently, and live."},
    {"messages", "Messages of the outbox, the inbox and perspectives, and sending."},
    {"dead letters", "Messages that failed for good and are waiting for a person."},
    {"fleet", "Instances, lanes, duties, and where a stream belongs."},
    {"events", "The event store."},
    {"perspectives", "Read models and how far they are."},
    {"receptors", "Handlers of events: their patterns, progress and results."},
    {"jobs", "Pooled work: jobs, their queues and limits."},
    {"tasks", "What jobs are made of."},
    {"pipelines", "Steps of tasks."},
    {"schedules", "What comes when."},
    {"runs", "Reading a source in partitions, page by page."},
    {"agents", "Which tools each agent may use, and what was refused."},
    {"audit", "What people did and what was executed."},
    {"pauses", "What is held up."},
    {"alerts", "Rules, their history, and silences."},
    {"doctor", "What endangers the work, and what to do."},
    {"database", "Settings, upkeep, invariants."},
    {"tools", "Transports and tools of this installation."},
    {"operations", "Bulk operations on everything that matches a filter."},
    {"leases", "Workers over HTTP; off unless the server is started with --lease-api."},
};

static void tags(struct json_writer *json) {
    json_key(json, "tags");
    json_begin_array(json);
    for (size_t i = 0; i < sizeof tag_rows / sizeof *tag_rows; i++) {
        json_begin_object(json);
        text(json, "name", tag_rows[i].name);
        text(json, "description", tag_rows[i].description);
        json_end_object(json);
    }
    json_end_array(json);
}

void openapi_write(struct json_writer *json) {
    const struct operation *route;
    json_begin_object(json);
    text(json, "openapi", "3.1.0");
    open_object(json, "info");
    text(json, "title", "pawl");
    text(json, "version", PAWL_VERSION);
    text(json, "description",
         "Durable work: what is waiting, what is running, what failed, and what to do about it.");
    open_object(json, "license");
    text(json, "name", "MIT");
    text(json, "identifier", "MIT");
    json_end_object(json);
    json_end_object(json);
    json_key(json, "servers");
    json_begin_array(json);
    json_begin_object(json);
    text(json, "url", "/");
    json_end_object(json);
    json_end_array(json);
    tags(json);
    open_object(json, "paths");
    for (size_t i = 0; (route = route_at(i)) != NULL; i++)
        if (!seen_before(i, route->path))
            path_item(json, route->path);
    json_end_object(json);
    json_key(json, "components");
    json_raw(json, str_from(components));
    json_end_object(json);
}
