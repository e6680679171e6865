/* Tools of pawl's own, for steps of pipelines: pawl.send, pawl.append, pawl.enqueue, pawl.signal, pawl.run.
 */
#ifndef WORK_PIPELINE_BUILTIN_H
#define WORK_PIPELINE_BUILTIN_H

#include "handler/tools/tools.h"

/* They write through the store of the job that calls them; anywhere else they refuse. */
PAWL_MUSTCHECK pawl_status builtin_add(struct tools *tools, pawl_error *err);

#endif
