/* Conditions: the small language of a step's `if`. Every valid condition has a result. */
#ifndef DOMAIN_PIPELINE_CONDITION_H
#define DOMAIN_PIPELINE_CONDITION_H

#include "domain/pipeline/template.h"

/* Whether text is a valid condition, and which paths it refers to. place gives the line for errors. visit may
 * be NULL. */
PAWL_MUSTCHECK pawl_status condition_check(pawl_str text, const struct tree *place, template_visit visit,
                                           void *self, pawl_error *err);

/* The result. A path that does not exist is null; comparing different types is false; it fails only if the
 * text is malformed or memory runs out. */
PAWL_MUSTCHECK pawl_status condition_holds(struct arena *arena, pawl_str text,
                                           const struct template_scope *scope, bool *holds, pawl_error *err);

#endif
