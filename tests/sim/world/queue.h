/* What happens next: a binary heap of (virtual time, sequence). */
#ifndef SIM_QUEUE_H
#define SIM_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "store/types.h"

enum happening {
    HAPPENS_TIMER,   /* worker: its core asked to be woken; number = which asking */
    HAPPENS_EXECUTE, /* wire: the store carries out a request */
    HAPPENS_REPLY,   /* wire: the answer arrives */
    HAPPENS_SLOT,    /* worker: a handler goes on; number = which run */
    HAPPENS_WAKE,    /* worker: is told that work arrived */
    HAPPENS_START,   /* worker: a new incarnation */
    HAPPENS_PRODUCE,
    HAPPENS_FAULT,
    HAPPENS_OPERATE,
    HAPPENS_CHECK,
    HAPPENS_HEAL,
    HAPPENS_DRAINED,
    HAPPENS_THEN /* what a kind of work asked for; worker -1 = of nobody */
};

struct wire;
struct world;

struct occasion {
    int64_t at_ms;
    uint64_t sequence;
    enum happening what;
    int worker;
    uint64_t number;
    struct lane_name place; /* wake */
    struct wire *wire;
    void (*then)(struct world *world, const struct occasion *occasion);
    uint64_t life; /* of the worker for which it happens */
};

/* Zero it before first use; queue_free at the end. */
struct queue {
    struct occasion *items;
    size_t count, capacity;
    uint64_t sequence;
};

void queue_push(struct queue *queue, struct occasion occasion);
/* The earliest; the queue must not be empty. */
struct occasion queue_pop(struct queue *queue);
void queue_free(struct queue *queue);

#endif
