/* Reading inputs as their fields declare them. PAWL_INVALID is a sentence that names the field. */
#ifndef OPERATIONS_FRONT_FIELDS_H
#define OPERATIONS_FRONT_FIELDS_H

#include "operations/front/operation.h"

/* A value from a path or a query. */
PAWL_MUSTCHECK pawl_status field_from_text(const struct field *field, pawl_str text, struct value *value,
                                           pawl_error *err);

/* The field with that name in that place, or NULL. */
const struct field *fields_find(const struct field *fields, size_t count, pawl_str name, enum field_place in);

/* "a, b, c", for the error message. */
enum { FIELDS_NAMES_BYTES = 200 };
void fields_names(const struct field *fields, size_t count, enum field_place in,
                  char names[static FIELDS_NAMES_BYTES]);

/* The members of an object as fields of a body; values has one entry per field. */
PAWL_MUSTCHECK pawl_status fields_read(const struct tree *object, const char *where,
                                       const struct field *fields, size_t count, struct value *values,
                                       pawl_error *err);

#endif
