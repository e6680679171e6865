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

struct breaker_rule {
    int failures;             /* in a row, until it opens */
    struct retry_policy wait; /* for how long, each time it opens without a success in between */
};

enum { BREAKER_FAILURES = 5, BREAKER_WAIT_MS = 5000, BREAKER_WAIT_MS_MAX = 60000 };
extern const struct breaker_rule breaker_rule_default;

/* Zero is a closed one. Times are those of any clock that does not go back. */
struct breaker {
    int failures;          /* in a row */
    int opened;            /* times in a row */
    int64_t open_until_ms; /* 0 = closed */
    bool trying;           /* one trial call is in progress */
};

/* Whether a call may be made now; if not, *wait_ms says how long to wait. An allowed call must be followed by
 * breaker_report. */
bool breaker_allows(struct breaker *breaker, int64_t now_ms, int64_t *wait_ms);

/* The outcome of a call. random spreads the next trials of many instances. Returns whether it has just
 * opened; failures of calls that began before that do not lengthen the wait. */
bool breaker_report(struct breaker *breaker, const struct breaker_rule *rule, bool ok, int64_t now_ms,
                    uint64_t random);

#endif
