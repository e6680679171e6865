/* Building trees while a document is read: limits, and the values of open containers. */
#include "base/json/tree_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"

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
