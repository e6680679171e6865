/* Limiting the rate of requests to a run's source. */
#include "domain/run/rate.h"

enum { BUSY_MS = 20 /* all slots are taken: ask again soon */ };

void run_rate_init(struct run_rate *rate, const struct run_rate_policy *policy) {
    *rate = (struct run_rate){.policy = *policy, .share = RUN_RATE_FULL};
}

int run_rate_concurrency(const struct run_rate *rate) {
    if (rate->policy.concurrency == 0 && rate->share == RUN_RATE_FULL)
        return 0;
    int64_t whole = rate->policy.concurrency > 0 ? rate->policy.concurrency : rate->peak;
    int64_t most = whole * rate->share / RUN_RATE_FULL;
    return most > 0 ? (int)most : 1;
}

/* Time between two requests at the current share. */
static int64_t interval_us(const struct run_rate *rate) {
    if (rate->policy.rate == 0)
        return 0;
    return rate->policy.rate_ms * 1000 * RUN_RATE_FULL / ((int64_t)rate->policy.rate * rate->share);
}

static void recover(struct run_rate *rate, int64_t now_ms) {
    if (rate->share >= RUN_RATE_FULL || now_ms - rate->stepped_ms < RUN_RATE_CALM_MS ||
        now_ms - rate->slowed_ms < RUN_RATE_CALM_MS)
        return;
    rate->share = rate->share + RUN_RATE_STEP < RUN_RATE_FULL ? rate->share + RUN_RATE_STEP : RUN_RATE_FULL;
    rate->stepped_ms = now_ms;
}

int64_t run_rate_ask(struct run_rate *rate, int64_t now_ms) {
    int most = run_rate_concurrency(rate);
    if (now_ms < rate->not_before_ms)
        return rate->not_before_ms - now_ms;
    if (most > 0 && rate->running >= most)
        return BUSY_MS;
    if (rate->next_us > now_ms * 1000)
        return (rate->next_us - now_ms * 1000 + 999) / 1000;
    rate->next_us = now_ms * 1000 + interval_us(rate);
    rate->running++;
    if (rate->running > rate->peak)
        rate->peak = rate->running;
    return 0;
}

static void slow_down(struct run_rate *rate, int64_t now_ms) {
    if (!rate->policy.adaptive || (rate->slowed_ms > 0 && now_ms - rate->slowed_ms < RUN_RATE_SLOW_MS))
        return;
    rate->share = rate->share / 2 > RUN_RATE_LOW ? rate->share / 2 : RUN_RATE_LOW;
    rate->slowed_ms = rate->stepped_ms = now_ms;
}

void run_rate_end(struct run_rate *rate, int64_t now_ms, enum run_rate_news news, int64_t retry_after_ms) {
    int64_t pause_ms = retry_after_ms;
    rate->running -= rate->running > 0;
    if (news == RUN_RATE_FINE) {
        rate->pause_ms = 0;
        recover(rate, now_ms);
        return;
    }
    if (news == RUN_RATE_OTHER && retry_after_ms < 0)
        return;
    if (news == RUN_RATE_THROTTLED && retry_after_ms < 0 && now_ms >= rate->not_before_ms) {
        rate->pause_ms = rate->pause_ms > 0 ? rate->pause_ms * 2 : RUN_RATE_PAUSE_MS;
        if (rate->pause_ms > RUN_RATE_PAUSE_MS_MAX)
            rate->pause_ms = RUN_RATE_PAUSE_MS_MAX;
        pause_ms = rate->pause_ms;
    }
    if (pause_ms > 0 && now_ms + pause_ms > rate->not_before_ms)
        rate->not_before_ms = now_ms + pause_ms;
    slow_down(rate, now_ms);
}
