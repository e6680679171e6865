/* What a caller asks of a worker, as the core reads it. */
#ifndef ENGINE_WORKER_CONFIG_H
#define ENGINE_WORKER_CONFIG_H

#include "engine/core/core.h"

/* Puts defaults in and refuses what cannot work; texts are not copied. */
PAWL_MUSTCHECK pawl_status worker_config_read(const pawl_worker_config *in, struct engine_config *engine,
                                              pawl_error *err);

#endif
