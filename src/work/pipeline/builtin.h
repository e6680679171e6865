/* The built-in tools for steps of pipelines: pawl.send, pawl.append, pawl.enqueue, pawl.signal, pawl.run. */
#ifndef WORK_PIPELINE_BUILTIN_H
#define WORK_PIPELINE_BUILTIN_H

#include "handler/tools/tools.h"
#include "pawl_run.h"

/* They write through the store of the calling job, and fail anywhere else. */
PAWL_MUSTCHECK pawl_status builtin_add(struct tools *tools, pawl_error *err);

/* A tool that is a C function (pawl_worker_tool). The arena lives as long as the registry. */
PAWL_MUSTCHECK pawl_status tool_function_add(struct tools *tools, struct arena *arena, const char *name,
                                             pawl_tool_fn function, void *self, pawl_error *err);

#endif
