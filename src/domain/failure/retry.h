/* The delay before a retry: exponential backoff with jitter. */
#ifndef DOMAIN_FAILURE_RETRY_H
#define DOMAIN_FAILURE_RETRY_H

#include "pawl.h"

struct retry_policy {
    int64_t base_ms; /* delay after the first attempt */
    int64_t max_ms;  /* no delay is longer */
    bool jitter;
};

/* 1 s, doubled with every attempt, at most 60 s, with jitter. */
struct retry_policy retry_policy_default(void);

/* min(base * 2^(attempt - 1), max), without jitter; attempt counts from 1. With the default: 1, 2, 4, 8, 16,
 * 32, 60 s. */
int64_t retry_delay_ms(const struct retry_policy *policy, int attempt);

/* 50 to 100 % of delay_ms, chosen uniformly from a random number that the caller supplies. */
int64_t retry_jitter_ms(int64_t delay_ms, uint64_t random);

/* Both: how long to wait after a failed attempt. */
int64_t retry_wait_ms(const struct retry_policy *policy, int attempt, uint64_t random);

#endif
