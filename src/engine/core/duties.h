/* The scheduler of a worker's duties: which has its turn now, and when to look again. No I/O, no clock, no
 * threads: the caller says what time it is and what became of a turn. */
#ifndef ENGINE_CORE_DUTIES_H
#define ENGINE_CORE_DUTIES_H

#include "work/duty.h"

/* Every limit of the scheduler. */
enum {
    DUTY_BACKOFF_MS = 250, /* after the first failure of a duty; doubled with each one */
    DUTY_BACKOFF_MS_MAX = 10000,
    DUTY_LOOK_MS = 500 /* how often an instance asks for a duty that another one holds */
};

struct duty_state {
    struct duty_rule rule;
    int64_t due_ms;
    int64_t rest_until_ms; /* nothing is to be done before, unless it is woken */
    int failures;          /* in a row */
    bool off;              /* has no turns for now */
    bool running;
    bool again; /* woken while it was running */
    bool begun; /* has had a turn: a leased one is to be left, also when it goes off */
    bool left;
    bool held; /* its lease, under this instance */
    pawl_uuid instance;
    int64_t began_ms, renew_ms;
};

struct duties {
    struct duty_state *items;
    size_t count;
    uint64_t random;
    bool stopping, ending;
};

/* What is to be done: a turn, or the last thing that a leased duty does. */
struct duty_order {
    size_t duty;
    bool take; /* take or renew the lease first; without it, the turn is over */
    bool leave;
    bool lost; /* with leave: the lease is not ours any more; this is answered like a turn */
};

/* What became of a turn. */
struct duty_end {
    bool failed;
    bool held;       /* the lease, when the turn ended */
    int64_t next_ms; /* as in struct duty_turn */
};

/* Adds a duty. False: out of memory. duties_free releases them all. */
PAWL_MUSTCHECK bool duties_add(struct duties *all, const struct duty_rule *rule, int64_t now_ms);
void duties_free(struct duties *all);

/* The next order: of those that are due, the one that has waited longest. False: nothing is to be done before
 * duties_due_ms. A duty with an order is running until duties_ended; an order to leave is not answered,
 * unless its lease is lost. */
PAWL_MUSTCHECK bool duties_next(struct duties *all, pawl_uuid instance, int64_t now_ms,
                                struct duty_order *order);
int64_t duties_due_ms(const struct duties *all); /* INT64_MAX = not before something happens */
void duties_ended(struct duties *all, size_t duty, const struct duty_end *end, int64_t now_ms);

/* There is something to do: due now, or again as soon as the running turn has ended. */
void duties_wake(struct duties *all, size_t duty, int64_t now_ms);
void duties_wake_all(struct duties *all, int64_t now_ms); /* those whose rule says so */
/* Due at_ms at the latest. */
void duties_forward(struct duties *all, size_t duty, int64_t at_ms);
/* Nothing to do until then, unless it is woken. */
void duties_rest(struct duties *all, size_t duty, int64_t until_ms);

/* The worker stops: only duties that go on to the end have turns, the others are left. The end: all of them
 * are. */
void duties_stop(struct duties *all, bool end);

#endif
