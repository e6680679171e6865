/* Answers whether values fit schemas, for the official test suite that Python reads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "domain/schema/schema.h"

enum { DOCUMENTS_MAX = 200 };

/*
 * One JSON array a line:
 *   ["document", URI, SCHEMA]               remembered for references
 *   ["schema", DRAFT7, CHECK_FORMATS, SCHEMA]  compiled; answers "ok" or "error …"
 *   ["value", VALUE]                        answers "valid" or "invalid …"
 */
int main(void) {
    static struct schema_document documents[DOCUMENTS_MAX];
    size_t documents_count = 0;
    struct schema *schema = NULL;
    struct arena *kept = arena_create(0);
    struct arena *arena = arena_create(0);
    struct tree_limits limits = {.depth_max = 70, .allow_nul = true};
    char *line = NULL;
    size_t cap = 0;
    ssize_t length = 0;
    while ((length = getline(&line, &cap, stdin)) > 0) {
        const struct tree *request = NULL;
        pawl_error err;
        arena_reset(arena);
        if (tree_parse(arena, (pawl_str){line, (size_t)length}, &limits, &request, &err) != PAWL_OK) {
            printf("error %s\n", err.text);
            continue;
        }
        const char *word = request->items[0]->text.ptr;
        if (strncmp(word, "document", 8) == 0 && documents_count < DOCUMENTS_MAX) {
            const struct tree *copy = tree_copy(kept, request);
            documents[documents_count++] = (struct schema_document){copy->items[1]->text, copy->items[2]};
            printf("ok\n");
        } else if (strncmp(word, "schema", 6) == 0) {
            struct schema_config config = {.documents = documents,
                                           .documents_count = documents_count,
                                           .draft7 = request->items[1]->kind == TREE_TRUE,
                                           .ignore_formats = request->items[2]->kind != TREE_TRUE};
            schema_free(schema);
            schema = NULL;
            if (schema_compile(request->items[3], &config, &schema, &err) == PAWL_OK)
                printf("ok\n");
            else
                printf("error %s\n", err.text);
        } else if (schema != NULL) {
            if (schema_validate(schema, request->items[1], &err) == PAWL_OK)
                printf("valid\n");
            else
                printf("invalid %s\n", err.text);
        } else {
            printf("error no schema\n");
        }
    }
    schema_free(schema);
    arena_free(arena);
    arena_free(kept);
    free(line);
    return 0;
}
