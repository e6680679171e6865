/* What the pipeline files share. */
#ifndef DOMAIN_PIPELINE_INT_H
#define DOMAIN_PIPELINE_INT_H

#include "domain/pipeline/pipeline.h"

/* "line 7, column 5: step 'b': …"; step may be absent, a place that was not read is left out. */
PAWL_MUSTCHECK pawl_status pipeline_wrong(const struct tree *place, pawl_str step, pawl_error *err,
                                          const char *fmt, ...) __attribute__((format(printf, 4, 5)));
PAWL_MUSTCHECK pawl_status pipeline_no_memory(pawl_error *err);

/* Finds what each step waits for, refuses circles, and sorts. steps and the pipeline's other fields are set.
 */
PAWL_MUSTCHECK pawl_status pipeline_link(struct arena *arena, struct pipeline *pipeline,
                                         struct pipeline_step *steps, const struct tree *const *documents,
                                         pawl_error *err);

#endif
