/* The history checker's records of who gets a turn: keys among each other, jobs with and without a key, and
 * messages beside jobs. */
#ifndef SIM_HISTORY_FAIRNESS_H
#define SIM_HISTORY_FAIRNESS_H

#include "sim/history/history.h"

enum {
    HISTORY_KEYS_MAX = 8,
    HISTORY_NO_KEY = HISTORY_KEYS_MAX, /* jobs without a key are one class beside the keys */
    HISTORY_CLASSES = HISTORY_KEYS_MAX + 1
};

/* Claims since a class has had something that could be granted, after each of them. */
struct history_wait {
    int claims;
    int granted[HISTORY_CLASSES];
};

struct history_turns {
    int weight[HISTORY_KEYS_MAX]; /* 0 = not compared with the others */
    struct history_wait waits[HISTORY_CLASSES];
};

/* A claim granted so many of each class; could: after it, the class has a ready job that no limit holds back.
 *
 * Why the bounds hold (docs/jobs.md, Turn and Keyed). Keyed jobs go first in every other claim that finds
 * one, and jobs without a key in the others, so at least every second claim grants one of a class that waits:
 * claims <= 2 * granted + 1. Among the keys, a grant of weight w costs 1/w, and those that cost least so far
 * are granted. A key that waits is at most one of its own grants ahead of the cheapest, so another key gets
 * no more grants than cost the same, and the one that begins level with it. */
void history_turn(struct history *h, struct history_turns *turns, const int granted[HISTORY_CLASSES],
                  const bool could[HISTORY_CLASSES]);

enum history_side { SIDE_MESSAGES, SIDE_JOBS, HISTORY_SIDES };

/* How messages and jobs share the slots of one worker. */
struct history_share {
    struct history *h;          /* NULL: nothing is compared */
    int weight[HISTORY_SIDES];  /* as the worker was told */
    int64_t bound_ms;           /* what one side may be ahead, by weight */
    int waiting[HISTORY_SIDES]; /* items that have not begun */
    int busy[HISTORY_SIDES];    /* handlers that run */
    int64_t used_ms[HISTORY_SIDES], at_ms;
    int runs;
};

void history_share_added(struct history_share *s, enum history_side side, int count, int64_t now_ms);
void history_share_began(struct history_share *s, enum history_side side, int64_t now_ms);
void history_share_ended(struct history_share *s, enum history_side side, int64_t now_ms);

#endif
