/* The tools file: a JSON object of servers and tools. */
#include <stdlib.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json/tree_read.h"
#include "base/limits.h"
#include "base/str.h"
#include "domain/authority/scope.h"
#include "handler/tools/int.h"
#include "process/program.h"

struct tools_reader {
    struct tree_reader in; /* its arena is the registry's */
    struct tools *tools;
};

static char *copy(struct tools_reader *reader, pawl_str text) {
    char *made = arena_copy(reader->in.arena, text.ptr, text.len);
    if (made == NULL)
        tree_no_memory(&reader->in);
    return made;
}

static void *array(struct tools_reader *reader, size_t count, size_t size) {
    void *made = arena_array(reader->in.arena, count + 1, size);
    if (made == NULL)
        tree_no_memory(&reader->in);
    return made;
}

static pawl_str copy_str(struct tools_reader *reader, pawl_str text) {
    pawl_str made = {copy(reader, text), text.len};
    return made;
}

/* A text as written, or {"env": "NAME"}: secrets stay out of the file. */
static const char *read_value(struct tools_reader *reader, const struct tree *value) {
    struct tree_reader *in = &reader->in;
    const struct tree *name = tree_get_cstr(value, "env"), *prefix = tree_get_cstr(value, "prefix");
    if (value->kind == TREE_STRING)
        return copy(reader, value->text);
    if (name == NULL || name->kind != TREE_STRING || (prefix != NULL && prefix->kind != TREE_STRING)) {
        tree_wrong(in, value, "a value is text, or {\"env\": \"NAME\"} for a variable of the environment");
        return NULL;
    }
    char *variable = copy(reader, name->text);
    const char *found = variable != NULL ? getenv(variable) : NULL;
    if (found == NULL) {
        tree_wrong(in, value, "the variable %.*s is not set", STR_ARG(name->text));
        return NULL;
    }
    char *text = arena_printf(in->arena, "%.*s%s", STR_ARG(prefix != NULL ? prefix->text : STR("")), found);
    if (text == NULL)
        tree_no_memory(in);
    return text;
}

/* An object of names and values, as pairs. */
static struct environment_pair *read_pairs(struct tools_reader *reader, const struct tree *object,
                                           size_t *count) {
    if (object == NULL)
        return NULL;
    if (object->kind != TREE_OBJECT || object->count > HTTP_HEADERS_MAX / 2) {
        tree_wrong(&reader->in, object, "names and values belong into an object of at most 32");
        return NULL;
    }
    struct environment_pair *made = array(reader, object->count, sizeof(*made));
    for (size_t i = 0; made != NULL && i < object->count; i++)
        made[i] = (struct environment_pair){copy(reader, object->items[i]->key),
                                            read_value(reader, object->items[i])};
    *count = object->count;
    return made;
}

static struct http_header *read_headers(struct tools_reader *reader, const struct tree *object,
                                        size_t *count) {
    struct environment_pair *pairs = read_pairs(reader, object, count);
    struct http_header *made = pairs != NULL ? array(reader, *count, sizeof(*made)) : NULL;
    for (size_t i = 0; made != NULL && i < *count; i++)
        made[i] = (struct http_header){pairs[i].name, str_from(pairs[i].value)};
    return made;
}

/* The words of a command that is a list, or a program and its arguments. */
static char **read_words(struct tools_reader *reader, const struct tree *command,
                         const struct tree *arguments) {
    size_t more = arguments != NULL && arguments->kind == TREE_ARRAY ? arguments->count : 0;
    size_t first = command->kind == TREE_ARRAY ? command->count : 1;
    char **words = array(reader, first + more, sizeof(*words));
    for (size_t i = 0; words != NULL && i < first + more; i++) {
        const struct tree *word = i >= first                    ? arguments->items[i - first]
                                  : command->kind == TREE_ARRAY ? command->items[i]
                                                                : command;
        if (word->kind != TREE_STRING)
            tree_wrong(&reader->in, word, "a word of a command is text");
        words[i] = copy(reader, word->text);
    }
    if (first + more == 0)
        tree_wrong(&reader->in, command, "the command is empty");
    return words;
}

/* A command as one text, or as a list of words. */
static char **read_command(struct tools_reader *reader, const struct tree *command,
                           const struct tree *arguments) {
    struct tree_reader *in = &reader->in;
    char **words = NULL;
    pawl_error reason = {0};
    if (in->status != PAWL_OK)
        return NULL;
    if (command->kind == TREE_STRING && arguments == NULL)
        in->status = command_split(in->arena, command->text, &words, in->err);
    else
        words = read_words(reader, command, arguments);
    if (in->status != PAWL_OK)
        return NULL;
    pawl_status status = program_find(in->arena, words[0], &words[0], &reason);
    if (status != PAWL_OK) {
        (void)tree_wrong(in, command, "%s", reason.text);
        in->status = status;
    }
    return words;
}

static pawl_str *read_scopes(struct tools_reader *reader, const struct tree *list, size_t *count) {
    if (list == NULL)
        return NULL;
    if (list->kind != TREE_ARRAY || list->count > TOOLS_SCOPES_MAX) {
        tree_wrong(&reader->in, list, "scopes are a list of at most 16 names");
        return NULL;
    }
    pawl_str *made = array(reader, list->count, sizeof(*made));
    for (size_t i = 0; made != NULL && i < list->count; i++) {
        /* Without a star: a tool requires, it does not grant. */
        if (list->items[i]->kind != TREE_STRING ||
            scope_check_name(list->items[i]->text, false, NULL) != PAWL_OK)
            tree_wrong(&reader->in, list->items[i], "a scope is 1 to 128 of a-z A-Z 0-9 . _ : / -");
        made[i] = copy_str(reader, list->items[i]->text);
    }
    *count = list->count;
    return made;
}

static const char *read_url(struct tools_reader *reader, const struct tree *url) {
    pawl_error why = {0};
    if (url->kind != TREE_STRING)
        tree_wrong(&reader->in, url, "an address is text");
    const char *text = copy(reader, url->text);
    if (reader->in.status == PAWL_OK && http_check_url(text, &why) != PAWL_OK)
        tree_wrong(&reader->in, url, "%s", why.text);
    return text;
}

static void check_name(struct tools_reader *reader, const struct tree *at, bool dots) {
    bool good = at->key.len > 0 && at->key.len <= PAWL_NAME_BYTES_MAX &&
                !str_starts_with(at->key, STR("pawl."));
    for (size_t i = 0; i < at->key.len; i++) {
        char c = at->key.ptr[i];
        good = good && (char_is_alnum(c) || c == '_' || c == '-' || (dots && c == '.'));
    }
    if (!good)
        tree_wrong(&reader->in, at,
                   "a name is made of letters, digits, _ and - (a tool's also of dots), and does not "
                   "begin with pawl.");
}

static void read_pins(struct tools_reader *reader, const struct tree *object, struct tool_server *server) {
    if (object == NULL)
        return;
    if (object->kind != TREE_OBJECT) {
        tree_wrong(&reader->in, object, "pins are an object of tool names and hashes");
        return;
    }
    server->pins = array(reader, object->count, sizeof(*server->pins));
    server->pin_count = server->pins != NULL ? object->count : 0;
    for (size_t i = 0; i < server->pin_count; i++) {
        const struct tree *pin = object->items[i];
        if (pin->kind != TREE_STRING || pin->text.len != 64)
            tree_wrong(&reader->in, pin, "a pin is the 64 hexadecimal digits that pawl tool list shows");
        server->pins[i] = (struct tool_pin){copy_str(reader, pin->key), copy_str(reader, pin->text)};
    }
}

static void add_server(struct tools_reader *reader, const struct tree *in) {
    static const char *const known[] = {"command", "args", "env",  "url",      "headers",     "allow_private",
                                        "scopes",  "pins", "type", "sessions", "description", NULL};
    struct tools *tools = reader->tools;
    const struct tree *command = tree_get_cstr(in, "command"), *url = tree_get_cstr(in, "url");
    struct tool_server server = {.tools = tools, .sessions_max = TOOLS_SESSIONS_DEFAULT};
    if (tools->server_count == TOOLS_SERVERS_MAX)
        tree_wrong(&reader->in, in, "there are 64 servers already, which is the most");
    tree_read_keys(&reader->in, in, "a server", known);
    check_name(reader, in, false);
    if ((command == NULL) == (url == NULL))
        tree_wrong(&reader->in, in, "a server has either a command or a url");
    tree_read_int(&reader->in, in, "sessions", 1, TOOLS_SESSIONS_MAX, &server.sessions_max);
    if (reader->in.status != PAWL_OK)
        return;
    server.config.name = copy(reader, in->key);
    server.config.launcher = tools->launcher;
    server.config.argv = command != NULL ? read_command(reader, command, tree_get_cstr(in, "args")) : NULL;
    server.config.url = url != NULL ? read_url(reader, url) : NULL;
    server.config.pairs = read_pairs(reader, tree_get_cstr(in, "env"), &server.config.pair_count);
    server.config.headers = read_headers(reader, tree_get_cstr(in, "headers"), &server.config.header_count);
    server.config.allow_private = tree_get_true(in, "allow_private");
    server.scopes = read_scopes(reader, tree_get_cstr(in, "scopes"), &server.scope_count);
    read_pins(reader, tree_get_cstr(in, "pins"), &server);
    if (reader->in.status != PAWL_OK)
        return;
    pthread_mutex_init(&server.lock, NULL);
    tools->servers[tools->server_count++] = server;
}

/* How an endpoint is called: with the arguments as the body, or as the query. */
static void read_method(struct tools_reader *reader, const struct tree *in, struct tool *tool) {
    const struct tree *method = tree_get_cstr(in, "method");
    if (method == NULL)
        return;
    tool->by_query = method->kind == TREE_STRING && str_equal_cstr(method->text, "GET");
    if (tool->url == NULL || (!tool->by_query && !str_equal_cstr(method->text, "POST")))
        tree_wrong(&reader->in, method, "method is for an http tool, and is GET or POST");
}

/* A program that is kept. */
static void read_pipe(struct tools_reader *reader, const struct tree *in, struct tool *tool) {
    struct tools *tools = reader->tools;
    struct tree_reader *from = &reader->in;
    struct pipe_config config = {.argv = tool->argv,
                                 .pairs = tool->pairs,
                                 .pair_count = tool->pair_count,
                                 .processes_max = TOOLS_SESSIONS_DEFAULT};
    config.name = copy(reader, in->key);
    tree_read_int(from, in, "concurrency", 1, TOOLS_SESSIONS_MAX, &config.processes_max);
    tree_read_int(from, in, "recycle_after", 1, 1000000000, &config.recycle_after);
    tree_read_int(from, in, "recycle_mb", 1, 1000000, &config.recycle_mb);
    if (from->status == PAWL_OK && tools->pipes == NULL)
        from->status = pipes_create("tools", NULL, &tools->pipes, from->err);
    if (from->status == PAWL_OK)
        from->status = pipe_add(tools->pipes, &config, &tool->pipe, from->err);
}

static void add_tool(struct tools_reader *reader, const struct tree *in) {
    static const char *const known[] = {
        "exec",        "http",   "env",  "headers",     "secret",        "allow_private", "scopes", "input",
        "description", "method", "pipe", "concurrency", "recycle_after", "recycle_mb",    NULL};
    struct tools *tools = reader->tools;
    const struct tree *exec = tree_get_cstr(in, "exec"), *pipe = tree_get_cstr(in, "pipe");
    const struct tree *http = tree_get_cstr(in, "http"), *program = exec != NULL ? exec : pipe;
    const struct tree *secret = tree_get_cstr(in, "secret"), *input = tree_get_cstr(in, "input");
    const struct tree *description = tree_get_cstr(in, "description");
    struct tool tool = {.kind = program != NULL ? TOOL_PROCESS : TOOL_HTTP};
    pawl_error why = {0};
    if (tools->count == TOOLS_MAX)
        tree_wrong(&reader->in, in, "there are 256 tools already, which is the most");
    tree_read_keys(&reader->in, in, "a tool", known);
    check_name(reader, in, true);
    if ((exec != NULL) + (pipe != NULL) + (http != NULL) != 1)
        tree_wrong(&reader->in, in, "a tool has one of exec and pipe (a command) and http (an address)");
    if (reader->in.status != PAWL_OK)
        return;
    tool.name = copy_str(reader, in->key);
    if (description != NULL)
        tool.description = copy_str(reader, description->text);
    tool.argv = program != NULL ? read_command(reader, program, NULL) : NULL;
    tool.url = http != NULL ? read_url(reader, http) : NULL;
    read_method(reader, in, &tool);
    tool.secret = secret != NULL ? read_value(reader, secret) : NULL;
    tool.pairs = read_pairs(reader, tree_get_cstr(in, "env"), &tool.pair_count);
    tool.headers = read_headers(reader, tree_get_cstr(in, "headers"), &tool.header_count);
    tool.scopes = read_scopes(reader, tree_get_cstr(in, "scopes"), &tool.scope_count);
    tool.allow_private = tree_get_true(in, "allow_private");
    if (reader->in.status == PAWL_OK && input != NULL &&
        schema_compile(input, NULL, &tool.input, &why) != PAWL_OK)
        tree_wrong(&reader->in, input, "%s", why.text);
    if (reader->in.status == PAWL_OK && pipe != NULL)
        read_pipe(reader, in, &tool);
    if (reader->in.status == PAWL_OK)
        tools->items[tools->count++] = tool;
}

pawl_status tools_add_text(struct tools *tools, pawl_str text, const char *path, pawl_error *err) {
    static const char *const known[] = {"mcpServers", "servers", "tools", NULL};
    pawl_error why = {0};
    struct tools_reader reader = {.in = {.arena = tools->arena, .op = "tools file", .err = &why},
                                  .tools = tools};
    struct tree_reader *in = &reader.in;
    struct arena *arena = arena_create(0);
    const struct tree *root = NULL;
    in->status = tree_parse(arena, text, NULL, &root, &why);
    if (in->status == PAWL_OK)
        tree_read_keys(in, root, "the file", known);
    for (size_t i = 0; in->status == PAWL_OK && i < root->count; i++) {
        const struct tree *part = root->items[i];
        if (part->kind != TREE_OBJECT)
            tree_wrong(in, part, "this must be an object of names");
        for (size_t k = 0; in->status == PAWL_OK && k < part->count; k++) {
            if (str_equal_cstr(part->key, "tools"))
                add_tool(&reader, part->items[k]);
            else
                add_server(&reader, part->items[k]);
        }
    }
    arena_free(arena);
    return in->status == PAWL_OK ? PAWL_OK
                                 : error_set(err, in->status, "tools file", "%s: %s", path, why.text);
}

pawl_status tools_add_file(struct tools *tools, const char *path, pawl_error *err) {
    pawl_str text = {NULL, 0};
    struct arena *arena = arena_create(2 * TOOLS_FILE_BYTES_MAX);
    pawl_status status = file_read(arena, path, TOOLS_FILE_BYTES_MAX, &text, err);
    if (status == PAWL_OK)
        status = tools_add_text(tools, text, path, err);
    arena_free(arena);
    return status;
}
