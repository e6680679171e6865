/* Conditions: the small language of a step's `if`, which always has an answer. */
#ifndef DOMAIN_PIPELINE_CONDITION_H
#define DOMAIN_PIPELINE_CONDITION_H

#include "domain/pipeline/template.h"

/* Whether text is a condition, and which paths it looks at. place is for the error's line. visit may be NULL.
 */
PAWL_MUSTCHECK pawl_status condition_check(pawl_str text, const struct tree *place, template_visit visit,
                                           void *self, pawl_error *err);

/* The answer. A path that does not exist is null; comparing different kinds is false; nothing fails but a
 * malformed text and memory. */
PAWL_MUSTCHECK pawl_status condition_holds(struct arena *arena, pawl_str text,
                                           const struct template_scope *scope, bool *holds, pawl_error *err);

#endif
