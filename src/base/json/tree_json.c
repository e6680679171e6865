/* Reads JSON text into a tree. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json/scan.h"
#include "base/json/tree.h"
#include "base/json/tree_build.h"
#include "base/limits.h"
#include "base/str.h"

/* A container that is open: where its items begin in the build, and what is known of it. */
struct level {
    size_t first;
    pawl_str key;
    size_t line, column;
};

struct json_reader {
    struct tree_build build;
    struct json_scan scan;
    struct json_token token;
    struct level levels[JSON_SCAN_LEVELS];
    pawl_str key; /* of the next value; absent outside of objects */
    size_t key_line, key_column;
    struct tree *value; /* the last that is complete */
};

static pawl_status read_string(struct json_reader *reader, pawl_str *text) {
    pawl_str raw = reader->token.raw;
    char *out = arena_alloc(reader->build.arena, raw.len); /* escapes only shrink */
    if (out == NULL)
        return error_no_memory(reader->build.err, "tree");
    *text = (pawl_str){out, json_unescape(raw, out)};
    return PAWL_OK;
}

/* The value gets its place and joins the container it is in. People look for the key. */
static pawl_status keep(struct json_reader *reader, struct tree *value, const struct level *level) {
    value->key = level->key;
    value->line = (uint32_t)level->line;
    value->column = (uint32_t)level->column;
    reader->value = value;
    return reader->scan.depth > 0 ? tree_build_push(&reader->build, value) : PAWL_OK;
}

static pawl_status read_scalar(struct json_reader *reader, const struct level *level) {
    const struct json_token *token = &reader->token;
    bool string = token->type == TREE_STRING;
    struct tree *value = tree_scalar(reader->build.arena, string ? TREE_NULL : token->type, token->raw);
    if (value == NULL)
        return error_no_memory(reader->build.err, "tree");
    value->kind = token->type;
    pawl_status status = string ? read_string(reader, &value->text) : PAWL_OK;
    return status == PAWL_OK ? keep(reader, value, level) : status;
}

static pawl_status read_token(struct json_reader *reader) {
    const struct json_token *token = &reader->token;
    struct tree *made = NULL;
    pawl_status status = PAWL_OK;
    if (token->kind == TOKEN_KEY) {
        reader->key_line = token->line;
        reader->key_column = token->column;
        return read_string(reader, &reader->key);
    }
    if (token->kind == TOKEN_CLOSE) {
        struct level *level = &reader->levels[reader->scan.depth];
        status = tree_build_close(&reader->build, token->type, level->first, &made);
        return made != NULL ? keep(reader, made, level) : status;
    }
    struct level level = {reader->build.open_count, reader->key, token->line, token->column};
    if (reader->key.ptr != NULL && reader->key_line == token->line)
        level.column = reader->key_column;
    reader->key = (pawl_str){NULL, 0};
    status = tree_build_count(&reader->build, 1, token->line, token->column);
    if (status == PAWL_OK && token->kind == TOKEN_VALUE)
        return read_scalar(reader, &level);
    if (status == PAWL_OK)
        reader->levels[reader->scan.depth - 1] = level;
    return status;
}

static pawl_status wrong(const struct json_reader *reader) {
    const struct json_scan *scan = &reader->scan;
    size_t column = scan->at - scan->line_at + 1;
    if (scan->too_deep)
        return tree_build_too_deep(&reader->build, scan->line, column);
    return tree_build_wrong(&reader->build, scan->line, column, "%s", scan->reason);
}

pawl_status tree_parse(struct arena *arena, pawl_str text, const struct tree_limits *limits,
                       const struct tree **tree, pawl_error *err) {
    struct json_reader reader = {.scan = {.text = text, .line = 1}};
    tree_build_init(&reader.build, arena, limits, "tree_parse", err);
    reader.scan.depth_max = reader.build.limits.depth_max;
    reader.scan.allow_nul = reader.build.limits.allow_nul;
    pawl_status status = PAWL_OK;
    while (status == PAWL_OK) {
        if (!json_next(&reader.scan, &reader.token))
            status = wrong(&reader);
        else if (reader.token.kind == TOKEN_END)
            break;
        else
            status = read_token(&reader);
    }
    if (status == PAWL_OK)
        *tree = reader.value;
    tree_build_free(&reader.build);
    return status;
}

void tree_build_init(struct tree_build *build, struct arena *arena, const struct tree_limits *limits,
                     const char *op, pawl_error *err) {
    *build = (struct tree_build){.arena = arena, .op = op, .err = err};
    if (limits != NULL)
        build->limits = *limits;
    if (build->limits.depth_max == 0)
        build->limits.depth_max = PAWL_JSON_DEPTH_MAX;
    if (build->limits.nodes_max == 0)
        build->limits.nodes_max = PAWL_TREE_NODES_MAX;
}

void tree_build_free(struct tree_build *build) { free(build->open); }

pawl_status tree_build_wrong(const struct tree_build *build, size_t line, size_t column, const char *fmt,
                             ...) {
    char reason[300];
    va_list args;
    va_start(args, fmt);
    vsnprintf(reason, sizeof(reason), fmt, args);
    va_end(args);
    return error_set(build->err, PAWL_INVALID, build->op, "line %zu, column %zu: %s", line, column, reason);
}

pawl_status tree_build_too_deep(const struct tree_build *build, size_t line, size_t column) {
    return tree_build_wrong(build, line, column, "the document is nested more than %zu levels deep",
                            build->limits.depth_max);
}

pawl_status tree_build_count(struct tree_build *build, size_t nodes, size_t line, size_t column) {
    if (nodes > build->limits.nodes_max - build->nodes)
        return tree_build_wrong(build, line, column, "the document has more than %zu values",
                                build->limits.nodes_max);
    build->nodes += nodes;
    return PAWL_OK;
}

pawl_status tree_build_push(struct tree_build *build, const struct tree *value) {
    if (build->open_count == build->open_cap) {
        size_t cap = build->open_cap == 0 ? 64 : build->open_cap * 2;
        const struct tree **grown = reallocarray(build->open, cap, sizeof(struct tree *));
        if (grown == NULL)
            return error_no_memory(build->err, build->op);
        build->open = grown;
        build->open_cap = cap;
    }
    build->open[build->open_count++] = value;
    return PAWL_OK;
}

/* Finds the duplicate key; called only if there is one. */
static pawl_status double_key(const struct tree_build *build, size_t first) {
    for (size_t i = build->open_count; i > first; i--) {
        const struct tree *later = build->open[i - 1];
        for (size_t j = first; j + 1 < i; j++)
            if (str_equal(build->open[j]->key, later->key))
                return tree_build_wrong(build, later->line, later->column, "the key '%.*s' comes twice",
                                        STR_ARG(later->key));
    }
    return error_no_memory(build->err, build->op);
}

pawl_status tree_build_close(struct tree_build *build, enum tree_kind kind, size_t first,
                             struct tree **made) {
    size_t count = build->open_count - first;
    const struct tree **items = count > 0 ? build->open + first : NULL;
    struct tree *tree = kind == TREE_OBJECT ? tree_object(build->arena, items, count)
                                            : tree_array(build->arena, items, count);
    if (tree == NULL)
        return kind == TREE_OBJECT ? double_key(build, first) : error_no_memory(build->err, build->op);
    build->open_count = first;
    *made = tree;
    return PAWL_OK;
}
