/* JSON Schema: whether a value satisfies a schema and, if not, where and why. */
#ifndef DOMAIN_SCHEMA_SCHEMA_H
#define DOMAIN_SCHEMA_SCHEMA_H

#include "base/json/tree.h"
#include "pawl.h"

/* Drafts 2020-12 (the default) and draft-07, by the schema's own $schema. docs/schema.md names what is and is
 * not supported. Nothing is ever fetched: a reference outside the schema must be among the documents given.
 */
struct schema;

/* A document that others refer to by its address. */
struct schema_document {
    pawl_str uri;
    const struct tree *tree;
};

struct schema_config {
    const struct schema_document *documents;
    size_t documents_count;
    bool draft7;         /* the draft of a schema without $schema */
    bool ignore_formats; /* "format" is only an annotation, the default of the specification; otherwise it
                            is checked */
};

/* Compiles once. The schema keeps its own copy of what it needs. config may be NULL. PAWL_INVALID says at
 * which place of the schema (a JSON pointer) what is wrong: an unknown reference, a bad regular expression, …
 */
PAWL_MUSTCHECK pawl_status schema_compile(const struct tree *tree, const struct schema_config *config,
                                          struct schema **schema, pawl_error *err);
/* The same from JSON text. */
PAWL_MUSTCHECK pawl_status schema_compile_text(pawl_str text, const struct schema_config *config,
                                               struct schema **schema, pawl_error *err);
void schema_free(struct schema *schema); /* takes NULL */

/* Validates; many times, from many threads. PAWL_INVALID: err->text is "/items/3/price: … (schema
 * /properties/…)", the error that explains most. */
PAWL_MUSTCHECK pawl_status schema_validate(const struct schema *schema, const struct tree *value,
                                           pawl_error *err);
/* The same for text, which may not even be JSON. */
PAWL_MUSTCHECK pawl_status schema_validate_text(const struct schema *schema, pawl_str text, pawl_error *err);

#endif
