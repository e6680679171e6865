/* Computing the delay before a retry. */
#include "domain/failure/retry.h"

#include "base/limits.h"

struct retry_policy retry_policy_default(void) {
    return (struct retry_policy){PAWL_RETRY_BASE_MS_DEFAULT, PAWL_RETRY_MAX_MS_DEFAULT, true};
}

int64_t retry_delay_ms(const struct retry_policy *policy, int attempt) {
    int64_t delay_ms = policy->base_ms;
    if (delay_ms <= 0)
        return 0;
    /* Doubling stops at the limit, so that no attempt number can overflow. */
    for (int i = 1; i < attempt && delay_ms < policy->max_ms; i++)
        delay_ms = delay_ms > policy->max_ms / 2 ? policy->max_ms : delay_ms * 2;
    return delay_ms < policy->max_ms ? delay_ms : policy->max_ms;
}

int64_t retry_jitter_ms(int64_t delay_ms, uint64_t random) {
    if (delay_ms <= 0)
        return 0;
    uint64_t least = ((uint64_t)delay_ms + 1) / 2;
    uint64_t choices = (uint64_t)delay_ms - least + 1;
    return (int64_t)(least + random % choices);
}

int64_t retry_wait_ms(const struct retry_policy *policy, int attempt, uint64_t random) {
    int64_t delay_ms = retry_delay_ms(policy, attempt);
    return policy->jitter ? retry_jitter_ms(delay_ms, random) : delay_ms;
}

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
