/* The circuit breaker's state machine. */
#include "domain/failure/breaker.h"

const struct breaker_rule breaker_rule_default = {BREAKER_FAILURES,
                                                  {BREAKER_WAIT_MS, BREAKER_WAIT_MS_MAX, true}};

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

bool breaker_report(struct breaker *breaker, const struct breaker_rule *rule, bool ok, int64_t now_ms,
                    uint64_t random) {
    if (ok) {
        *breaker = (struct breaker){0};
        return false;
    }
    breaker->trying = false;
    if (breaker->failures < INT32_MAX)
        breaker->failures++;
    if (breaker->failures < rule->failures || now_ms < breaker->open_until_ms)
        return false;
    breaker->open_until_ms = now_ms + retry_wait_ms(&rule->wait, ++breaker->opened, random);
    return true;
}
