/* Definitions of perspectives in files: YAML or JSON, one perspective each. */
#include "work/perspective/file.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json/tree.h"
#include "base/limits.h"
#include "base/str.h"
#include "http/http.h"
#include "work/perspective/perspective.h"

#define OP "perspectives file"

enum { FILES_MAX = 1000, BACKFILL_STREAMS = 1000 };

struct reader {
    struct arena *arena;
    const char *path;
    const char *dialect;
    pawl_error *err;
};

static pawl_status fault(const struct reader *reader, const struct tree *at, const char *reason) {
    return error_set(reader->err, PAWL_INVALID, OP, "%s:%u: %s", reader->path, at != NULL ? at->line : 1,
                     reason);
}

static bool read_number(const struct tree *tree, int64_t max, int *value) {
    int64_t number = 0;
    if (tree == NULL)
        return true;
    if (tree->kind != TREE_NUMBER || !tree_to_i64(tree, &number) || number < 1 || number > max)
        return false;
    *value = (int)number;
    return true;
}

static pawl_status read_patterns(const struct reader *reader, const struct tree *on,
                                 struct perspective_new *out) {
    static const char wanted[] = "on needs a list of patterns, for example on: [\"order.*\"]";
    if (on == NULL || on->kind != TREE_ARRAY || on->count == 0)
        return fault(reader, on, wanted);
    struct event_pattern *patterns = arena_array(reader->arena, on->count, sizeof(*patterns));
    if (patterns == NULL)
        return error_no_memory(reader->err, OP);
    for (size_t i = 0; i < on->count; i++) {
        if (on->items[i]->kind != TREE_STRING)
            return fault(reader, on->items[i], wanted);
        patterns[i] = event_pattern_from(on->items[i]->text);
    }
    out->patterns = patterns;
    out->pattern_count = on->count;
    return PAWL_OK;
}

/* A text, or an object with a text for this store. */
static pawl_status read_sql(const struct reader *reader, const struct tree *tree, pawl_str *sql) {
    if (tree != NULL && tree->kind == TREE_OBJECT)
        tree = tree_get_cstr(tree, reader->dialect);
    if (tree == NULL || tree->kind != TREE_STRING) {
        char reason[160];
        snprintf(reason, sizeof(reason),
                 "SQL is a text, or an object with postgres and sqlite; there is none for %s",
                 reader->dialect);
        return fault(reader, tree, reason);
    }
    *sql = tree->text;
    return PAWL_OK;
}

static pawl_status read_run(const struct reader *reader, const struct tree *doc,
                            struct perspective_new *out) {
    const struct tree *sql = tree_get_cstr(doc, "sql"), *exec = tree_get_cstr(doc, "exec");
    const struct tree *http = tree_get_cstr(doc, "http"), *function = tree_get_cstr(doc, "function");
    const struct tree *pipe = tree_get_cstr(doc, "pipe");
    if ((sql != NULL) + (exec != NULL) + (pipe != NULL) + (http != NULL) + (function != NULL) != 1)
        return fault(reader, doc, "it needs exactly one of sql, exec, pipe, http and function: true");
    if (sql != NULL) {
        out->run = RUN_SQL;
        return read_sql(reader, sql, &out->target);
    }
    const struct tree *target = exec != NULL ? exec : pipe != NULL ? pipe : http;
    out->run = exec != NULL || pipe != NULL ? RUN_COMMAND : http != NULL ? RUN_HTTP : RUN_FUNCTION;
    if (function != NULL)
        return function->kind == TREE_TRUE ? PAWL_OK : fault(reader, function, "write function: true");
    if (target->kind != TREE_STRING)
        return fault(reader, target, "exec, pipe and http need a text");
    out->target = target->text;
    if (pipe != NULL)
        out->target = str_from(arena_printf(reader->arena, PERSPECTIVE_PIPE "%.*s", STR_ARG(target->text)));
    if (out->target.ptr == NULL)
        return error_no_memory(reader->err, OP);
    pawl_error why = {0};
    const char *url = http != NULL ? arena_printf(reader->arena, "%.*s", STR_ARG(target->text)) : NULL;
    return url == NULL || http_check_url(url, &why) == PAWL_OK ? PAWL_OK : fault(reader, target, why.text);
}

static pawl_status check_keys(const struct reader *reader, const struct tree *doc) {
    static const char *const known[] = {"name",     "version", "on",    "sql",          "exec",   "http",
                                        "function", "clear",   "batch", "max-attempts", "policy", "pipe"};
    for (size_t i = 0; i < doc->count; i++) {
        bool found = false;
        for (size_t j = 0; j < sizeof(known) / sizeof(*known) && !found; j++)
            found = str_equal_cstr(doc->items[i]->key, known[j]);
        if (!found)
            return error_set(
                reader->err, PAWL_INVALID, OP,
                "%s:%u: unknown key '%.*s'; the keys are name, version, on, sql, exec, pipe, http, "
                "function, clear, batch, max-attempts, policy",
                reader->path, doc->items[i]->line, STR_ARG(doc->items[i]->key));
    }
    return PAWL_OK;
}

static pawl_status read_rules(const struct reader *reader, const struct tree *doc,
                              struct perspective_new *out) {
    const struct tree *clear = tree_get_cstr(doc, "clear"), *policy = tree_get_cstr(doc, "policy");
    if (!read_number(tree_get_cstr(doc, "version"), PAWL_PERSPECTIVE_VERSION_MAX, &out->version))
        return fault(reader, tree_get_cstr(doc, "version"), "version needs a number from 1");
    if (!read_number(tree_get_cstr(doc, "batch"), PAWL_BATCH_MAX, &out->batch))
        return fault(reader, tree_get_cstr(doc, "batch"), "batch needs a number from 1 to 5000");
    if (!read_number(tree_get_cstr(doc, "max-attempts"), PAWL_ATTEMPTS_MAX, &out->max_attempts))
        return fault(reader, tree_get_cstr(doc, "max-attempts"),
                     "max-attempts needs a number from 1 to 1000");
    if (policy != NULL && str_equal_cstr(policy->text, "skip"))
        out->policy = POLICY_SKIP;
    else if (policy != NULL && !str_equal_cstr(policy->text, "block"))
        return fault(reader, policy, "policy needs block or skip");
    return clear != NULL ? read_sql(reader, clear, &out->clear) : PAWL_OK;
}

/* Reads one definition; path is for messages. PAWL_INVALID tells "PATH:LINE: reason". */
static pawl_status read_definition(struct arena *arena, const char *path, const struct tree *doc,
                                   const char *dialect, struct perspective_new *out, pawl_error *err) {
    struct reader reader = {arena, path, dialect, err};
    pawl_error inner = {0};
    *out = (struct perspective_new){.version = 1};
    if (doc->kind != TREE_OBJECT)
        return fault(&reader, doc, "a perspective is an object with name, on and sql");
    const struct tree *name = tree_get_cstr(doc, "name");
    pawl_status status = check_keys(&reader, doc);
    if (status == PAWL_OK && (name == NULL || name->kind != TREE_STRING))
        status = fault(&reader, doc, "name is missing");
    if (status == PAWL_OK)
        status = read_patterns(&reader, tree_get_cstr(doc, "on"), out);
    if (status == PAWL_OK)
        status = read_run(&reader, doc, out);
    if (status == PAWL_OK)
        status = read_rules(&reader, doc, out);
    if (status != PAWL_OK)
        return status;
    out->name = name->text;
    status = check_perspective(out, &inner);
    return status == PAWL_OK ? PAWL_OK : error_set(err, status, OP, "%s: %s", path, inner.text);
}

/* Everything its SQL refers to must exist. */
static pawl_status check_sql(struct store *store, const struct perspective_new *in, pawl_error *err) {
    pawl_error why = {0};
    const char *part = "sql";
    pawl_status status = PAWL_OK;
    if (in->run == RUN_SQL)
        status = store->ops->events.sql_check(store, in->target, true, &why);
    if (status == PAWL_OK && !str_absent(in->clear)) {
        part = "clear";
        status = store->ops->events.sql_check(store, in->clear, true, &why);
    }
    return status == PAWL_OK
               ? PAWL_OK
               : error_set(err, status, OP,
                           "%s of %.*s@%d cannot run: %s; the database must have its tables first", part,
                           STR_ARG(in->name), in->version, why.text);
}

/* Registers and backfills; may be repeated after an interruption. */
static pawl_status perspective_register_all(struct store *store, const struct perspective_new *in,
                                            struct arena *arena, struct perspective_registered *out,
                                            pawl_error *err) {
    pawl_str key;
    pawl_status status = check_sql(store, in, err);
    if (status == PAWL_OK)
        status = store->ops->events.perspective_register(store, in, out, err);
    if (status != PAWL_OK || out->answer == ANSWER_CONFLICT)
        return status;
    status = perspective_key(arena, in->name, in->version, &key, err);
    while (status == PAWL_OK && !out->backfilled)
        status = store->ops->events.perspective_backfill(store, key, BACKFILL_STREAMS, &out->backfilled, err);
    return status;
}

/* Who registers, and is told. */
struct registering {
    struct store *store;
    struct arena *arena;
    int batch;
    perspective_told told;
    void *self;
};

static pawl_status register_doc(const struct registering *how, const char *path, const struct tree *doc,
                                pawl_error *err) {
    struct perspective_new in;
    struct perspective_registered out;
    pawl_status status = read_definition(how->arena, path, doc, how->store->dialect, &in, err);
    if (status == PAWL_OK && in.batch == 0)
        in.batch = how->batch;
    if (status == PAWL_OK)
        status = perspective_register_all(how->store, &in, how->arena, &out, err);
    if (status == PAWL_OK && out.answer == ANSWER_CONFLICT)
        return error_set(err, PAWL_CONFLICT, OP,
                         "%s: version %d of %.*s is registered with another definition; raise the version",
                         path, in.version, STR_ARG(in.name));
    if (status == PAWL_OK)
        how->told(how->self, &in, &out);
    return status;
}

static pawl_status register_file(const struct registering *how, const char *path, pawl_error *err) {
    const struct tree *doc = NULL;
    pawl_error inner = {0};
    pawl_str text;
    pawl_status status = file_read(how->arena, path, 4 * (size_t)PAWL_PERSPECTIVE_SQL_BYTES_MAX, &text, err);
    if (status == PAWL_OK && tree_parse_yaml(how->arena, text, NULL, &doc, &inner) != PAWL_OK)
        status = error_set(err, PAWL_INVALID, OP, "%s: %s", path, inner.text);
    return status == PAWL_OK ? register_doc(how, path, doc, err) : status;
}

pawl_status perspective_register_tree(struct store *store, const struct tree *definition, int batch,
                                      perspective_told told, void *self, pawl_error *err) {
    struct registering how = {store, arena_create(0), batch, told, self};
    pawl_status status = how.arena != NULL ? register_doc(&how, "definition", definition, err)
                                           : error_no_memory(err, OP);
    arena_free(how.arena);
    return status;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static bool is_definition(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot != NULL &&
           (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0 || strcmp(dot, ".json") == 0);
}

/* In the order of their names, so that version 1 of a name comes before version 2. */
static pawl_status list_files(struct arena *arena, const char *path, char ***names, size_t *count,
                              pawl_error *err) {
    DIR *dir = opendir(path);
    if (dir == NULL)
        return error_errno(err, PAWL_INVALID, OP, errno, "%s cannot be read", path);
    *names = arena_array(arena, FILES_MAX, sizeof(**names));
    *count = 0;
    for (struct dirent *entry = readdir(dir); *names != NULL && entry != NULL; entry = readdir(dir)) {
        if (is_definition(entry->d_name) && *count < FILES_MAX)
            (*names)[(*count)++] = arena_printf(arena, "%s/%s", path, entry->d_name);
    }
    closedir(dir);
    if (*names == NULL)
        return error_no_memory(err, OP);
    if (*count == 0)
        return error_set(err, PAWL_NOT_FOUND, OP, "%s has no *.yaml, *.yml or *.json file", path);
    qsort(*names, *count, sizeof(**names), by_name);
    return PAWL_OK;
}

pawl_status perspective_register_path(struct store *store, const char *path, int batch, perspective_told told,
                                      void *self, pawl_error *err) {
    struct stat info;
    struct arena *arena = arena_create(0);
    struct registering how = {store, arena, batch, told, self};
    pawl_status status = PAWL_OK;
    if (arena == NULL)
        return error_no_memory(err, OP);
    if (stat(path, &info) != 0) {
        status = error_errno(err, PAWL_NOT_FOUND, OP, errno, "%s cannot be read", path);
    } else if (!S_ISDIR(info.st_mode)) {
        status = register_file(&how, path, err);
    } else {
        char **names = NULL;
        size_t count = 0;
        status = list_files(arena, path, &names, &count, err);
        for (size_t i = 0; status == PAWL_OK && i < count; i++)
            status = register_file(&how, names[i], err);
    }
    arena_free(arena);
    return status;
}
