/* This worker's rate limits for the sources of runs, and sharing them with the fleet. */
#ifndef WORK_RUN_PACES_H
#define WORK_RUN_PACES_H

#include "domain/run/rate.h"
#include "store/store.h"

struct run_paces;

/* NULL: out of memory. free takes NULL. */
struct run_paces *run_paces_create(void);
void run_paces_free(struct run_paces *paces);

/* Before a page is fetched: 0 = go, and run_paces_end follows; else milliseconds to wait. Any thread. */
PAWL_MUSTCHECK int64_t run_paces_ask(struct run_paces *paces, int64_t run,
                                     const struct run_rate_policy *policy, int64_t now_ms);

/* After it. True: the fleet should be told *pace. */
PAWL_MUSTCHECK bool run_paces_end(struct run_paces *paces, int64_t run, int64_t now_ms,
                                  enum run_rate_news news, int64_t retry_after_ms, struct run_pace *pace);

#endif
