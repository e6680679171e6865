/* The rules of pooled work that are pure arithmetic. */
#include "domain/jobrule.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/str.h"

enum { SHARE_UNIT = 1000000 };

int64_t jobrule_order(int64_t due_ms, int priority) {
    return due_ms == JOBRULE_NEVER ? due_ms : due_ms - (int64_t)priority * PAWL_JOB_AGING_MS;
}

static int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t pause_us(const struct jobrule_limit *limit) {
    return max64(1, limit->rate_ms * 1000 / (limit->rate > 0 ? limit->rate : 1));
}

int jobrule_room(const struct jobrule_key *key, int64_t now_ms, int most) {
    int64_t room = most;
    if (key->limit.concurrency > 0 && key->limit.concurrency - key->running < room)
        room = key->limit.concurrency - key->running;
    if (key->limit.rate > 0) {
        int64_t pause = pause_us(&key->limit);
        int64_t ahead = max64(key->tat_us, now_ms * 1000) - now_ms * 1000;
        int64_t allowed = key->limit.rate - (ahead + pause - 1) / pause;
        room = allowed < room ? allowed : room;
    }
    return room > 0 ? (int)room : 0;
}

int64_t jobrule_rate_until_ms(const struct jobrule_key *key, int64_t now_ms) {
    int64_t tat = max64(key->tat_us, now_ms * 1000);
    return (tat - (int64_t)(key->limit.rate - 1) * pause_us(&key->limit) + 999) / 1000;
}

int64_t jobrule_hold_us(const struct jobrule_limit *limit, int64_t until_ms) {
    return until_ms * 1000 + (int64_t)(limit->rate - 1) * pause_us(limit);
}

static int by_start(const void *a, const void *b) {
    const struct jobrule_key *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return str_compare(x->key, y->key);
}

static int64_t tag_of(const struct jobrule_key *key) {
    return key->start + (int64_t)key->granted * (SHARE_UNIT / key->limit.weight);
}

/* The key whose next offer comes first; NULL when there is none left. */
static struct jobrule_key *next_offer(struct jobrule_key *keys, size_t count) {
    struct jobrule_key *best = NULL;
    for (size_t i = 0; i < count; i++) {
        if (keys[i].granted >= keys[i].offered)
            continue;
        if (best == NULL || tag_of(&keys[i]) < tag_of(best) ||
            (tag_of(&keys[i]) == tag_of(best) && str_compare(keys[i].key, best->key) < 0))
            best = &keys[i];
    }
    return best;
}

int jobrule_share(struct jobrule_key *keys, size_t count, int max, int64_t now_ms, int64_t *vtime) {
    size_t chosen = 0;
    for (size_t i = 0; i < count; i++) {
        keys[i].granted = 0;
        keys[i].start = max64(keys[i].vtime, *vtime);
        keys[i].offered = keys[i].ready > 0 ? jobrule_room(&keys[i], now_ms, max) : 0;
        if (keys[i].offered > 0) {
            struct jobrule_key open = keys[i];
            keys[i] = keys[chosen];
            keys[chosen++] = open;
        }
    }
    if (chosen == 0)
        return 0;
    qsort(keys, chosen, sizeof *keys, by_start);
    chosen = chosen < (size_t)max ? chosen : (size_t)max;
    int most = (2 * max + (int)chosen - 1) / (int)chosen;
    for (size_t i = 0; i < chosen; i++) {
        int offered = keys[i].offered < most ? keys[i].offered : most;
        keys[i].offered = offered < keys[i].ready ? offered : keys[i].ready;
    }
    int granted = 0;
    int64_t highest = *vtime;
    for (struct jobrule_key *key; granted < max && (key = next_offer(keys, chosen)) != NULL; granted++) {
        highest = max64(highest, tag_of(key));
        key->granted++;
    }
    for (size_t i = 0; i < chosen; i++) {
        if (keys[i].granted == 0)
            continue;
        keys[i].vtime = tag_of(&keys[i]);
        keys[i].running += keys[i].granted;
        keys[i].tat_us = keys[i].limit.rate > 0 ? max64(keys[i].tat_us, now_ms * 1000) +
                                                      keys[i].granted * pause_us(&keys[i].limit)
                                                : 0;
    }
    *vtime = highest;
    return granted;
}

pawl_str jobrule_prefix(pawl_str key) {
    pawl_str rest, before = str_before(key, ':', &rest);
    return str_absent(rest) ? (pawl_str){NULL, 0} : (pawl_str){before.ptr, before.len + 1};
}
