/* The handle behind pawl_message.run, with which a running C function checks for cancellation and reports
 * progress. */
#ifndef HANDLER_RUN_HANDLE_H
#define HANDLER_RUN_HANDLE_H

#include "base/stop.h"
#include "pawl.h"

struct run_handle {
    stop_flag cancel;
    const atomic_bool
        *asked; /* set when a person cancels the running message; NULL = it cannot be cancelled */
    /* Takes progress (JSON) of a job; NULL = it is dropped. */
    bool (*progress)(struct run_handle *handle, pawl_str json);
    int64_t began_us; /* of the job, by the boot clock; 0 = unknown */
};

/* How long the handler of a job has been running; 0 when unknown. */
int64_t run_handle_elapsed_ms(const pawl_message *message);

#endif
