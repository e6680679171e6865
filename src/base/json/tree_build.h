/* Shared by the JSON and YAML readers: locations, limits, and the values of containers that are still open.
 */
#ifndef BASE_JSON_TREE_BUILD_H
#define BASE_JSON_TREE_BUILD_H

#include "base/json/tree.h"

struct tree_build {
    struct arena *arena;
    struct tree_limits limits; /* with the defaults filled in */
    const char *op;            /* for errors */
    pawl_error *err;
    size_t nodes;
    const struct tree **open; /* the values of open containers, one after the other */
    size_t open_count, open_cap;
};

void tree_build_init(struct tree_build *build, struct arena *arena, const struct tree_limits *limits,
                     const char *op, pawl_error *err);
void tree_build_free(struct tree_build *build);

PAWL_MUSTCHECK pawl_status tree_build_wrong(const struct tree_build *build, size_t line, size_t column,
                                            const char *fmt, ...) __attribute__((format(printf, 4, 5)));
PAWL_MUSTCHECK pawl_status tree_build_too_deep(const struct tree_build *build, size_t line, size_t column);

/* Counts nodes that are about to be added. */
PAWL_MUSTCHECK pawl_status tree_build_count(struct tree_build *build, size_t nodes, size_t line,
                                            size_t column);

/* Adds a value to the innermost open container. */
PAWL_MUSTCHECK pawl_status tree_build_push(struct tree_build *build, const struct tree *value);

/* Makes a container from the open values, starting with number `first`, and removes them. The error names a
 * duplicate key. */
PAWL_MUSTCHECK pawl_status tree_build_close(struct tree_build *build, enum tree_kind kind, size_t first,
                                            struct tree **made);

#endif
