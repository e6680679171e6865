/* The circuit breaker's state machine. */
#include "domain/failure/breaker.h"

#include "domain/failure/retry.h"

bool breaker_allows(struct breaker *breaker, int64_t now_ms, int64_t *wait_ms) {
    if (breaker->open_until_ms == 0)
        return true;
    if (now_ms >= breaker->open_until_ms && !breaker->trying) {
        breaker->trying = true;
        return true;
    }
    *wait_ms = breaker->open_until_ms > now_ms ? breaker->open_until_ms - now_ms : BREAKER_WAIT_MS / 10;
    return false;
}

void breaker_report(struct breaker *breaker, bool ok, int64_t now_ms, uint64_t random) {
    if (ok) {
        *breaker = (struct breaker){0};
        return;
    }
    breaker->trying = false;
    if (breaker->failures < INT32_MAX)
        breaker->failures++;
    if (breaker->failures < BREAKER_FAILURES)
        return;
    struct retry_policy policy = {BREAKER_WAIT_MS, BREAKER_WAIT_MS_MAX, true};
    breaker->open_until_ms = now_ms +
                             retry_wait_ms(&policy, breaker->failures - BREAKER_FAILURES + 1, random);
}
