/* Reads JSON text into a tree. */
#include "base/error.h"
#include "base/json/scan.h"
#include "base/json/tree.h"
#include "base/json/tree_build.h"

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
        return status == PAWL_OK ? keep(reader, made, level) : status;
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
