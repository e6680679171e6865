/* Shared by the pipeline files only: errors with their location, and sorting the steps. */
#ifndef DOMAIN_PIPELINE_INT_H
#define DOMAIN_PIPELINE_INT_H

#include "base/json/tree_read.h"
#include "domain/pipeline/pipeline.h"

/* Finds what each step waits for, refuses cycles, and sorts the steps. steps and the pipeline's other fields
 * are already set. */
void pipeline_link(struct tree_reader *in, struct pipeline *pipeline, struct pipeline_step *steps);

#endif
