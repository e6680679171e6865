/* A duty: something that a worker does now and then besides its messages and jobs, such as reading a
 * subscription or evaluating alert rules. When each has its turn is decided in src/engine/core/duties.h. */
#ifndef WORK_DUTY_H
#define WORK_DUTY_H

#include "base/limits.h"
#include "base/stop.h"
#include "store/store.h"

enum { DUTY_LEASE_MS = 15000 }; /* how long a dead holder keeps others from a leased duty, at most */

/* When a duty has its turns. */
struct duty_rule {
    char name[PAWL_TOPIC_BYTES_MAX + 1]; /* also of its lease */
    int64_t first_ms;                    /* from the start to the first turn */
    int64_t period_ms;                   /* from the end of a turn to the next */
    int64_t jitter_ms;                   /* up to this much is added to each of these */
    int64_t lease_ms;                    /* leased: one instance in the fleet has it at a time; 0 = all do */
    bool anytime;                        /* even while the worker is not registered */
    bool woken;                          /* due at once when the store wakes the worker */
    bool unhurried;                      /* after a failure, too, it waits for its period */
    bool brief;                          /* a few short calls of the store: no thread of its own is needed */
    bool to_the_end;                     /* goes on while a stopping worker finishes its work */
};

struct duty_turn {
    struct store *store;   /* of the thread, until the end of the turn */
    pawl_uuid instance;    /* nil: the worker is not registered */
    int64_t token;         /* of the lease; 0 = none */
    const stop_flag *stop; /* set when the worker cannot wait for the end of the turn any more */
    /* out */
    int64_t next_ms;  /* until the next turn; -1 = the period */
    bool lengthy;     /* a brief one: the next turn is not */
    bool lease_ended; /* the store does not accept the token any more */
    bool elsewhere;   /* the failure is not the store's, but a broker's */
};

struct duty {
    struct duty_rule rule;
    /* One turn, on any thread, never two at a time. A failure is followed by longer and longer waits, unless
     * it is unhurried. */
    pawl_status (*run)(void *self, struct duty_turn *turn, pawl_error *err);
    /* A leased one: it has no turns for now. The turn has no token if the lease is not held any more, else it
     * is given back afterwards: the worker stops. NULL = nothing to do. */
    void (*leave)(void *self, struct duty_turn *turn);
    void *self;
};

#endif
