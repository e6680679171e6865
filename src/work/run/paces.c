/* This worker's rate limits for the sources of runs. */
#include "work/run/paces.h"

#include <pthread.h>
#include <stdlib.h>

enum {
    RUNS_KEPT = 256, /* with more at once, the one idle longest is forgotten, and restarts at full speed */
    FULL_WAIT_MS = 200
};

struct pace {
    int64_t run; /* 0 = free */
    struct run_rate rate;
    int64_t used_ms;
    int told_share;        /* what the fleet knows */
    int64_t told_until_ms; /* of a hold */
};

struct run_paces {
    pthread_mutex_t lock;
    struct pace items[RUNS_KEPT];
};

struct run_paces *run_paces_create(void) {
    struct run_paces *paces = calloc(1, sizeof(*paces));
    if (paces != NULL)
        pthread_mutex_init(&paces->lock, NULL);
    return paces;
}

void run_paces_free(struct run_paces *paces) {
    if (paces == NULL)
        return;
    pthread_mutex_destroy(&paces->lock);
    free(paces);
}

static struct pace *find(struct run_paces *paces, int64_t run) {
    for (size_t i = 0; i < RUNS_KEPT; i++) {
        if (paces->items[i].run == run)
            return &paces->items[i];
    }
    return NULL;
}

/* An entry for a new run; NULL: all are busy. */
static struct pace *take(struct run_paces *paces) {
    struct pace *oldest = NULL;
    for (size_t i = 0; i < RUNS_KEPT; i++) {
        struct pace *at = &paces->items[i];
        if (at->run == 0)
            return at;
        if (at->rate.running == 0 && (oldest == NULL || at->used_ms < oldest->used_ms))
            oldest = at;
    }
    return oldest;
}

int64_t run_paces_ask(struct run_paces *paces, int64_t run, const struct run_rate_policy *policy,
                      int64_t now_ms) {
    int64_t wait_ms = FULL_WAIT_MS;
    pthread_mutex_lock(&paces->lock);
    struct pace *pace = find(paces, run);
    if (pace == NULL && (pace = take(paces)) != NULL) {
        *pace = (struct pace){.run = run, .told_share = RUN_RATE_FULL};
        run_rate_init(&pace->rate, policy);
    }
    if (pace != NULL) {
        pace->used_ms = now_ms;
        wait_ms = run_rate_ask(&pace->rate, now_ms);
    }
    pthread_mutex_unlock(&paces->lock);
    return wait_ms;
}

/* The same share of the limits for every worker: a rate is stretched over a longer time, so that it stays
 * exact. */
static void say(const struct pace *pace, int64_t now_ms, struct run_pace *out) {
    const struct run_rate *rate = &pace->rate;
    *out = (struct run_pace){.run = pace->run, .concurrency = run_rate_concurrency(rate), .rate = -1};
    if (rate->policy.rate > 0) {
        out->rate = rate->policy.rate;
        out->rate_ms = rate->policy.rate_ms * RUN_RATE_FULL / rate->share;
    }
    if (rate->not_before_ms > now_ms)
        out->hold_ms = rate->not_before_ms - now_ms;
}

bool run_paces_end(struct run_paces *paces, int64_t run, int64_t now_ms, enum run_rate_news news,
                   int64_t retry_after_ms, struct run_pace *out) {
    bool news_for_all = false;
    pthread_mutex_lock(&paces->lock);
    struct pace *pace = find(paces, run);
    if (pace != NULL) {
        run_rate_end(&pace->rate, now_ms, news, retry_after_ms);
        bool held = pace->rate.not_before_ms > now_ms && pace->rate.not_before_ms > pace->told_until_ms;
        news_for_all = pace->rate.policy.adaptive && (pace->rate.share != pace->told_share || held);
        if (news_for_all)
            say(pace, now_ms, out);
        pace->told_share = pace->rate.share;
        if (held)
            pace->told_until_ms = pace->rate.not_before_ms;
    }
    pthread_mutex_unlock(&paces->lock);
    return news_for_all;
}
