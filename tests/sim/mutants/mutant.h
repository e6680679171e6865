/* Seeded bugs of the protocol: each must be found, or the simulator proves nothing. */
#ifndef SIM_MUTANT_H
#define SIM_MUTANT_H

#include "engine/core/core.h"
#include "store/store.h"

struct world;
struct wire;
struct delivery;
struct wire_call;

/* A bug, as small wrappers around the store's operations and the worker's clock. NULL: nothing is changed
 * there. */
struct mutant {
    const char *name;
    const char *what;
    /* The hunt runs only worlds that have these (swarm_fits): the others rarely show the bug, or never. The
     * faults strike as often as they ever do. */
    unsigned traits;
    uint64_t faults;
    int64_t clock_ppm;          /* added to the rate of every worker's clock */
    bool wall_clock;            /* the store judges leases by the caller's clock */
    int weights[CHANNEL_COUNT]; /* what workers are told instead; 0 = nothing else */
    bool unfenced;              /* nobody asks for the fence before a message begins */
    void (*started)(struct world *world, int worker, const struct engine_run *run);
    void (*before_put)(struct world *world, struct messages_put *in);
    void (*after_put)(struct world *world, const struct messages_put *in);
    void (*before_batch)(struct world *world, const struct wire *wire, struct work_batch *batch);
    /* result NULL: the call was refused. */
    void (*after_batch)(struct world *world, struct wire *wire, struct work_batch_result *result,
                        struct arena *arena);
    void (*before_reply)(struct world *world, const struct wire *wire, struct work_batch_result *result);
    void (*after_complete)(struct world *world, struct wire *wire);
    void (*after_fail)(struct world *world, struct wire *wire);
    void (*after_beat)(struct world *world, const struct wire *wire);
    void (*before_deregister)(struct world *world, const struct wire *wire);
    void (*after_deregister)(struct world *world, const struct wire *wire);
    void (*after_redrive)(struct world *world, const struct dead_ref *ref);
    /* A wrong statement or two, run after a call (NULL: after every one); ?1 is the store's clock. tally: the
     * counts of the jobs follow. */
    const char *sql, *sql_too;
    const struct wire_call *sql_after;
    bool tally;
    /* The calls of the other kinds of work. */
    void (*before_enqueue)(struct world *world, struct jobs_enqueue *in);
    void (*before_call)(struct world *world, struct wire *wire);
    void (*after_call)(struct world *world, struct wire *wire, struct delivery *delivery);
    void (*after_wake)(struct world *world, const struct job_wake *in);
    void (*after_cancel)(struct world *world, int64_t id);
    void (*after_job_redrive)(struct world *world, int64_t id);
    void (*before_append)(struct world *world, struct events_append *in);
    void (*before_receive)(struct world *world, struct messages_receive *in);
    void (*after_rebuild)(struct world *world, const char *perspective);
    void (*after_switch)(struct world *world, struct switch_result *out);
};

/* What a bug has to remember between calls. */
struct mutant_memory {
    struct arena *arena;
    struct item item;
    bool has_item, has_holder;
    int worker;
    pawl_uuid holder; /* of a duty */
};

size_t mutant_count(void);
const struct mutant *mutant_at(size_t index);

/* NULL: there is none of that name. */
const struct mutant *mutant_find(const char *name);

/* The places where a bug may act; without a mutant nothing happens. */
int64_t mutant_clock_ppm(const struct world *world);
int64_t mutant_clock_ms(const struct world *world, int worker);
void mutant_weights(const struct world *world, int weights[CHANNEL_COUNT]);
bool mutant_unfenced(const struct world *world);
void mutant_started(struct world *world, int worker, const struct engine_run *run);
void mutant_before_put(struct world *world, struct messages_put *in);
void mutant_after_put(struct world *world, const struct messages_put *in);
void mutant_before_batch(struct world *world, const struct wire *wire, struct work_batch *batch);
void mutant_after_batch(struct world *world, struct wire *wire, struct work_batch_result *result,
                        struct arena *arena);
void mutant_before_reply(struct world *world, const struct wire *wire, struct work_batch_result *result);
void mutant_after_complete(struct world *world, struct wire *wire);
void mutant_after_fail(struct world *world, struct wire *wire);
void mutant_after_beat(struct world *world, const struct wire *wire);
void mutant_before_deregister(struct world *world, const struct wire *wire);
void mutant_after_deregister(struct world *world, const struct wire *wire);
void mutant_after_redrive(struct world *world, const struct dead_ref *ref);
void mutant_before_enqueue(struct world *world, struct jobs_enqueue *in);
void mutant_before_call(struct world *world, struct wire *wire);
void mutant_after_call(struct world *world, struct wire *wire, struct delivery *delivery);
void mutant_after_wake(struct world *world, const struct job_wake *in);
void mutant_after_cancel(struct world *world, int64_t id);
void mutant_after_job_redrive(struct world *world, int64_t id);
void mutant_before_append(struct world *world, struct events_append *in);
void mutant_before_receive(struct world *world, struct messages_receive *in);
void mutant_after_rebuild(struct world *world, const char *perspective);
void mutant_after_switch(struct world *world, struct switch_result *out);
void mutant_forget(struct world *world);

#endif
