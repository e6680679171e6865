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
