/* What a running C function can ask and tell: pawl_message.run points to one. */
#ifndef ENGINE_RUN_HANDLE_H
#define ENGINE_RUN_HANDLE_H

#include <stdatomic.h>

#include "pawl.h"

struct run_handle {
    atomic_bool cancel;
    /* Takes progress (JSON) of a job; NULL = nobody wants it. */
    bool (*progress)(struct run_handle *handle, pawl_str json);
};

#endif
