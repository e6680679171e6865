/* Validates: applies a compiled schema to a value, counts the work, and describes the first fault. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "domain/schema/int.h"

bool check_give_up(struct check *check, pawl_status status) {
    if (check->status == PAWL_OK)
        check->status = status;
    return false;
}

bool check_step(struct check *check) {
    if (check->status != PAWL_OK)
        return false;
    if (++check->steps <= PAWL_SCHEMA_STEPS_MAX)
        return true;
    (void)error_set(check->err, PAWL_INVALID, "schema_validate",
                    "checking the value takes too many steps (over %d): make it or its schema smaller",
                    PAWL_SCHEMA_STEPS_MAX);
    return check_give_up(check, PAWL_INVALID);
}

bool check_pattern(struct check *check, const struct regex *regex, pawl_str text) {
    bool found = false;
    if (!check_step(check))
        return false;
    pawl_status status = regex_search(regex, text, &found, check->err);
    return status == PAWL_OK ? found : check_give_up(check, status);
}

static void write_path(struct buf *buf, const struct path *path) {
    if (path == NULL)
        return;
    write_path(buf, path->parent);
    if (path->key.ptr == NULL) {
        buf_printf(buf, "/%zu", path->index);
        return;
    }
    buf_append_char(buf, '/');
    for (size_t i = 0; i < path->key.len; i++) {
        char c = path->key.ptr[i];
        if (c == '~' || c == '/')
            buf_append_cstr(buf, c == '~' ? "~0" : "~1");
        else
            buf_append_char(buf, c);
    }
}

bool check_fault(struct check *check, const struct schema_rule *rule, const struct frame *frame,
                 const char *fmt, ...) {
    /* Of several alternatives, the one that got deepest into the value explains most. */
    if (!check->explain || check->status != PAWL_OK || (check->found && check->fault_depth >= frame->depth))
        return false;
    char reason[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(reason, sizeof(reason), fmt, args);
    va_end(args);
    struct buf path;
    buf_init(&path, 4096);
    write_path(&path, frame->path);
    const struct schema_node *node = frame->node;
    bool foreign = node->resource != check->schema->root->resource && node->resource->uri.len > 0;
    (void)error_set(check->err, PAWL_INVALID, "schema_validate", "%s: %s (schema %.*s%.*s%s%s)",
                    path.len == 0 ? "the value" : path.ptr, reason,
                    foreign ? str_precision(node->resource->uri) : 0, foreign ? node->resource->uri.ptr : "",
                    STR_ARG(node->place), rule != NULL ? "/" : "", rule != NULL ? rule->keyword->name : "");
    buf_free(&path);
    check->found = true;
    check->fault_depth = frame->depth;
    return false;
}

void marks_init(struct check *check, struct marks *marks, size_t count) {
    *marks = (struct marks){.count = (count + 63) / 64};
    marks->words = &marks->small;
    if (marks->count <= 1)
        return;
    marks->words = calloc(marks->count, sizeof(uint64_t));
    if (marks->words != NULL)
        return;
    marks->words = &marks->small;
    marks->count = 0;
    (void)error_no_memory(check->err, "schema_validate");
    (void)check_give_up(check, PAWL_NO_MEMORY);
}

void marks_free(struct marks *marks) {
    if (marks->words != &marks->small)
        free(marks->words);
}

void marks_set(struct marks *marks, size_t index) {
    if (marks != NULL && index / 64 < marks->count)
        marks->words[index / 64] |= UINT64_C(1) << index % 64;
}

bool marks_has(const struct marks *marks, size_t index) {
    return index / 64 < marks->count && (marks->words[index / 64] >> index % 64 & 1) != 0;
}

static void marks_add(struct marks *marks, const struct marks *more) {
    for (size_t i = 0; i < marks->count && i < more->count; i++)
        marks->words[i] |= more->words[i];
}

static bool apply_rules(struct check *check, const struct frame *frame) {
    const struct schema_node *node = frame->node;
    for (size_t i = 0; i < node->rules_count; i++) {
        const struct schema_rule *rule = &node->rules[i];
        const struct schema_keyword *keyword = rule->keyword;
        bool applies = (keyword->about & 1U << frame->value->kind) != 0;
        if (keyword->judge != NULL &&
            (!check_step(check) || (applies && !keyword->judge(check, rule, frame))))
            return false;
    }
    return check->status == PAWL_OK;
}

/* Applies a node to the value of a frame. */
static bool apply(struct check *check, const struct schema_node *node, const struct frame *outer) {
    struct scope scope = {outer->scope, node->resource};
    struct frame inner = *outer;
    struct frame *frame = &inner;
    frame->node = node;
    if (node->tree->kind == TREE_TRUE)
        return true;
    if (node->tree->kind == TREE_FALSE)
        return check_fault(check, NULL, frame, "nothing is allowed here");
    if (++check->calls > PAWL_SCHEMA_CALLS_MAX) {
        (void)error_set(check->err, PAWL_INVALID, "schema_validate",
                        "the schema refers to itself without end (schema %.*s)",
                        STR_ARG(node->place.len > 0 ? node->place : STR("root")));
        return check_give_up(check, PAWL_INVALID);
    }
    if (frame->scope == NULL || frame->scope->resource != node->resource)
        frame->scope = &scope;
    bool valid = apply_rules(check, frame);
    check->calls--;
    return valid;
}

bool check_node(struct check *check, const struct schema_node *node, const struct frame *frame) {
    struct frame inner = *frame;
    if (frame->marks == NULL)
        return apply(check, node, &inner);
    struct marks marks;
    marks_init(check, &marks, frame->value->count);
    inner.marks = &marks;
    bool valid = apply(check, node, &inner);
    if (valid)
        marks_add(frame->marks, &marks);
    marks_free(&marks);
    return valid;
}

bool check_quietly(struct check *check, const struct schema_node *node, const struct frame *frame) {
    bool explain = check->explain;
    check->explain = false;
    bool valid = check_node(check, node, frame);
    check->explain = explain;
    return valid;
}

bool check_part(struct check *check, const struct schema_node *node, const struct frame *frame,
                size_t index) {
    const struct tree *part = frame->value->items[index];
    struct path path = {frame->path, frame->value->kind == TREE_OBJECT ? part->key : (pawl_str){NULL, 0},
                        index};
    struct frame inner = {.value = part, .path = &path, .scope = frame->scope, .depth = frame->depth + 1};
    if (!check->schema->tracks || part->count == 0)
        return apply(check, node, &inner);
    struct marks marks;
    marks_init(check, &marks, part->count);
    inner.marks = &marks;
    bool valid = apply(check, node, &inner);
    marks_free(&marks);
    return valid;
}

static bool run(struct check *check, const struct tree *value) {
    struct marks marks;
    marks_init(check, &marks, value->count);
    struct frame frame = {.value = value, .marks = check->schema->tracks ? &marks : NULL};
    bool valid = apply(check, check->schema->root, &frame);
    marks_free(&marks);
    return valid;
}

pawl_status schema_validate(const struct schema *schema, const struct tree *value, pawl_error *err) {
    pawl_error unused = {0};
    struct check check = {.schema = schema, .err = err != NULL ? err : &unused};
    if (run(&check, value))
        return PAWL_OK;
    if (check.status != PAWL_OK)
        return check.status;
    /* Describing errors is expensive: only an invalid value is checked a second time, with descriptions. */
    struct check again = {.schema = schema, .err = check.err, .explain = true};
    (void)run(&again, value);
    if (again.status != PAWL_OK)
        return again.status;
    return again.found
               ? PAWL_INVALID
               : error_set(err, PAWL_INVALID, "schema_validate", "the value is not what the schema asks for");
}

pawl_status schema_validate_text(const struct schema *schema, pawl_str text, pawl_error *err) {
    struct arena *arena = arena_create(0);
    const struct tree *value = NULL;
    pawl_status status = tree_parse(arena, text, NULL, &value, err);
    if (status == PAWL_OK)
        status = schema_validate(schema, value, err);
    arena_free(arena);
    return status;
}
