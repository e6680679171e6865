/* Resolving references to their targets. */
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/text/encode.h"
#include "domain/schema/compile.h"
#include "domain/schema/uri.h"

static pawl_status no_target(const struct compile *compile, const struct pending *reference,
                             const char *why) {
    char text[300];
    pawl_error reason;
    (void)error_set(&reason, PAWL_INVALID, "schema_compile", "'%.*s' %s",
                    STR_ARG(reference->rule->value->text), why);
    memcpy(text, reason.text, sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    return compile_wrong(compile, reference->node->place, reference->rule->keyword->name, text);
}

/* The next step of a JSON pointer, with ~0 and ~1 decoded into out. Moves *rest on; false at its end. */
static bool next_step(pawl_str *rest, char *out, pawl_str *step) {
    if (rest->len == 0)
        return false;
    size_t length = 0;
    size_t at = 1;
    for (; at < rest->len && rest->ptr[at] != '/'; at++) {
        char c = rest->ptr[at];
        if (c == '~' && at + 1 < rest->len && (rest->ptr[at + 1] == '0' || rest->ptr[at + 1] == '1'))
            c = rest->ptr[++at] == '0' ? '~' : '/';
        out[length++] = c;
    }
    *step = (pawl_str){out, length};
    rest->ptr += at;
    rest->len -= at;
    return true;
}

/* Follows a pointer from a resource's root; the target may be at a location that no keyword covers. */
static pawl_status follow_pointer(struct compile *compile, const struct pending *reference,
                                  const struct schema_resource *resource, pawl_str pointer) {
    const struct tree *tree = resource->root;
    const struct schema_node *root = compile_find(compile, tree);
    pawl_str place = root != NULL ? root->place : STR("");
    char *out = arena_alloc(compile->schema->arena, pointer.len + 1);
    if (out == NULL)
        return error_no_memory(compile->err, "schema_compile");
    pawl_str step = {NULL, 0};
    while (next_step(&pointer, out, &step)) {
        tree = tree_step(tree, step);
        if (tree == NULL)
            return no_target(compile, reference, "leads nowhere: there is no such place in the schema");
        const struct schema_node *node = compile_find(compile, tree);
        if (node != NULL)
            resource = node->resource;
        place = compile_place(compile, place, step);
        if (place.ptr == NULL)
            return error_no_memory(compile->err, "schema_compile");
    }
    return compile_node(compile, tree, resource, place, reference->target);
}

pawl_status compile_reference(struct compile *compile, struct pending *reference) {
    pawl_str uri =
        uri_resolve(compile->schema->arena, reference->node->resource->uri, reference->rule->value->text);
    if (uri.ptr == NULL)
        return error_no_memory(compile->err, "schema_compile");
    struct schema_resource *resource = NULL;
    pawl_status status = compile_find_resource(compile, uri_without_fragment(uri), &resource);
    if (status != PAWL_OK)
        return status;
    if (resource == NULL)
        return no_target(
            compile, reference,
            "leads to a document that is not here: references are not fetched, put the schema into $defs");
    pawl_str fragment = uri_fragment(uri);
    pawl_str decoded = fragment.ptr != NULL ? percent_decode(compile->schema->arena, fragment) : STR("");
    if (decoded.ptr == NULL)
        return no_target(compile, reference, "is malformed");
    if (decoded.len == 0 || decoded.ptr[0] == '/')
        return follow_pointer(compile, reference, resource, decoded);
    const struct schema_anchor *anchor = schema_find_anchor(compile->schema, resource, decoded);
    if (anchor == NULL)
        return no_target(compile, reference, "leads nowhere: there is no such anchor");
    *reference->target = anchor->node;
    return PAWL_OK;
}
