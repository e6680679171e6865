/* The rules of pooled work that are pure arithmetic: order, rates, fair shares (docs/jobs.md). */
#ifndef DOMAIN_JOBRULE_H
#define DOMAIN_JOBRULE_H

#include "pawl.h"

/* The due time of a job that waits forever. */
#define JOBRULE_NEVER INT64_MAX

/* The place in the queue: the due time minus the waiting time that the priority is worth. */
int64_t jobrule_order(int64_t due_ms, int priority);

/* The limits of one key. */
struct jobrule_limit {
    int concurrency; /* 0 = none */
    int rate;        /* 0 = none */
    int64_t rate_ms;
    int weight;
};

/* The state of one key, as a claim sees it. */
struct jobrule_key {
    pawl_str key;
    struct jobrule_limit limit;
    int running;
    int64_t vtime, tat_us;
    int ready;     /* waiting jobs; at least as many as may be offered */
    int offered;   /* out: how many of them may be looked at */
    int granted;   /* out */
    int64_t start; /* scratch */
};

/* How many of a key may start now; 0 when it is full. */
int jobrule_room(const struct jobrule_key *key, int64_t now_ms, int most);

/*
 * Shares up to max grants among the keys: sorts them, sets granted, moves vtime, tat_us and running of those
 * that got something, and raises *vtime. Returns how many were granted.
 */
int jobrule_share(struct jobrule_key *keys, size_t count, int max, int64_t now_ms, int64_t *vtime);

/* When a key that is over its rate may start again. */
int64_t jobrule_rate_until_ms(const struct jobrule_key *key, int64_t now_ms);

/* The tat_us that makes the next start of a key happen at until_ms, with the others following at the rate. */
int64_t jobrule_hold_us(const struct jobrule_limit *limit, int64_t until_ms);

/* The text before the first colon, with it; absent when there is none: "tenant:" of "tenant:7". */
pawl_str jobrule_prefix(pawl_str key);

#endif
