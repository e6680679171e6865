/* A circuit breaker: after repeated failures, calls are suspended for a while. */
#ifndef DOMAIN_FAILURE_BREAKER_H
#define DOMAIN_FAILURE_BREAKER_H

#include "pawl.h"

enum { BREAKER_FAILURES = 5, BREAKER_WAIT_MS = 5000, BREAKER_WAIT_MS_MAX = 60000 };

/* Zero is a closed one. Times are those of any clock that does not go back. */
struct breaker {
    int failures;          /* in a row */
    int64_t open_until_ms; /* 0 = closed */
    bool trying;           /* one trial call is in progress */
};

/* Whether a call may be made now; if not, *wait_ms says how long to wait. An allowed call must be followed by
 * breaker_report. */
bool breaker_allows(struct breaker *breaker, int64_t now_ms, int64_t *wait_ms);

/* The outcome of an allowed call. random spreads the next trials of many instances. */
void breaker_report(struct breaker *breaker, bool ok, int64_t now_ms, uint64_t random);

#endif
