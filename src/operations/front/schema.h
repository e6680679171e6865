/* JSON Schema of inputs and answers, from the fields and columns of operations: for OpenAPI and for MCP. */
#ifndef OPERATIONS_FRONT_SCHEMA_H
#define OPERATIONS_FRONT_SCHEMA_H

#include "base/json/json.h"
#include "operations/front/operation.h"

/* A member that is text, and one that is an object, which it opens. */
void schema_text(struct json_writer *json, const char *key, const char *value);
void schema_open(struct json_writer *json, const char *key);

/* The schema of one input, with its description if described. */
void schema_field(struct json_writer *json, const struct field *field, bool described);
/* An object of the inputs: those of the body, or all that are not a terminal's own. */
void schema_fields(struct json_writer *json, const struct operation *operation, bool body);

/* The schema of a row, and of a list of rows. */
void schema_columns(struct json_writer *json, const struct operation *operation);
void schema_list(struct json_writer *json, const struct operation *operation);

#endif
