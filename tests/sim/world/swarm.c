/* The dice of one run: what kind of world it is and which faults it has, all drawn from the seed. */
#include "sim/world/swarm.h"

#include <string.h>

const char *const fault_names[FAULT_COUNT] = {
    [FAULT_KILL] = "kill",
    [FAULT_KILL_STORM] = "kill_storm",
    [FAULT_PAUSE] = "pause",
    [FAULT_LOST] = "request_lost",
    [FAULT_UNKNOWN] = "reply_lost",
    [FAULT_DELAYED] = "reply_delayed",
    [FAULT_GHOST] = "ghost",
    [FAULT_GHOST_DEAD] = "ghost_of_dead",
    [FAULT_DUPLICATE] = "duplicate",
    [FAULT_DOWN] = "store_down",
    [FAULT_CLOCK] = "clock",
    [FAULT_SLOW] = "slow_handler",
    [FAULT_HANG] = "hung_handler",
    [FAULT_DEAF] = "deaf_handler",
    [FAULT_FAIL] = "handler_failure",
    [FAULT_PERMANENT] = "permanent_failure",
    [FAULT_POISON] = "poison_death",
    [FAULT_JOIN] = "join",
    [FAULT_LEAVE] = "leave",
    [FAULT_LEAVE_NOW] = "leave_now",
    [FAULT_BURST] = "burst",
    [FAULT_REDRIVE] = "redrive",
    [FAULT_DISCARD] = "discard",
    [FAULT_EVICT] = "evicted_alive",
    [FAULT_EPOCH] = "epoch_raised",
    [FAULT_MAINTAIN] = "maintain",
    [FAULT_NO_HANDLER] = "no_handler",
    [FAULT_DEAF_WAKE] = "wake_lost",
    [FAULT_UNSTARTED] = "died_before_start",
    [FAULT_LATE_DUTY] = "late_duty",
    [FAULT_REBUILD] = "rebuild",
    [FAULT_SWITCH] = "switch",
    [FAULT_FAILOVER] = "failover",
    [FAULT_CANCEL] = "cancel",
};

const char *const swarm_kind_names[SWARM_KINDS] = {"messages", "jobs",         "keys",      "schedules",
                                                   "runs",     "perspectives", "receptors", "subscriptions"};

enum { LANES_MAX = 8, FLOODS = 200 /* of 10,000 runs */ };

/* How often each fault is tried for when a run has it: of 10,000, per request, message or look round. */
static const struct {
    enum fault fault;
    int have; /* of 10,000 runs have it */
    int low, high;
} fault_rows[] = {
    {FAULT_KILL, 5000, 50, 600},         {FAULT_KILL_STORM, 1000, 20, 100},
    {FAULT_PAUSE, 4000, 50, 500},        {FAULT_LOST, 4000, 50, 1500},
    {FAULT_UNKNOWN, 5000, 50, 1500},     {FAULT_DELAYED, 3000, 20, 500},
    {FAULT_GHOST, 4000, 50, 1000},       {FAULT_GHOST_DEAD, 6000, 2000, 8000},
    {FAULT_DUPLICATE, 4000, 50, 2000},   {FAULT_DOWN, 2500, 20, 200},
    {FAULT_CLOCK, 6000, 3000, 10000},    {FAULT_SLOW, 4000, 100, 2000},
    {FAULT_HANG, 2500, 50, 600},         {FAULT_DEAF, 5000, 1000, 10000},
    {FAULT_FAIL, 6000, 200, 4000},       {FAULT_PERMANENT, 3000, 50, 800},
    {FAULT_POISON, 2500, 50, 500},       {FAULT_LEAVE, 4000, 50, 800},
    {FAULT_LEAVE_NOW, 2000, 20, 300},    {FAULT_BURST, 4000, 500, 4000},
    {FAULT_REDRIVE, 5000, 500, 5000},    {FAULT_DISCARD, 2000, 100, 1500},
    {FAULT_EVICT, 1500, 20, 200},        {FAULT_EPOCH, 1000, 20, 100},
    {FAULT_MAINTAIN, 5000, 100, 1000},   {FAULT_NO_HANDLER, 1500, 500, 3000},
    {FAULT_DEAF_WAKE, 3000, 500, 10000}, {FAULT_UNSTARTED, 2000, 50, 500},
    {FAULT_CANCEL, 4000, 500, 5000},     {FAULT_LATE_DUTY, 4000, 500, 5000},
    {FAULT_REBUILD, 4000, 300, 2000},    {FAULT_FAILOVER, 10000, 500, 3000},
    {FAULT_SWITCH, 5000, 1000, 5000},
};

static void draw_faults(struct swarm *swarm, struct rng *rng) {
    for (size_t i = 0; i < sizeof(fault_rows) / sizeof(*fault_rows); i++) {
        bool has = rng_chance(rng, fault_rows[i].have);
        int chance = (int)rng_range(rng, fault_rows[i].low, fault_rows[i].high);
        swarm->chance[fault_rows[i].fault] = has ? chance : 0;
    }
    swarm->calm = rng_chance(rng, 2000);
    swarm->only_poison = !swarm->calm && rng_chance(rng, 1200);
    if (!swarm->calm && !swarm->only_poison)
        return;
    /* A living, reachable worker keeps what it was given: whatever threatens that is off. */
    static const enum fault off[] = {FAULT_KILL,       FAULT_KILL_STORM, FAULT_PAUSE, FAULT_DELAYED,
                                     FAULT_DOWN,       FAULT_HANG,       FAULT_EVICT, FAULT_SLOW,
                                     FAULT_NO_HANDLER, FAULT_UNSTARTED};
    for (size_t i = 0; i < sizeof(off) / sizeof(*off); i++)
        swarm->chance[off[i]] = 0;
    if (swarm->calm) {
        swarm->chance[FAULT_POISON] = 0;
        return;
    }
    /* A message that kills its worker, and nothing else that could look like it. */
    static const enum fault quiet[] = {FAULT_LOST,  FAULT_UNKNOWN, FAULT_GHOST,     FAULT_DUPLICATE,
                                       FAULT_LEAVE, FAULT_REDRIVE, FAULT_LEAVE_NOW, FAULT_GHOST_DEAD};
    for (size_t i = 0; i < sizeof(quiet) / sizeof(*quiet); i++)
        swarm->chance[quiet[i]] = 0;
    swarm->chance[FAULT_POISON] = 300;
}

static void draw_handlers(struct swarm *swarm, struct rng *rng) {
    swarm->handler_count = (int)rng_range(rng, 1, SWARM_HANDLERS_MAX);
    for (int i = 0; i < swarm->handler_count; i++) {
        struct engine_handler *handler = &swarm->handlers[i];
        *handler = (struct engine_handler){
            .bundled = rng_chance(rng, 5000),
            .concurrency = rng_chance(rng, 3000) ? (int)rng_range(rng, 1, 2) : 0,
            .timeout_ms = rng_chance(rng, 3000) ? swarm->lease_ms * rng_range(rng, 1, 4) / 2 : 0,
            .retry_base_ms = rng_range(rng, 1, 200),
            .retry_max_ms = 1000,
        };
    }
}

static void add_kind(struct swarm *swarm, enum store_kind kind) {
    for (int i = 0; i < swarm->kind_count; i++) {
        if (swarm->kinds[i] == (int)kind)
            return;
    }
    swarm->kinds[swarm->kind_count++] = (int)kind;
}

static void draw_jobs(struct swarm_kinds *on, struct rng *rng) {
    on->runs = rng_chance(rng, 4000) ? (int)rng_range(rng, 1, KINDS_RUNS_MAX) : 0;
    on->schedules = rng_chance(rng, 4000) ? (int)rng_range(rng, 1, KINDS_SCHEDULES_MAX) : 0;
    bool only = on->runs + on->schedules > 0 && rng_chance(rng, 5000);
    on->jobs = !only ? (int)rng_range(rng, 4, 50) : 0;
    on->keys = rng_chance(rng, 6000) ? (int)rng_range(rng, 1, 4) : 0;
    for (int i = 0; i < on->keys; i++) {
        on->key_limit[i] = rng_chance(rng, 4000) ? (int)rng_range(rng, 1, 2) : 0;
        on->key_weight[i] = (int)rng_range(rng, 1, 2);
        on->key_rated[i] = rng_chance(rng, 1500);
    }
}

/* Which kinds of work there are: some worlds have one, others several. */
static void draw_kinds(struct swarm *swarm, struct rng *rng) {
    struct swarm_kinds *on = &swarm->kinds_on;
    bool alone = rng_chance(rng, 5000);
    int which = (int)rng_range(rng, 0, 2);
    bool messages = alone ? which == 0 : rng_chance(rng, 5000);
    bool jobs = alone ? which == 1 : rng_chance(rng, 6000);
    on->events = alone ? which == 2 : rng_chance(rng, 5000);
    if (jobs)
        draw_jobs(on, rng);
    if (!jobs && !on->events)
        messages = true;
    on->failover = alone && jobs && on->schedules > 0 && on->runs + on->jobs == 0;
    if (messages) {
        add_kind(swarm, rng_chance(rng, 6000) ? KIND_OUTBOX : KIND_INBOX);
        if (rng_chance(rng, 4000))
            add_kind(swarm, rng_chance(rng, 5000) || on->events ? KIND_INBOX : KIND_PERSPECTIVE);
    }
    if (on->events) {
        add_kind(swarm, KIND_PERSPECTIVE);
        on->skip_events = rng_chance(rng, 5000);
        on->bad_events = rng_chance(rng, 5000);
        on->receptors = rng_chance(rng, 6000);
    }
    swarm->put_kinds = swarm->kind_count;
    on->received = messages && rng_chance(rng, 3000) ? (int)rng_range(rng, 2, KINDS_RECEIVED_MAX) : 0;
    if (on->receptors || on->received > 0)
        add_kind(swarm, KIND_INBOX);
    swarm->messages = messages || on->events ? (int)rng_range(rng, 5, 50) : 0;
}

/* However many workers there are, together they poll this often: what polls that find nothing cost is most of
 * what a world costs. */
static int64_t fleet_poll_ms(const struct swarm *swarm, struct rng *rng) {
    return swarm->workers * rng_range(rng, 30, 150);
}

static void draw_times(struct swarm *swarm, struct rng *rng) {
    swarm->lease_ms = rng_range(rng, 300, 3000);
    swarm->instance_lease_ms = rng_range(rng, 300, 2000);
    swarm->heartbeat_ms = swarm->instance_lease_ms / 3 > 50 ? swarm->instance_lease_ms / 3 : 50;
    swarm->poll_ms = fleet_poll_ms(swarm, rng);
    swarm->quiet_poll_ms = rng_chance(rng, 5000) ? rng_range(rng, 500, 3000) : 0;
    swarm->wakes = rng_chance(rng, 5000);
    swarm->beside = rng_chance(rng, 5000);
    swarm->drain_ms = rng_range(rng, 0, 2000);
    swarm->latency_ms = rng_chance(rng, 7000) ? rng_range(rng, 0, 5) : rng_range(rng, 5, 40);
    swarm->handler_ms = rng_chance(rng, 7000) ? rng_range(rng, 0, 4) : rng_range(rng, 4, 60);
    swarm->fault_ms = rng_range(rng, 1000, 12000);
}

/* One worker, one handler for everything, and both kinds of work at once: how it shares its slots can be
 * measured. */
static void draw_flood(struct swarm *swarm, struct rng *rng) {
    memset(swarm->chance, 0, sizeof(swarm->chance));
    swarm->chance[FAULT_BURST] = 10000;
    swarm->calm = true;
    swarm->only_poison = false;
    swarm->workers = 1;
    swarm->slots = (int)rng_range(rng, 1, 3);
    /* So many lanes that there are always messages in hand: one that is claimed from rests for a while. */
    swarm->lanes = swarm->partitions = LANES_MAX;
    swarm->batch = 40;
    swarm->kinds_on = (struct swarm_kinds){.flood = true, .jobs = 60};
    swarm->messages = 60;
    swarm->kinds[0] = KIND_OUTBOX;
    swarm->kind_count = swarm->put_kinds = 1;
    swarm->handler_count = 1;
    swarm->handlers[0] = (struct engine_handler){0};
    swarm->fault_ms = 1000;
    swarm->lease_ms = rng_range(rng, 2500, 5000);
    swarm->instance_lease_ms = rng_range(rng, 2000, 3000);
    swarm->heartbeat_ms = 300;
    swarm->poll_ms = rng_range(rng, 30, 200);
    swarm->quiet_poll_ms = 0;
    swarm->handler_ms = 200;
    swarm->latency_ms = rng_range(rng, 0, 10);
}

void swarm_draw(struct swarm *swarm, struct rng *rng) {
    memset(swarm, 0, sizeof(*swarm));
    swarm->workers = (int)rng_range(rng, 1, SWARM_WORKERS_MAX);
    swarm->lanes = (int)rng_range(rng, 1, LANES_MAX);
    swarm->partitions = swarm->lanes * (int)rng_range(rng, 1, 4);
    swarm->streams = (int)rng_range(rng, 1, 8);
    swarm->max_attempts = (int)rng_range(rng, 2, 5);
    swarm->slots = (int)rng_range(rng, 1, 4);
    swarm->batch = (int)rng_range(rng, 1, 40);
    swarm->policy = rng_chance(rng, 5000) ? POLICY_SKIP : rng_chance(rng, 5000) ? POLICY_BLOCK : POLICY_PARK;
    swarm->strategy = rng_chance(rng, 5000)   ? STRATEGY_BATCHED
                      : rng_chance(rng, 6000) ? STRATEGY_INSTANT
                                              : STRATEGY_CUSTOM;
    swarm->drift_ppm_max = 20000;
    draw_kinds(swarm, rng);
    draw_times(swarm, rng);
    draw_handlers(swarm, rng);
    draw_faults(swarm, rng);
    for (int i = 0; i < CHANNEL_COUNT; i++)
        swarm->weights[i] = (int)rng_range(rng, 1, 3);
    if (rng_chance(rng, FLOODS)) {
        draw_flood(swarm, rng);
        return;
    }
    if (swarm->calm || swarm->only_poison) {
        /* Long leases beside short waits, and handlers that need no renewal limit. */
        swarm->lease_ms = rng_range(rng, 2500, 5000);
        swarm->instance_lease_ms = rng_range(rng, 2000, 3000);
        swarm->heartbeat_ms = 300;
        swarm->poll_ms = fleet_poll_ms(swarm, rng);
        swarm->handler_ms = rng_range(rng, 0, 20);
        swarm->latency_ms = rng_range(rng, 0, 10);
        for (int i = 0; i < swarm->handler_count; i++)
            swarm->handlers[i].timeout_ms = 0;
    }
}

unsigned swarm_traits(const struct swarm *swarm) {
    const struct swarm_kinds *on = &swarm->kinds_on;
    bool messages = swarm->put_kinds > (on->events ? 1 : 0), jobs = swarm_has_jobs(swarm);
    bool has[] = {messages,           on->jobs > 0,
                  on->keys > 1,       on->schedules > 0,
                  on->runs > 0,       on->events,
                  on->receptors,      on->received > 0,
                  swarm->workers > 1, messages + jobs + on->events == 1,
                  swarm->calm,        swarm->handlers[0].bundled,
                  on->flood};
    unsigned traits = 0;
    for (size_t i = 0; i < sizeof(has) / sizeof(*has); i++)
        traits |= has[i] ? 1u << i : 0;
    return traits;
}

bool swarm_fits(const struct swarm *swarm, unsigned traits, uint64_t faults) {
    for (int i = 0; i < FAULT_COUNT; i++) {
        if ((faults & FAULT_BIT(i)) != 0 && swarm->chance[i] == 0)
            return false;
    }
    return (traits & ~swarm_traits(swarm)) == 0;
}

void swarm_raise(struct swarm *swarm, uint64_t faults) {
    for (size_t i = 0; i < sizeof(fault_rows) / sizeof(*fault_rows); i++) {
        enum fault fault = fault_rows[i].fault;
        if ((faults & FAULT_BIT(fault)) != 0 && swarm->chance[fault] > 0)
            swarm->chance[fault] = fault_rows[i].high;
    }
}
