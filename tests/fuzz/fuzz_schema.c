/* Fuzzes trees and the schema validator: input is a schema, a line end, and a value. */
#include <string.h>

#include "base/json/json.h"
#include "base/limits.h"
#include "domain/schema/schema.h"
#include "fuzz.h"

/* The tree's reader and the validator of texts accept the same, but for keys that come twice. */
static void fuzz_tree(pawl_str text) {
    struct arena *arena = arena_create(0);
    const struct tree *tree = NULL;
    const struct tree *again = NULL;
    pawl_error err;
    pawl_status status = tree_parse(arena, text, NULL, &tree, &err);
    bool valid = json_valid(text, PAWL_JSON_DEPTH_MAX, NULL);
    must(status == PAWL_OK ? valid : !valid || strstr(err.text, "comes twice") != NULL);
    if (status == PAWL_OK) {
        struct buf written;
        buf_init(&written, 0);
        tree_write(&written, tree);
        must(tree_parse(arena, buf_str(&written), NULL, &again, &err) == PAWL_OK && tree_equal(tree, again));
        buf_free(&written);
    }
    arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    pawl_str text = {(const char *)data, size};
    const uint8_t *end = size > 0 ? memchr(data, '\n', size) : NULL;
    struct schema *schema = NULL;
    pawl_error err;
    fuzz_tree(text);
    if (end == NULL)
        return 0;
    pawl_str first = {text.ptr, (size_t)(end - data)};
    pawl_str rest = {text.ptr + first.len + 1, size - first.len - 1};
    if (schema_compile_text(first, NULL, &schema, &err) == PAWL_OK) {
        pawl_status status = schema_validate_text(schema, rest, &err);
        must(status == PAWL_OK || status == PAWL_INVALID || status == PAWL_NO_MEMORY);
    }
    schema_free(schema);
    return 0;
}
