/* The built-in tools for steps of pipelines: pawl.send, pawl.append, pawl.enqueue, pawl.signal, pawl.run. */
#ifndef WORK_PIPELINE_BUILTIN_H
#define WORK_PIPELINE_BUILTIN_H

#include "handler/tools/tools.h"

/* They write through the store of the calling job, and fail anywhere else. */
PAWL_MUSTCHECK pawl_status builtin_add(struct tools *tools, pawl_error *err);

#endif
