/* The state of a schema compilation, shared by compile.c, shape.c and reference.c. */
#ifndef DOMAIN_SCHEMA_COMPILE_H
#define DOMAIN_SCHEMA_COMPILE_H

#include "base/arena.h"
#include "domain/schema/int.h"
#include "pawl.h"

/* A $ref or $dynamicRef whose target is not known yet. */
struct pending {
    const struct schema_node *node;
    const struct schema_node **target; /* filled in */
    struct schema_rule *rule;
    struct pending *next;
};

struct compile {
    struct schema *schema;
    const struct schema_config *config;
    struct schema_node **slots; /* tree → node, open addressing */
    size_t slots_count;
    size_t nodes_count;
    struct pending *references;
    pawl_error *err;
};

PAWL_MUSTCHECK pawl_status compile_wrong(const struct compile *compile, pawl_str place, const char *keyword,
                                         const char *why);
struct schema_node *compile_find(const struct compile *compile, const struct tree *tree);
pawl_str compile_place(struct compile *compile, pawl_str place, pawl_str step);

/* The node of a subschema, created if it is new. */
PAWL_MUSTCHECK pawl_status compile_node(struct compile *compile, const struct tree *tree,
                                        const struct schema_resource *resource, pawl_str place,
                                        const struct schema_node **made);

/* Checks the form of a keyword's value and prepares it. */
PAWL_MUSTCHECK pawl_status compile_shape(struct compile *compile, struct schema_rule *rule);

/* The resource with an address, read from the documents when it is new; NULL when there is none. */
PAWL_MUSTCHECK pawl_status compile_find_resource(struct compile *compile, pawl_str uri,
                                                 struct schema_resource **resource);
PAWL_MUSTCHECK pawl_status compile_reference(struct compile *compile, struct pending *reference);

/* Resolves reference relative to base; both may have fragments, base's is ignored. NULL ptr when there is no
 * memory. */
pawl_str uri_resolve(struct arena *arena, pawl_str base, pawl_str reference);

/* The address without its fragment, and the fragment without its #; absent when there is no #. */
pawl_str uri_without_fragment(pawl_str uri);
pawl_str uri_fragment(pawl_str uri);

#endif
