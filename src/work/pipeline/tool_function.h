/* Tools implemented by C functions (pawl_worker_tool). */
#ifndef WORK_PIPELINE_TOOL_FUNCTION_H
#define WORK_PIPELINE_TOOL_FUNCTION_H

#include "handler/tools/tools.h"
#include "pawl_run.h"

/* The arena lives as long as the registry. */
PAWL_MUSTCHECK pawl_status tool_function_add(struct tools *tools, struct arena *arena, const char *name,
                                             pawl_tool_fn function, void *self, pawl_error *err);

#endif
