/* Limiting requests to a run's source: requests in flight, requests per interval, slower when the source
 * complains. */
#ifndef DOMAIN_RUN_RATE_H
#define DOMAIN_RUN_RATE_H

#include "pawl.h"

/* What the run allows. */
struct run_rate_policy {
    int concurrency; /* requests at the same time; 0 = any number */
    int rate;        /* requests per rate_ms; 0 = any number */
    int64_t rate_ms;
    bool adaptive; /* slow down on 429 and timeouts, recover slowly */
};

enum {
    RUN_RATE_FULL = 1000, /* share: everything the policy allows */
    RUN_RATE_LOW = 20,    /* never less than 2 % of it */
    RUN_RATE_SLOW_MS =
        1000, /* complaints within this time count as one, because they answer earlier requests */
    RUN_RATE_CALM_MS = 2000,      /* after this long without a complaint: a step faster */
    RUN_RATE_STEP = 50,           /* 5 % of the policy */
    RUN_RATE_PAUSE_MS = 1000,     /* after a 429 that does not say how long */
    RUN_RATE_PAUSE_MS_MAX = 60000 /* doubled each time until a page succeeds */
};

/* How a request ended, with regard to the source's load. */
enum run_rate_news {
    RUN_RATE_FINE = 1,  /* it answered */
    RUN_RATE_THROTTLED, /* 429, or anything that came with Retry-After */
    RUN_RATE_TIMEOUT,
    RUN_RATE_OTHER /* failed for another reason, or was not sent */
};

/* A state machine without clock or threads; the caller guards it. Times are of one clock. */
struct run_rate {
    struct run_rate_policy policy;
    int running;
    int peak;              /* the most that ran at once: the base for halving if the policy has no number */
    int share;             /* RUN_RATE_LOW … RUN_RATE_FULL */
    int64_t next_us;       /* the next request may begin then */
    int64_t not_before_ms; /* the source asked for quiet until then */
    int64_t slowed_ms;     /* the last complaint that counted; 0 = none yet */
    int64_t stepped_ms;    /* the last change of share */
    int64_t pause_ms;      /* the last pause that we chose ourselves; 0 = none */
};

void run_rate_init(struct run_rate *rate, const struct run_rate_policy *policy);

/* 0: start now, and it is counted; otherwise milliseconds after which to ask again. */
PAWL_MUSTCHECK int64_t run_rate_ask(struct run_rate *rate, int64_t now_ms);

/* A request that began has ended. retry_after_ms: what the source asked for; -1 = nothing. */
void run_rate_end(struct run_rate *rate, int64_t now_ms, enum run_rate_news news, int64_t retry_after_ms);

/* How many may run at once now; 0 = any number. */
int run_rate_concurrency(const struct run_rate *rate);

#endif
