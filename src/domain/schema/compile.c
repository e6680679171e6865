/* Compiles a schema: finds its parts and their addresses, checks every keyword, resolves references. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "domain/schema/compile.h"

pawl_status compile_wrong(const struct compile *compile, pawl_str place, const char *keyword,
                          const char *why) {
    return error_set(compile->err, PAWL_INVALID, "schema_compile", "schema %.*s%s%s: %s", STR_ARG(place),
                     keyword != NULL  ? "/"
                     : place.len == 0 ? "(root)"
                                      : "",
                     keyword != NULL ? keyword : "", why);
}

static size_t slot_of(const struct compile *compile, const struct tree *tree) {
    size_t slot = (size_t)((uintptr_t)tree / sizeof(void *) * UINT64_C(0x9E3779B97F4A7C15) >> 20) %
                  compile->slots_count;
    while (compile->slots[slot] != NULL && compile->slots[slot]->tree != tree)
        slot = (slot + 1) % compile->slots_count;
    return slot;
}

struct schema_node *compile_find(const struct compile *compile, const struct tree *tree) {
    return compile->slots[slot_of(compile, tree)];
}

/* A JSON pointer one step further. */
pawl_str compile_place(struct compile *compile, pawl_str place, pawl_str step) {
    char *out = arena_alloc(compile->schema->arena, place.len + 2 * step.len + 2);
    if (out == NULL)
        return (pawl_str){NULL, 0};
    size_t length = place.len;
    if (length > 0)
        memcpy(out, place.ptr, length);
    out[length++] = '/';
    for (size_t i = 0; i < step.len; i++) {
        char c = step.ptr[i];
        if (c == '~' || c == '/') {
            out[length++] = '~';
            c = c == '~' ? '0' : '1';
        }
        out[length++] = c;
    }
    return (pawl_str){out, length};
}

static const struct schema_document *find_document(const struct compile *compile, pawl_str uri) {
    for (size_t i = 0; i < compile->config->documents_count; i++)
        if (str_equal(uri_without_fragment(compile->config->documents[i].uri), uri))
            return &compile->config->documents[i];
    return NULL;
}

/* Which draft a $schema means; a metaschema among the documents may leave vocabularies out. */
static pawl_status choose_draft(struct compile *compile, const struct tree *tree, pawl_str place,
                                struct schema_resource *resource) {
    const struct tree *name = tree_get_cstr(tree, "$schema");
    for (int hops = 0; name != NULL && name->kind == TREE_STRING && hops < 8; hops++) {
        pawl_str uri = uri_without_fragment(name->text);
        resource->draft = str_equal_cstr(uri, "http://json-schema.org/draft-07/schema") ? SCHEMA_DRAFT7
                                                                                        : SCHEMA_2020;
        if (resource->draft == SCHEMA_DRAFT7 ||
            str_equal_cstr(uri, "https://json-schema.org/draft/2020-12/schema"))
            return PAWL_OK;
        const struct schema_document *document = find_document(compile, uri);
        if (document == NULL)
            break;
        const struct tree *words = tree_get_cstr(document->tree, "$vocabulary");
        if (words != NULL) {
            resource->validates =
                tree_get_cstr(words, "https://json-schema.org/draft/2020-12/vocab/validation") != NULL;
            resource->checks_formats =
                tree_get_cstr(words, "https://json-schema.org/draft/2020-12/vocab/format-assertion") != NULL;
        }
        name = tree_get_cstr(document->tree, "$schema");
    }
    if (name == NULL)
        return PAWL_OK;
    return compile_wrong(compile, place, "$schema",
                         "only 2020-12 (https://json-schema.org/draft/2020-12/schema) and draft-07 "
                         "(http://json-schema.org/draft-07/schema#) are known");
}

static pawl_status add_resource(struct compile *compile, const struct tree *tree, pawl_str uri,
                                pawl_str place, const struct schema_resource *outer,
                                struct schema_resource **made) {
    struct schema_resource *resource = arena_alloc(compile->schema->arena, sizeof(*resource));
    if (resource == NULL || uri.ptr == NULL)
        return error_no_memory(compile->err, "schema_compile");
    *resource = (struct schema_resource){.uri = uri_without_fragment(uri), .root = tree, .validates = true};
    resource->draft = outer != NULL ? outer->draft : compile->config->draft7 ? SCHEMA_DRAFT7 : SCHEMA_2020;
    if (outer != NULL) {
        resource->validates = outer->validates;
        resource->checks_formats = outer->checks_formats;
    }
    pawl_status status = choose_draft(compile, tree, place, resource);
    if (status != PAWL_OK)
        return status;
    resource->next = compile->schema->resources;
    compile->schema->resources = resource;
    *made = resource;
    return PAWL_OK;
}

static pawl_status add_anchor(struct compile *compile, const struct schema_node *node, pawl_str name,
                              bool dynamic) {
    struct schema_anchor *anchor = arena_alloc(compile->schema->arena, sizeof(*anchor));
    if (anchor == NULL)
        return error_no_memory(compile->err, "schema_compile");
    *anchor = (struct schema_anchor){node->resource, name, node, dynamic, compile->schema->anchors};
    compile->schema->anchors = anchor;
    return PAWL_OK;
}

/* In draft-07 everything next to $ref is ignored, even $id. */
static bool only_reference(const struct schema_resource *resource, const struct tree *tree) {
    const struct tree *reference = tree_get_cstr(tree, "$ref");
    return resource->draft == SCHEMA_DRAFT7 && reference != NULL && reference->kind == TREE_STRING;
}

static pawl_status read_id(struct compile *compile, struct schema_node *node) {
    const struct tree *id = tree_get_cstr(node->tree, "$id");
    const struct schema_resource *outer = node->resource;
    if (id == NULL || only_reference(outer, node->tree))
        return PAWL_OK;
    if (id->kind != TREE_STRING)
        return compile_wrong(compile, node->place, "$id", "it must be a string");
    if (id->text.len > 0 && id->text.ptr[0] == '#')
        return outer->draft == SCHEMA_DRAFT7 ? add_anchor(compile, node, uri_fragment(id->text), false)
                                             : PAWL_OK;
    struct schema_resource *resource = NULL;
    pawl_str uri = uri_resolve(compile->schema->arena, outer->uri, id->text);
    if (node->tree == outer->root) {
        /* The document is also known by its own address. */
        ((struct schema_resource *)outer)->uri = uri_without_fragment(uri);
        return uri.ptr == NULL ? error_no_memory(compile->err, "schema_compile") : PAWL_OK;
    }
    pawl_status status = add_resource(compile, node->tree, uri, node->place, outer, &resource);
    if (status == PAWL_OK)
        node->resource = resource;
    return status;
}

static pawl_status read_anchors(struct compile *compile, struct schema_node *node) {
    static const char *const keywords[] = {"$anchor", "$dynamicAnchor"};
    for (int i = 0; i < 2 && node->resource->draft == SCHEMA_2020; i++) {
        const struct tree *anchor = tree_get_cstr(node->tree, keywords[i]);
        if (anchor == NULL)
            continue;
        if (anchor->kind != TREE_STRING)
            return compile_wrong(compile, node->place, keywords[i], "it must be a string");
        pawl_status status = add_anchor(compile, node, anchor->text, i == 1);
        if (status != PAWL_OK)
            return status;
    }
    return PAWL_OK;
}

static pawl_status compile_rules(struct compile *compile, struct schema_node *node) {
    struct schema_rule rules[64];
    size_t count = 0;
    for (size_t i = 0; i < schema_keywords_count && count < sizeof(rules) / sizeof(rules[0]); i++) {
        const struct schema_keyword *keyword = &schema_keywords[i];
        const struct tree *value = tree_get_cstr(node->tree, keyword->name);
        if (value == NULL || (keyword->drafts & node->resource->draft) == 0)
            continue;
        if (i > 0 && only_reference(node->resource, node->tree) && keyword->shape != SHAPE_SCHEMA_MAP)
            continue;
        struct schema_rule *rule = &rules[count];
        *rule = (struct schema_rule){.keyword = keyword, .value = value, .owner = node};
        pawl_status status = compile_shape(compile, rule);
        if (status != PAWL_OK)
            return status;
        bool silent = (keyword->asserts && !node->resource->validates) ||
                      (only_reference(node->resource, node->tree) && i > 0);
        count += silent ? 0 : 1;
    }
    node->rules = arena_copy(compile->schema->arena, rules, count * sizeof(rules[0]));
    node->rules_count = count;
    return node->rules == NULL ? error_no_memory(compile->err, "schema_compile") : PAWL_OK;
}

pawl_status compile_node(struct compile *compile, const struct tree *tree,
                         const struct schema_resource *resource, pawl_str place,
                         const struct schema_node **made) {
    struct schema_node *node = compile_find(compile, tree);
    if (node != NULL) {
        *made = node;
        return PAWL_OK;
    }
    if (tree->kind != TREE_OBJECT && tree->kind != TREE_TRUE && tree->kind != TREE_FALSE)
        return compile_wrong(compile, place, NULL, "a schema is an object, true or false");
    if (compile->nodes_count >= PAWL_SCHEMA_NODES_MAX)
        return compile_wrong(compile, place, NULL, "the schema has too many parts");
    node = arena_alloc(compile->schema->arena, sizeof(*node));
    if (node == NULL || place.ptr == NULL)
        return error_no_memory(compile->err, "schema_compile");
    *node = (struct schema_node){.tree = tree, .resource = resource, .place = place};
    compile->slots[slot_of(compile, tree)] = node;
    compile->nodes_count++;
    pawl_status status = PAWL_OK;
    if (tree->kind == TREE_OBJECT) {
        status = read_id(compile, node);
        if (status == PAWL_OK)
            status = read_anchors(compile, node);
        if (status == PAWL_OK)
            status = compile_rules(compile, node);
    }
    *made = node;
    return status;
}

/* Reads a document that a reference leads to. */
static pawl_status load_document(struct compile *compile, pawl_str uri, struct schema_resource **resource) {
    const struct schema_document *document = find_document(compile, uri);
    *resource = NULL;
    if (document == NULL)
        return PAWL_OK;
    const struct tree *tree = tree_copy(compile->schema->arena, document->tree);
    const struct schema_node *node = NULL;
    if (tree == NULL)
        return error_no_memory(compile->err, "schema_compile");
    pawl_status status = add_resource(compile, tree, uri, STR(""), NULL, resource);
    if (status == PAWL_OK)
        status = compile_node(compile, tree, *resource, STR(""), &node);
    if (status != PAWL_OK || str_equal((*resource)->uri, uri))
        return status;
    struct schema_resource *other = arena_alloc(compile->schema->arena, sizeof(*other));
    if (other == NULL)
        return error_no_memory(compile->err, "schema_compile");
    *other = (struct schema_resource){.uri = uri, .same = *resource, .next = compile->schema->resources};
    compile->schema->resources = other;
    return PAWL_OK;
}

pawl_status compile_find_resource(struct compile *compile, pawl_str uri, struct schema_resource **resource) {
    for (struct schema_resource *known = compile->schema->resources; known != NULL; known = known->next) {
        if (str_equal(known->uri, uri)) {
            *resource = known->same != NULL ? known->same : known;
            return PAWL_OK;
        }
    }
    pawl_str copy = {arena_copy(compile->schema->arena, uri.len > 0 ? uri.ptr : "", uri.len), uri.len};
    return copy.ptr == NULL ? error_no_memory(compile->err, "schema_compile")
                            : load_document(compile, copy, resource);
}

static pawl_status compile_root(struct compile *compile, const struct tree *tree) {
    const struct tree *copy = tree_copy(compile->schema->arena, tree);
    struct schema_resource *resource = NULL;
    if (copy == NULL)
        return error_no_memory(compile->err, "schema_compile");
    pawl_status status = add_resource(compile, copy, STR(""), STR(""), NULL, &resource);
    if (status == PAWL_OK)
        status = compile_node(compile, copy, resource, STR(""), &compile->schema->root);
    while (status == PAWL_OK && compile->references != NULL) {
        struct pending *reference = compile->references;
        compile->references = reference->next;
        status = compile_reference(compile, reference);
    }
    return status;
}

pawl_status schema_compile(const struct tree *tree, const struct schema_config *config,
                           struct schema **schema, pawl_error *err) {
    static const struct schema_config defaults = {0};
    struct compile compile = {.config = config != NULL ? config : &defaults, .err = err};
    compile.slots_count = (size_t)PAWL_SCHEMA_NODES_MAX * 2 + 1;
    if (tree->nodes * 2 + 1000 < compile.slots_count && compile.config->documents_count == 0)
        compile.slots_count = tree->nodes * 2 + 1000; /* a part is a node at least */
    compile.slots = calloc(compile.slots_count, sizeof(struct schema_node *));
    compile.schema = calloc(1, sizeof(*compile.schema));
    struct arena *arena = arena_create(0);
    pawl_status status = PAWL_OK;
    if (compile.slots == NULL || compile.schema == NULL || arena == NULL) {
        arena_free(arena);
        status = error_no_memory(err, "schema_compile");
        goto done;
    }
    compile.schema->arena = arena;
    compile.schema->checks_formats = !compile.config->ignore_formats;
    status = compile_root(&compile, tree);
    if (status == PAWL_OK) {
        *schema = compile.schema;
        compile.schema = NULL;
    }
done:
    schema_free(compile.schema);
    free(compile.slots);
    return status;
}

pawl_status schema_compile_text(pawl_str text, const struct schema_config *config, struct schema **schema,
                                pawl_error *err) {
    struct arena *arena = arena_create(0);
    const struct tree *tree = NULL;
    pawl_status status = tree_parse(arena, text, NULL, &tree, err);
    if (status == PAWL_OK)
        status = schema_compile(tree, config, schema, err);
    arena_free(arena);
    return status;
}

void schema_free(struct schema *schema) {
    if (schema == NULL)
        return;
    for (size_t i = 0; i < schema->regexes_count; i++)
        regex_free(schema->regexes[i]);
    free(schema->regexes);
    arena_free(schema->arena);
    free(schema);
}

const struct schema_rule *schema_rule_of(const struct schema_node *node, const char *keyword) {
    for (size_t i = 0; i < node->rules_count; i++)
        if (strcmp(node->rules[i].keyword->name, keyword) == 0)
            return &node->rules[i];
    return NULL;
}

const struct schema_anchor *schema_find_anchor(const struct schema *schema,
                                               const struct schema_resource *resource, pawl_str name) {
    for (const struct schema_anchor *anchor = schema->anchors; anchor != NULL; anchor = anchor->next)
        if (anchor->resource == resource && str_equal(anchor->name, name))
            return anchor;
    return NULL;
}
