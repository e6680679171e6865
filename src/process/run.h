/* Running a program to its end in the calling thread, within a time. */
#ifndef PROCESS_RUN_H
#define PROCESS_RUN_H

#include "process/process.h"

struct process_limits {
    int64_t deadline_ms;   /* boot time; 0 = none */
    const stop_flag *stop; /* may be NULL */
};

/* PAWL_OK whatever the program did: see end; else it could not be started, which is the worker's trouble
 * (end->outcome is PROCESS_NOT_STARTED). output gets what is kept of its stdout, may be NULL, and is freed by
 * the caller. */
PAWL_MUSTCHECK pawl_status process_run(struct keeper *keeper, const struct process_spec *spec,
                                       const struct process_limits *limits, struct buf *output,
                                       struct process_end *end, pawl_error *err);

#endif
