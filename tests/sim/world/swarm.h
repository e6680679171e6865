/* The dice of one run: what kind of world it is and which faults it has, all drawn from the seed. */
#ifndef SIM_SWARM_H
#define SIM_SWARM_H

#include "engine/core/core.h"
#include "sim/kinds/kinds.h"
#include "sim/world/rng.h"

/* Everything that can go wrong, and some that is just life; each is counted when it really happens. */
enum fault {
    FAULT_KILL,       /* a worker dies at once */
    FAULT_KILL_STORM, /* all of them */
    FAULT_PAUSE,      /* a worker is stopped past its lease and goes on */
    FAULT_LOST,       /* a request never arrives */
    FAULT_UNKNOWN,    /* a reply is lost after the store did it */
    FAULT_DELAYED,    /* a reply comes after the lease */
    FAULT_GHOST,      /* a request that was given up is carried out much later */
    FAULT_GHOST_DEAD, /* the same, of a worker that is dead by then */
    FAULT_DUPLICATE,  /* a request arrives twice */
    FAULT_DOWN,       /* the store is away for a while */
    FAULT_CLOCK,      /* a worker's clock runs at another rate and from another start */
    FAULT_SLOW,       /* a handler takes longer than usual */
    FAULT_HANG,       /* a handler takes longer than its lease */
    FAULT_DEAF,       /* a handler does not listen to being cancelled */
    FAULT_FAIL,       /* a handler fails, another try may help */
    FAULT_PERMANENT,  /* a handler fails for good */
    FAULT_POISON,     /* a message kills its worker */
    FAULT_JOIN,       /* a worker joins */
    FAULT_LEAVE,      /* a worker drains and leaves */
    FAULT_LEAVE_NOW,  /* a worker is told twice to leave */
    FAULT_BURST,      /* many messages at once on one stream */
    FAULT_REDRIVE,    /* an operator redrives a dead letter */
    FAULT_DISCARD,    /* an operator throws one away */
    FAULT_EVICT,      /* an operator evicts a worker that lives */
    FAULT_EPOCH,      /* the epoch of the tokens is raised */
    FAULT_MAINTAIN,   /* housekeeping */
    FAULT_NO_HANDLER, /* a worker has no handler for some messages */
    FAULT_DEAF_WAKE,  /* a wake-up is lost */
    FAULT_UNSTARTED,  /* a worker dies between a claim and the start of what it got */
    FAULT_LATE_DUTY,  /* the holder of a duty is stopped, and comes back with what it had */
    FAULT_REBUILD,    /* a model is built again from the first event */
    FAULT_SWITCH,     /* a new version of a perspective takes over */
    FAULT_FAILOVER,   /* the store goes back to an earlier commit, and its epoch is raised */
    FAULT_CANCEL,     /* an operator cancels a job */
    FAULT_COUNT
};

extern const char *const fault_names[FAULT_COUNT];

enum { SWARM_WORKERS_MAX = 6, SWARM_HANDLERS_MAX = 3, SWARM_JOB_HANDLERS = 2 };

struct swarm {
    int workers, lanes, partitions, streams, messages, max_attempts, slots, batch;
    int kinds[4], kind_count;
    int put_kinds; /* of these, the first ones are put by producers */
    enum dead_policy policy;
    enum engine_strategy_type strategy;
    struct engine_handler handlers[SWARM_HANDLERS_MAX];
    int handler_count;
    int64_t lease_ms, instance_lease_ms, heartbeat_ms, poll_ms, quiet_poll_ms, drain_ms;
    int64_t latency_ms, handler_ms, fault_ms;
    int weights[CHANNEL_COUNT];
    bool wakes;
    bool beside;             /* claims may go beside batches */
    bool calm;               /* nothing that could cost a living worker its lease */
    bool only_poison;        /* no other reason for a worker to die */
    int chance[FAULT_COUNT]; /* of 10,000, per occasion */
    int drift_ppm_max;
    struct swarm_kinds kinds_on;
};

static inline bool swarm_has_jobs(const struct swarm *swarm) {
    return swarm->kinds_on.jobs + swarm->kinds_on.schedules + swarm->kinds_on.runs > 0;
}

void swarm_draw(struct swarm *swarm, struct rng *rng);

/* What a world can be asked to have. */
enum swarm_trait {
    HAS_MESSAGES = 1 << 0,
    HAS_JOBS = 1 << 1, /* that a producer enqueues */
    HAS_KEYS = 1 << 2,
    HAS_SCHEDULES = 1 << 3,
    HAS_RUNS = 1 << 4,
    HAS_EVENTS = 1 << 5,
    HAS_RECEPTORS = 1 << 6,
    HAS_SUBSCRIPTION = 1 << 7,
    HAS_PEERS = 1 << 8,    /* at least two workers */
    HAS_ONE_KIND = 1 << 9, /* it is smaller, so it runs faster */
    HAS_CALM = 1 << 10,
    HAS_BUNDLES = 1 << 11,
    HAS_FLOOD = 1 << 12
};
enum { SWARM_KINDS = 8 }; /* the first traits are kinds of work */
extern const char *const swarm_kind_names[SWARM_KINDS];
#define FAULT_BIT(fault) (UINT64_C(1) << (fault))

unsigned swarm_traits(const struct swarm *swarm);
/* Whether it has all these traits, and a chance of each of these faults (FAULT_BIT). */
bool swarm_fits(const struct swarm *swarm, unsigned traits, uint64_t faults);
/* Those of these faults that it has strike as often as in any world. */
void swarm_raise(struct swarm *swarm, uint64_t faults);

#endif
