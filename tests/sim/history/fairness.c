/* The history checker: no key and no kind of work starves. */
#include "sim/history/fairness.h"

#include <inttypes.h>

/* The core counts whole milliseconds, one more for each run, and a slot needs a moment to begin. */
enum { RUN_ROUNDING_MS = 4 };

static void check_class(struct history *h, const struct history_turns *turns, int class) {
    const struct history_wait *wait = &turns->waits[class];
    int own = 0;
    for (int i = 0; i < HISTORY_KEYS_MAX; i++)
        own += wait->granted[i];
    if (class == HISTORY_NO_KEY)
        own = wait->granted[HISTORY_NO_KEY];
    if (wait->claims > 2 * own + 1)
        history_violated(h, "key_starves", "jobs %s a key wait, and %d of %d claims granted one",
                         class == HISTORY_NO_KEY ? "without" : "with", own, wait->claims);
    for (int i = 0; class != HISTORY_NO_KEY && i < HISTORY_KEYS_MAX; i++) {
        if (i == class || turns->weight[i] == 0)
            continue;
        int most = (wait->granted[class] + 1) * turns->weight[i] / turns->weight[class] + 1;
        if (wait->granted[i] > most)
            history_violated(
                h, "key_starves", "key %d (weight %d) waits and got %d, key %d (weight %d) got %d", class,
                turns->weight[class], wait->granted[class], i, turns->weight[i], wait->granted[i]);
    }
}

void history_turn(struct history *h, struct history_turns *turns, const int granted[HISTORY_CLASSES],
                  const bool could[HISTORY_CLASSES]) {
    for (int class = 0; class < HISTORY_CLASSES; class ++) {
        struct history_wait *wait = &turns->waits[class];
        if (!could[class] || (class != HISTORY_NO_KEY && turns->weight[class] == 0)) {
            *wait = (struct history_wait){0};
            continue;
        }
        wait->claims++;
        for (int i = 0; i < HISTORY_CLASSES; i++)
            wait->granted[i] += granted[i];
        check_class(h, turns, class);
    }
}

/* Counts how long each side used the slots while both had something to do. */
static void advance(struct history_share *s, int64_t now_ms) {
    if (s->h == NULL)
        return;
    for (int side = 0; side < HISTORY_SIDES; side++)
        s->used_ms[side] += s->busy[side] * (now_ms - s->at_ms);
    s->at_ms = now_ms;
    if (s->waiting[SIDE_MESSAGES] == 0 || s->waiting[SIDE_JOBS] == 0) {
        s->used_ms[SIDE_MESSAGES] = s->used_ms[SIDE_JOBS] = 0;
        s->runs = 0;
        return;
    }
    int64_t ahead_ms = s->used_ms[SIDE_MESSAGES] / s->weight[SIDE_MESSAGES] -
                       s->used_ms[SIDE_JOBS] / s->weight[SIDE_JOBS];
    int64_t most_ms = s->bound_ms + (int64_t)s->runs * RUN_ROUNDING_MS;
    if (ahead_ms > most_ms || -ahead_ms > most_ms)
        history_violated(s->h, "kind_starves",
                         "both wait; messages (weight %d) had %" PRId64
                         " ms of the slots, jobs (weight %d) %" PRId64 " ms",
                         s->weight[SIDE_MESSAGES], s->used_ms[SIDE_MESSAGES], s->weight[SIDE_JOBS],
                         s->used_ms[SIDE_JOBS]);
}

void history_share_added(struct history_share *s, enum history_side side, int count, int64_t now_ms) {
    advance(s, now_ms);
    s->waiting[side] += count;
}

void history_share_began(struct history_share *s, enum history_side side, int64_t now_ms) {
    advance(s, now_ms);
    s->waiting[side]--;
    s->busy[side]++;
    s->runs++;
}

void history_share_ended(struct history_share *s, enum history_side side, int64_t now_ms) {
    advance(s, now_ms);
    s->busy[side]--;
}
