/* The sweep: every call of a store is made again and again while its first, second, third … point fails,
 * until it gets through. What failed must have left nothing behind; what is unknown must have happened whole
 * or not at all. */
#ifndef SWEEP_SWEEP_H
#define SWEEP_SWEEP_H

#include "store/store.h"

/* A way in which the world fails at its nth point: an allocation, a call of the file system, a message on the
 * wire. */
struct sweep_way {
    const char *name;
    int side;            /* which one of the two stores is swept */
    bool kills;          /* the process dies there: the call is made in a child */
    bool (*begin)(void); /* once; may be NULL */
    /* Changes where the store is found; may be NULL. */
    bool (*found)(struct store_config *config);
    void (*arm)(long nth);
    bool (*disarm)(void); /* whether it has failed */
    unsigned statuses;    /* bits of the statuses that a failure may have */
};

extern const struct sweep_way sweep_ways_memory[], sweep_ways_files[],
    sweep_ways_wire[]; /* end with a NULL name */

/* One call that is being swept; for SWEPT. */
struct sweep_call {
    int operation;
    bool keyed;
    bool ended; /* the child in which the call was made came to its end */
    enum { SWEEP_TRY, SWEEP_ASK_AGAIN, SWEEP_LAST } phase;
    long nth;
    int64_t began_ms;
    int tries;
    pawl_status
        claimed; /* what a try with a failure said that only the clean call can confirm; PAWL_OK: nothing */
    char claimed_text[200];
    size_t said;    /* how much the test had said before the call */
    char *happened; /* the state after an unknown outcome that had happened */
};

enum sweep_place { SWEEP_HERE, SWEEP_CHILD, SWEEP_PARENT };

/* Every other call that has no request key is given one. */
void sweep_give_key(pawl_uuid *request);
struct store *sweep_real(struct store *store);
void sweep_begin(struct sweep_call *call, int operation, bool keyed);
enum sweep_place sweep_split(struct sweep_call *call);
_Noreturn void sweep_exit(struct sweep_call *call, pawl_status status);
/* Whether the call is to be made again. */
bool sweep_again(struct sweep_call *call, pawl_status status, const pawl_error *err);

#define SWEPT(store, operation, keyed, made)                                                                 \
    struct sweep_call call;                                                                                  \
    pawl_status status = PAWL_OK;                                                                            \
    sweep_begin(&call, operation, keyed);                                                                    \
    do {                                                                                                     \
        switch (sweep_split(&call)) {                                                                        \
        case SWEEP_CHILD:                                                                                    \
            sweep_exit(&call, made);                                                                         \
        case SWEEP_PARENT:                                                                                   \
            status = PAWL_UNKNOWN;                                                                           \
            break;                                                                                           \
        case SWEEP_HERE:                                                                                     \
            status = made;                                                                                   \
        }                                                                                                    \
    } while (sweep_again(&call, status, err));                                                               \
    return status

#endif
