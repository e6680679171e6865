/* Messages of the protocol: reading, choosing what they ask for, and answering. Two generations: up to
 * 2025-11-25 a client introduces itself first; since 2026-07-28 every request says all that matters. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/json/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "mcp/mcp.h"
#include "operations/front/schema.h"

#define VERSION_MODERN "2026-07-28"
#define VERSION_OLDER "2025-11-25"
#define VERSION_OLDEST "2025-06-18"
#define META "io.modelcontextprotocol/"

enum { CACHE_MS = 60000, ERROR_BYTES = 600 };

static const char instructions[] = "pawl hands out durable work: messages, jobs, tasks with schedules, runs. "
                                   "Look first: job_list, job_show; why "
                                   "says what something is waiting for and what to do. A task is a pipeline "
                                   "that can be scheduled and run; wait for "
                                   "the result of a job with job_wait. Lists are pages: pass `next` as "
                                   "`cursor`. Errors say what to do next. What "
                                   "changes something is recorded under the name of this connection.";

/* ---- Answers */

static void answer_begin(struct mcp_message *message) {
    buf_reset(&message->out);
    buf_append_cstr(&message->out, "{\"jsonrpc\":\"2.0\"");
    if (message->id != NULL) { /* otherwise it could not be read */
        buf_append_cstr(&message->out, ",\"id\":");
        tree_write(&message->out, message->id);
    }
}

void mcp_refuse_with(struct mcp_message *message, int code, int status, const char *text, const char *data) {
    answer_begin(message);
    buf_printf(&message->out, ",\"error\":{\"code\":%d,\"message\":", code);
    json_quote(&message->out, str_from(text));
    if (data != NULL)
        buf_printf(&message->out, ",\"data\":%s", data);
    buf_append_cstr(&message->out, "}}");
    message->status = status;
}

void mcp_refuse(struct mcp_message *message, int code, int status, const char *format, ...) {
    char text[ERROR_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    mcp_refuse_with(message, code, status, text, NULL);
}

static void unsupported(struct mcp_message *message, pawl_str version) {
    AUTO_BUF(data, 0);
    buf_append_cstr(&data, "{\"supported\":[\"" VERSION_MODERN "\",\"" VERSION_OLDER "\",\"" VERSION_OLDEST
                           "\"],\"requested\":");
    json_quote(&data, version);
    buf_append_char(&data, '}');
    mcp_refuse_with(message, MCP_NO_VERSION, 400, "this version of the protocol is not supported", data.ptr);
}

/* ---- Methods; each writes the members of its result, or refuses */

static void server_info(struct json_writer *json, const char *key) {
    schema_open(json, key);
    schema_text(json, "name", "pawl");
    schema_text(json, "title", "pawl: durable work");
    schema_text(json, "version", PAWL_VERSION);
    json_end_object(json);
}

static void capabilities(struct json_writer *json) {
    schema_open(json, "capabilities");
    schema_open(json, "tools");
    json_end_object(json);
    schema_open(json, "resources");
    json_end_object(json);
    schema_open(json, "prompts");
    json_end_object(json);
    json_end_object(json);
    schema_text(json, "instructions", instructions);
}

static void initialize(struct mcp_message *message, struct json_writer *json) {
    const struct tree *wanted = tree_get_cstr(message->params, "protocolVersion");
    if (wanted == NULL || wanted->kind != TREE_STRING) {
        mcp_refuse(message, MCP_INVALID_PARAMS, 200, "protocolVersion: it is missing");
        return;
    }
    message->peer->greeted = true;
    bool oldest = str_equal_cstr(wanted->text, VERSION_OLDEST);
    schema_text(json, "protocolVersion", oldest ? VERSION_OLDEST : VERSION_OLDER);
    server_info(json, "serverInfo");
    capabilities(json);
}

static void discover(struct mcp_message *message, struct json_writer *json) {
    (void)message;
    json_key(json, "supportedVersions");
    json_raw(json, STR("[\"" VERSION_MODERN "\",\"" VERSION_OLDER "\",\"" VERSION_OLDEST "\"]"));
    capabilities(json);
}

static void ping(struct mcp_message *message, struct json_writer *json) { (void)message, (void)json; }

/* There are as many as there is work: they are found by their address. */
static void resources_list(struct mcp_message *message, struct json_writer *json) {
    (void)message;
    json_key(json, "resources");
    json_raw(json, STR("[]"));
}

/* There are none yet; some clients ask anyway. */
static void prompts_list(struct mcp_message *message, struct json_writer *json) {
    (void)message;
    json_key(json, "prompts");
    json_raw(json, STR("[]"));
}

static void prompts_get(struct mcp_message *message, struct json_writer *json) {
    (void)json;
    mcp_refuse(message, MCP_INVALID_PARAMS, 200, "there is no such prompt; this server has none");
}

static const struct method {
    const char *name;
    bool older, modern; /* where it exists */
    bool cached;
    const char *named; /* the parameter that the header Mcp-Name repeats; NULL: none */
    void (*answer)(struct mcp_message *message, struct json_writer *json);
} methods[] = {
    {"initialize", true, false, false, NULL, initialize},
    {"ping", true, false, false, NULL, ping},
    {"server/discover", false, true, true, NULL, discover},
    {"tools/list", true, true, true, NULL, mcp_tools_list},
    {"tools/call", true, true, false, "name", mcp_tools_call},
    {"resources/list", true, true, true, NULL, resources_list},
    {"resources/templates/list", true, true, true, NULL, mcp_resources_templates},
    {"resources/read", true, true, true, "uri", mcp_resources_read},
    {"prompts/list", true, true, true, NULL, prompts_list},
    {"prompts/get", true, true, false, "name", prompts_get},
};

static const struct method *method_of(const struct mcp_message *message) {
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (str_equal_cstr(message->method, methods[i].name))
            return (message->modern ? methods[i].modern : methods[i].older) ? &methods[i] : NULL;
    return NULL;
}

/* ---- Reading */

/* A header as the client meant it: =?base64?…?= is text that would not survive in a header. */
static pawl_str header_text(struct mcp_message *message, const char *value) {
    pawl_str text = str_trim(str_from(value));
    enum { BEGIN = 9, END = 2 };
    if (!str_starts_with(text, STR("=?base64?")) || text.len < BEGIN + END)
        return text;
    text = (pawl_str){text.ptr + BEGIN, text.len - BEGIN - END};
    pawl_error err;
    AUTO_BUF(plain, 0);
    pawl_str meant = text;
    if (!base64_decode(&plain, text) || str_dup(message->arena, buf_str(&plain), &meant, &err) != PAWL_OK)
        meant = text;
    return meant;
}

static bool header_fits(struct mcp_message *message, const char *name, const char *value,
                        const struct tree *member) {
    if (value != NULL && member != NULL && member->kind == TREE_STRING &&
        str_equal(header_text(message, value), member->text))
        return true;
    mcp_refuse(message, MCP_HEADER_MISMATCH, 400, "the header %s %s", name,
               value == NULL ? "is missing" : "does not match the body");
    return false;
}

/* Of the newer protocol. */
static bool check_modern(struct mcp_message *message, const struct tree *method) {
    const struct tree *version = tree_get_cstr(message->meta, META "protocolVersion");
    const struct tree *abilities = tree_get_cstr(message->meta, META "clientCapabilities");
    if (version == NULL || version->kind != TREE_STRING || abilities == NULL ||
        abilities->kind != TREE_OBJECT) {
        mcp_refuse(message, MCP_INVALID_PARAMS, 400,
                   "params._meta needs " META "protocolVersion (text) and " META
                   "clientCapabilities (an object)");
        return false;
    }
    if (message->headers != NULL &&
        !header_fits(message, "MCP-Protocol-Version", message->headers->version, version))
        return false;
    if (!str_equal_cstr(version->text, VERSION_MODERN)) {
        unsupported(message, version->text);
        return false;
    }
    const struct method *found = method_of(message);
    if (message->headers == NULL)
        return true;
    return header_fits(message, "Mcp-Method", message->headers->method, method) &&
           (found == NULL || found->named == NULL ||
            header_fits(message, "Mcp-Name", message->headers->name,
                        tree_get_cstr(message->params, found->named)));
}

static bool check_older(struct mcp_message *message) {
    const char *version = message->headers != NULL ? message->headers->version : NULL;
    bool first = str_equal_cstr(message->method, "initialize") || str_equal_cstr(message->method, "ping");
    if (version != NULL && !first && strcmp(version, VERSION_OLDER) != 0 &&
        strcmp(version, VERSION_OLDEST) != 0 && strcmp(version, "2025-03-26") != 0) {
        unsupported(message, str_from(version));
        return false;
    }
    if (message->peer->remembers && !message->peer->greeted && !first) {
        mcp_refuse(
            message, MCP_INVALID_REQUEST, 400,
            "initialize comes first, or every request says in params._meta that it is of " VERSION_MODERN);
        return false;
    }
    return true;
}

/* Which generation a request is of, and whether it keeps to it. */
static bool check_era(struct mcp_message *message, const struct tree *method) {
    const char *version = message->headers != NULL ? message->headers->version : NULL;
    message->modern = str_equal_cstr(message->method, "server/discover") ||
                      tree_get_cstr(message->meta, META "protocolVersion") != NULL ||
                      (version != NULL && strcmp(version, VERSION_MODERN) == 0 &&
                       !str_equal_cstr(message->method, "initialize"));
    return message->modern ? check_modern(message, method) : check_older(message);
}

static bool read_object(struct mcp_message *message, pawl_str text) {
    const struct tree *root = NULL;
    pawl_error err;
    if (tree_parse(message->arena, text, NULL, &root, &err) != PAWL_OK) {
        mcp_refuse(message, MCP_PARSE_ERROR, 400, "the message is not JSON: %.400s", err.text);
        return false;
    }
    const struct tree *version = tree_get_cstr(root, "jsonrpc"), *method = tree_get_cstr(root, "method"),
                      *id = tree_get_cstr(root, "id");
    if (root->kind == TREE_ARRAY) {
        mcp_refuse(message, MCP_INVALID_REQUEST, 400,
                   "several messages at once are not supported; send them "
                   "one by one");
        return false;
    }
    bool named = id != NULL && (id->kind == TREE_STRING || id->kind == TREE_NUMBER);
    message->id = named ? id : NULL;
    if (version == NULL || !str_equal_cstr(version->text, "2.0") || (id != NULL && !named) ||
        (method != NULL && method->kind != TREE_STRING)) {
        mcp_refuse(message, MCP_INVALID_REQUEST, 400,
                   "the message is not a request of JSON-RPC 2.0 with an id that is text or a number");
        return false;
    }
    if (method == NULL) /* an answer, to a question that was not asked */
        return false;
    message->method = method->text;
    message->params = tree_get_cstr(root, "params");
    message->meta = tree_get_cstr(message->params, "_meta");
    if (message->params != NULL && message->params->kind != TREE_OBJECT) {
        mcp_refuse(message, MCP_INVALID_PARAMS, 400, "params: it must be an object");
        return false;
    }
    return message->id != NULL && check_era(message, method);
}

void mcp_message_read(struct mcp_message *message, struct mcp_peer *peer, const struct mcp_headers *headers,
                      struct arena *arena, pawl_str text) {
    *message = (struct mcp_message){.arena = arena, .peer = peer, .headers = headers, .status = 200};
    buf_init(&message->out, 4 * (size_t)MCP_RECORD_BYTES_MAX);
    buf_init(&message->answer, 0);
    message->waits = read_object(message, text); /* for its first step */
    if (!message->waits && message->out.len == 0)
        message->status = 202; /* nothing is answered */
}

void mcp_message_free(struct mcp_message *message) {
    buf_free(&message->out);
    buf_free(&message->answer);
    arena_free(message->scratch);
}

/* ---- Answering */

static void result(struct mcp_message *message, const struct method *method) {
    struct json_writer json;
    AUTO_BUF(members, 4 * (size_t)MCP_RECORD_BYTES_MAX);
    json_writer_init(&json, &members);
    json_begin_object(&json);
    if (message->modern) {
        schema_text(&json, "resultType", "complete");
        schema_open(&json, "_meta");
        server_info(&json, META "serverInfo");
        json_end_object(&json);
    }
    if (message->modern && method->cached) {
        bool live = method->answer == mcp_resources_read;
        json_key(&json, "ttlMs");
        json_int(&json, live ? 0 : CACHE_MS);
        schema_text(&json, "cacheScope", "private");
    }
    method->answer(message, &json);
    json_end_object(&json);
    if (!message->waits && message->out.len == 0) {
        answer_begin(message);
        buf_append_cstr(&message->out, ",\"result\":");
        buf_append_str(&message->out, buf_str(&members));
        buf_append_char(&message->out, '}');
        if (members.failed || message->out.failed)
            mcp_refuse(message, MCP_INTERNAL, 200, "the answer is too big, or there is no memory for it");
    }
}

void mcp_message_step(struct mcp_message *message, const struct request *host) {
    const struct method *method = method_of(message);
    if (!message->waits)
        return;
    message->waits = false;
    message->status = 200;
    message->host = host;
    buf_reset(&message->out);
    if (method != NULL)
        result(message, method);
    else
        mcp_refuse(message, MCP_NO_METHOD, message->modern ? 404 : 200, "there is no method %.100s here",
                   message->method.ptr);
    message->host = NULL;
}

bool mcp_message_report(struct mcp_message *message, struct buf *out) {
    const struct tree *token = tree_get_cstr(message->meta, "progressToken");
    int64_t now_ms = clock_boot_ms();
    if (token == NULL ||
        (strcmp(message->progress, message->reported) == 0 && now_ms - message->reported_ms < MCP_REPORT_MS))
        return false;
    buf_append_cstr(
        out, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":");
    tree_write(out, token);
    buf_printf(out, ",\"progress\":%u", ++message->progressed);
    if (message->progress[0] != '\0') {
        buf_append_cstr(out, ",\"message\":");
        json_quote(out, str_from(message->progress));
    }
    buf_append_cstr(out, "}}");
    memcpy(message->reported, message->progress, sizeof message->reported);
    message->reported_ms = now_ms;
    return true;
}
