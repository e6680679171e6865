/* The inputs of an operation, and reading them as their fields declare. PAWL_INVALID is a sentence that names
 * the field. */
#ifndef OPERATIONS_FRONT_FIELDS_H
#define OPERATIONS_FRONT_FIELDS_H

#include "base/buf.h"
#include "operations/front/operation.h"

/* All inputs: its fields, limit and cursor of a list in pages, the reason of an action. NULL after the last.
 */
const struct field *operation_input(const struct operation *operation, size_t index);
size_t operation_inputs(const struct operation *operation);
/* The index of the input with that name; operation_inputs() when there is none. */
size_t operation_input_find(const struct operation *operation, const char *name);

/* Whether it is only tried: then there is no action to record. */
bool operation_dry(const struct operation *operation, const struct value *values);
/* Those that are present, as a record of an action shows them: " id=7 reason=…". JSON may hold secrets and is
 * left out. */
void operation_asked(const struct operation *operation, const struct value *values, struct buf *buf);

/* A value from a path or a query. */
PAWL_MUSTCHECK pawl_status field_from_text(const struct field *field, pawl_str text, struct value *value,
                                           pawl_error *err);
/* The same from a command line, where durations have units and choices no case; label is what the error calls
 * it. JSON and what is in files is not read yet. */
PAWL_MUSTCHECK pawl_status field_from_word(const struct field *field, const char *label, pawl_str text,
                                           struct value *value, pawl_error *err);

/* A value from JSON; not for null. */
PAWL_MUSTCHECK pawl_status field_from_tree(const struct field *field, const struct tree *tree,
                                           struct value *value, pawl_error *err);

/* The members of an object as inputs IN_BODY; values has one entry per input. where: "the body", "a message".
 */
PAWL_MUSTCHECK pawl_status operation_read(const struct operation *operation, const char *where,
                                          const struct tree *object, struct value *values, pawl_error *err);

/* "a, b, c", for the error message. */
enum { OPERATION_NAMES_BYTES = 200 };
void operation_names(const struct operation *operation, enum field_place in,
                     char names[static OPERATION_NAMES_BYTES]);

/* The list and its filters, without page, size and patience: what a cursor is bound to. In the arena. */
pawl_str operation_scope(struct arena *arena, const struct operation *operation, const struct value *values);

#endif
