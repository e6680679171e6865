/* The tools file: a JSON object of servers and tools. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "domain/authority/scope.h"
#include "handler/table.h"
#include "handler/tools/int.h"
#include "process/program.h"

struct reader {
    struct tools *tools;
    const char *path;
};

static pawl_status fault(const struct reader *reader, const struct tree *at, pawl_error *err,
                         const char *reason) {
    return error_set(err, PAWL_INVALID, "tools file", "%s:%u:%u: %s", reader->path, at->line, at->column,
                     reason);
}

static pawl_status no_memory(pawl_error *err) {
    return error_set(err, PAWL_NO_MEMORY, "tools file", "out of memory");
}

/* A text as written, or {"env": "NAME"}: secrets stay out of the file. */
static pawl_status read_value(const struct reader *reader, const struct tree *value, const char **text,
                              pawl_error *err) {
    struct arena *arena = reader->tools->arena;
    const struct tree *name = tree_get_cstr(value, "env"), *prefix = tree_get_cstr(value, "prefix");
    if (value->kind == TREE_STRING) {
        *text = arena_copy(arena, value->text.ptr, value->text.len);
        return *text != NULL ? PAWL_OK : no_memory(err);
    }
    if (name == NULL || name->kind != TREE_STRING || (prefix != NULL && prefix->kind != TREE_STRING))
        return fault(reader, value, err,
                     "a value is text, or {\"env\": \"NAME\"} for a variable of the environment");
    char *variable = arena_copy(arena, name->text.ptr, name->text.len);
    const char *found = variable != NULL ? getenv(variable) : NULL;
    if (found == NULL)
        return error_set(err, PAWL_INVALID, "tools file", "%s:%u:%u: the variable %.*s is not set",
                         reader->path, value->line, value->column, STR_ARG(name->text));
    *text = arena_printf(arena, "%.*s%s", STR_ARG(prefix != NULL ? prefix->text : STR("")), found);
    return *text != NULL ? PAWL_OK : no_memory(err);
}

/* An object of names and values, as pairs. */
static pawl_status read_pairs(const struct reader *reader, const struct tree *object,
                              struct environment_pair **pairs, size_t *count, pawl_error *err) {
    struct arena *arena = reader->tools->arena;
    if (object == NULL)
        return PAWL_OK;
    if (object->kind != TREE_OBJECT || object->count > HTTP_HEADERS_MAX / 2)
        return fault(reader, object, err, "names and values belong into an object of at most 32");
    struct environment_pair *made = arena_array(arena, object->count + 1, sizeof(*made));
    pawl_status status = made != NULL ? PAWL_OK : no_memory(err);
    for (size_t i = 0; status == PAWL_OK && i < object->count; i++) {
        const struct tree *item = object->items[i];
        made[i].name = arena_copy(arena, item->key.ptr, item->key.len);
        status = made[i].name != NULL ? read_value(reader, item, &made[i].value, err) : no_memory(err);
    }
    if (status == PAWL_OK) {
        *pairs = made;
        *count = object->count;
    }
    return status;
}

static pawl_status read_headers(const struct reader *reader, const struct tree *object,
                                struct http_header **headers, size_t *count, pawl_error *err) {
    struct environment_pair *pairs = NULL;
    size_t found = 0;
    pawl_status status = read_pairs(reader, object, &pairs, &found, err);
    struct http_header *made = arena_array(reader->tools->arena, found + 1, sizeof(*made));
    if (status == PAWL_OK && made == NULL)
        status = no_memory(err);
    for (size_t i = 0; status == PAWL_OK && i < found; i++)
        made[i] = (struct http_header){pairs[i].name, str_from(pairs[i].value)};
    if (status == PAWL_OK) {
        *headers = made;
        *count = found;
    }
    return status;
}

/* A command as one text, or as a list of words. */
static pawl_status read_command(const struct reader *reader, const struct tree *command,
                                const struct tree *arguments, char ***argv, pawl_error *err) {
    struct arena *arena = reader->tools->arena;
    size_t more = arguments != NULL && arguments->kind == TREE_ARRAY ? arguments->count : 0, count = 0;
    char **words = NULL;
    pawl_status status = PAWL_OK;
    if (command->kind == TREE_STRING && arguments == NULL) {
        status = command_split(arena, command->text, &words, err);
    } else {
        size_t first = command->kind == TREE_ARRAY ? command->count : 1;
        words = arena_array(arena, first + more + 1, sizeof(*words));
        if (words == NULL)
            return no_memory(err);
        for (size_t i = 0; i < first + more; i++) {
            const struct tree *word = i >= first                    ? arguments->items[i - first]
                                      : command->kind == TREE_ARRAY ? command->items[i]
                                                                    : command;
            if (word->kind != TREE_STRING)
                return fault(reader, word, err, "a word of a command is text");
            words[count++] = arena_copy(arena, word->text.ptr, word->text.len);
            if (words[count - 1] == NULL)
                return no_memory(err);
        }
        if (count == 0)
            return fault(reader, command, err, "the command is empty");
    }
    pawl_error reason = {0};
    if (status == PAWL_OK) {
        status = program_find(arena, words[0], &words[0], &reason);
        if (status != PAWL_OK)
            error_set(err, status, "tools file", "%s:%u:%u: %s", reader->path, command->line, command->column,
                      reason.text);
    }
    if (status == PAWL_OK)
        *argv = words;
    return status;
}

static pawl_status read_scopes(const struct reader *reader, const struct tree *list, pawl_str **scopes,
                               size_t *count, pawl_error *err) {
    if (list == NULL)
        return PAWL_OK;
    if (list->kind != TREE_ARRAY || list->count > TOOLS_SCOPES_MAX)
        return fault(reader, list, err, "scopes are a list of at most 16 names");
    pawl_str *made = arena_array(reader->tools->arena, list->count + 1, sizeof(*made));
    pawl_status status = made != NULL ? PAWL_OK : no_memory(err);
    for (size_t i = 0; status == PAWL_OK && i < list->count; i++) {
        if (list->items[i]->kind != TREE_STRING)
            return fault(reader, list->items[i], err, "a scope is text");
        /* Without a star: a tool requires, it does not grant. */
        if (scope_check_name(list->items[i]->text, false, NULL) != PAWL_OK)
            return fault(reader, list->items[i], err, "a scope is 1 to 128 of a-z A-Z 0-9 . _ : / -");
        status = str_dup(reader->tools->arena, list->items[i]->text, &made[i], err);
    }
    if (status == PAWL_OK) {
        *scopes = made;
        *count = list->count;
    }
    return status;
}

static pawl_status read_url(const struct reader *reader, const struct tree *url, const char **text,
                            pawl_error *err) {
    pawl_error why = {0};
    if (url->kind != TREE_STRING)
        return fault(reader, url, err, "an address is text");
    *text = arena_copy(reader->tools->arena, url->text.ptr, url->text.len);
    if (*text == NULL)
        return no_memory(err);
    if (http_check_url(*text, &why) != PAWL_OK)
        return fault(reader, url, err, why.text);
    return PAWL_OK;
}

static bool is_true(const struct tree *value) { return value != NULL && value->kind == TREE_TRUE; }

static pawl_status check_members(const struct reader *reader, const struct tree *object,
                                 const char *const *known, pawl_error *err) {
    if (object->kind != TREE_OBJECT)
        return fault(reader, object, err, "this must be an object");
    const struct tree *stray = tree_stray(object, known);
    if (stray == NULL)
        return PAWL_OK;
    char list[160];
    str_join(list, sizeof list, known);
    return error_set(err, PAWL_INVALID, "tools file", "%s:%u:%u: '%.*s' is not known here: there are %s",
                     reader->path, stray->line, stray->column, STR_ARG(stray->key), list);
}

static pawl_status check_name(const struct reader *reader, const struct tree *at, bool dots,
                              pawl_error *err) {
    bool good = at->key.len > 0 && at->key.len <= PAWL_NAME_BYTES_MAX &&
                !str_starts_with(at->key, STR("pawl."));
    for (size_t i = 0; i < at->key.len; i++) {
        char c = at->key.ptr[i];
        good = good && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                        c == '_' || c == '-' || (dots && c == '.'));
    }
    return good ? PAWL_OK
                : fault(reader, at, err,
                        "a name is made of letters, digits, _ and - (a tool's also of dots), and does not "
                        "begin with pawl.");
}

static pawl_status read_pins(const struct reader *reader, const struct tree *object,
                             struct tool_server *server, pawl_error *err) {
    if (object == NULL)
        return PAWL_OK;
    if (object->kind != TREE_OBJECT)
        return fault(reader, object, err, "pins are an object of tool names and hashes");
    server->pins = arena_array(reader->tools->arena, object->count + 1, sizeof(*server->pins));
    pawl_status status = server->pins != NULL ? PAWL_OK : no_memory(err);
    for (size_t i = 0; status == PAWL_OK && i < object->count; i++) {
        const struct tree *pin = object->items[i];
        if (pin->kind != TREE_STRING || pin->text.len != 64)
            return fault(reader, pin, err, "a pin is the 64 hexadecimal digits that pawl tool list shows");
        status = str_dup(reader->tools->arena, pin->key, &server->pins[i].name, err);
        if (status == PAWL_OK)
            status = str_dup(reader->tools->arena, pin->text, &server->pins[i].hash, err);
    }
    server->pin_count = status == PAWL_OK ? object->count : 0;
    return status;
}

static pawl_status add_server(const struct reader *reader, const struct tree *in, pawl_error *err) {
    static const char *const known[] = {"command", "args", "env",  "url",      "headers",     "allow_private",
                                        "scopes",  "pins", "type", "sessions", "description", NULL};
    struct tools *tools = reader->tools;
    const struct tree *command = tree_get_cstr(in, "command"), *url = tree_get_cstr(in, "url");
    const struct tree *sessions = tree_get_cstr(in, "sessions");
    int64_t sessions_max = TOOLS_SESSIONS_DEFAULT;
    struct tool_server *server = &tools->servers[tools->server_count];
    struct environment_pair *pairs = NULL;
    struct http_header *headers = NULL;
    char **argv = NULL;
    if (tools->server_count == TOOLS_SERVERS_MAX)
        return fault(reader, in, err, "there are 64 servers already, which is the most");
    pawl_status status = check_members(reader, in, known, err);
    if (status == PAWL_OK)
        status = check_name(reader, in, false, err);
    if (status != PAWL_OK)
        return status;
    if ((command == NULL) == (url == NULL))
        return fault(reader, in, err, "a server has either a command or a url");
    if (sessions != NULL &&
        (!tree_to_i64(sessions, &sessions_max) || sessions_max < 1 || sessions_max > TOOLS_SESSIONS_MAX))
        return fault(reader, sessions, err, "sessions is a number from 1 to 64");
    memset(server, 0, sizeof(*server));
    server->config.name = arena_copy(tools->arena, in->key.ptr, in->key.len);
    status = server->config.name != NULL ? PAWL_OK : no_memory(err);
    if (status == PAWL_OK && command != NULL)
        status = read_command(reader, command, tree_get_cstr(in, "args"), &argv, err);
    if (status == PAWL_OK && url != NULL)
        status = read_url(reader, url, &server->config.url, err);
    if (status == PAWL_OK)
        status = read_pairs(reader, tree_get_cstr(in, "env"), &pairs, &server->config.pair_count, err);
    if (status == PAWL_OK)
        status =
            read_headers(reader, tree_get_cstr(in, "headers"), &headers, &server->config.header_count, err);
    if (status == PAWL_OK)
        status = read_scopes(reader, tree_get_cstr(in, "scopes"), &server->scopes, &server->scope_count, err);
    if (status == PAWL_OK)
        status = read_pins(reader, tree_get_cstr(in, "pins"), server, err);
    if (status != PAWL_OK)
        return status;
    server->tools = tools;
    server->config.launcher = tools->launcher;
    server->config.argv = argv;
    server->config.pairs = pairs;
    server->config.headers = headers;
    server->config.allow_private = is_true(tree_get_cstr(in, "allow_private"));
    server->sessions_max = (int)sessions_max;
    pthread_mutex_init(&server->lock, NULL);
    tools->server_count++;
    return PAWL_OK;
}

/* How an endpoint is called: with the arguments as the body, or as the query. */
static pawl_status read_method(const struct reader *reader, const struct tree *in, struct tool *tool,
                               pawl_error *err) {
    const struct tree *method = tree_get_cstr(in, "method");
    if (method == NULL)
        return PAWL_OK;
    tool->by_query = method->kind == TREE_STRING && str_equal_cstr(method->text, "GET");
    if (tool->url == NULL || (!tool->by_query && !str_equal_cstr(method->text, "POST")))
        return fault(reader, method, err, "method is for an http tool, and is GET or POST");
    return PAWL_OK;
}

static pawl_status add_tool(const struct reader *reader, const struct tree *in, pawl_error *err) {
    static const char *const known[] = {"exec",        "http",          "env",    "headers",
                                        "secret",      "allow_private", "scopes", "input",
                                        "description", "method",        NULL};
    struct tools *tools = reader->tools;
    struct tool tool = {0};
    const struct tree *exec = tree_get_cstr(in, "exec"), *http = tree_get_cstr(in, "http");
    const struct tree *secret = tree_get_cstr(in, "secret"), *input = tree_get_cstr(in, "input");
    const struct tree *description = tree_get_cstr(in, "description");
    if (tools->count == TOOLS_MAX)
        return fault(reader, in, err, "there are 256 tools already, which is the most");
    pawl_status status = check_members(reader, in, known, err);
    if (status == PAWL_OK)
        status = check_name(reader, in, true, err);
    if (status != PAWL_OK)
        return status;
    if ((exec == NULL) == (http == NULL))
        return fault(reader, in, err, "a tool has either exec (a command) or http (an address)");
    status = str_dup(tools->arena, in->key, &tool.name, err);
    if (status == PAWL_OK && description != NULL)
        status = str_dup(tools->arena, description->text, &tool.description, err);
    if (status == PAWL_OK && exec != NULL)
        status = read_command(reader, exec, NULL, &tool.argv, err);
    if (status == PAWL_OK && http != NULL)
        status = read_url(reader, http, &tool.url, err);
    if (status == PAWL_OK)
        status = read_method(reader, in, &tool, err);
    if (status == PAWL_OK && secret != NULL)
        status = read_value(reader, secret, &tool.secret, err);
    if (status == PAWL_OK)
        status = read_pairs(reader, tree_get_cstr(in, "env"), &tool.pairs, &tool.pair_count, err);
    if (status == PAWL_OK)
        status = read_headers(reader, tree_get_cstr(in, "headers"), &tool.headers, &tool.header_count, err);
    if (status == PAWL_OK)
        status = read_scopes(reader, tree_get_cstr(in, "scopes"), &tool.scopes, &tool.scope_count, err);
    if (status == PAWL_OK && input != NULL) {
        pawl_error why = {0};
        if (schema_compile(input, NULL, &tool.input, &why) != PAWL_OK)
            status = fault(reader, input, err, why.text);
    }
    tool.kind = exec != NULL ? TOOL_PROCESS : TOOL_HTTP;
    tool.allow_private = is_true(tree_get_cstr(in, "allow_private"));
    if (status == PAWL_OK)
        tools->items[tools->count++] = tool;
    return status;
}

pawl_status tools_add_text(struct tools *tools, pawl_str text, const char *path, pawl_error *err) {
    static const char *const known[] = {"mcpServers", "servers", "tools", NULL};
    struct reader reader = {tools, path};
    struct arena *arena = arena_create(0);
    const struct tree *root = NULL;
    pawl_error why = {0};
    if (arena == NULL)
        return no_memory(err);
    pawl_status status = tree_parse(arena, text, NULL, &root, &why);
    if (status != PAWL_OK)
        status = error_set(err, status, "tools file", "%s: %s", path, why.text);
    if (status == PAWL_OK)
        status = check_members(&reader, root, known, err);
    for (size_t i = 0; status == PAWL_OK && i < root->count; i++) {
        const struct tree *part = root->items[i];
        if (part->kind != TREE_OBJECT)
            status = fault(&reader, part, err, "this must be an object of names");
        for (size_t k = 0; status == PAWL_OK && k < part->count; k++)
            status = str_equal_cstr(part->key, "tools") ? add_tool(&reader, part->items[k], err)
                                                        : add_server(&reader, part->items[k], err);
    }
    arena_free(arena);
    return status;
}

pawl_status tools_add_file(struct tools *tools, const char *path, pawl_error *err) {
    pawl_str text = {NULL, 0};
    struct arena *arena = arena_create(2 * TOOLS_FILE_BYTES_MAX);
    if (arena == NULL)
        return error_set(err, PAWL_NO_MEMORY, "tools file", "out of memory");
    pawl_status status = file_read(arena, path, TOOLS_FILE_BYTES_MAX, &text, err);
    if (status == PAWL_OK)
        status = tools_add_text(tools, text, path, err);
    arena_free(arena);
    return status;
}
