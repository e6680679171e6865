/* Asking running work to stop: one thread sets the reason, and the thread that does the work checks it. */
#ifndef BASE_STOP_H
#define BASE_STOP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum stop_reason {
    STOP_NONE = 0,
    STOP_TIMEOUT, /* its time is over */
    STOP_ASKED,   /* a person wants it to end */
    STOP_LEAVING, /* the worker stops */
    STOP_FENCED   /* its lease has ended: its result no longer counts */
};

/* Holds a stop_reason. */
typedef atomic_int stop_flag;

/* NULL means that it cannot be stopped. */
static inline enum stop_reason stop_read(const stop_flag *flag) {
    return flag != NULL ? (enum stop_reason)atomic_load_explicit(flag, memory_order_relaxed) : STOP_NONE;
}

/* How long a call may take, and what ends it earlier. */
struct stop_limit {
    int64_t deadline_ms;     /* boot time; for programs, 0 = none */
    const stop_flag *cancel; /* may be NULL */
};

static inline void stop_set(stop_flag *flag, enum stop_reason reason) { atomic_store(flag, (int)reason); }

#endif
