/* One simulated world: virtual time, a real store, workers that run the real core, and what befalls
 * them. */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "engine/core/core.h"
#include "sim/history/history.h"
#include "sim/kinds/kinds.h"
#include "sim/mutants/mutant.h"
#include "sim/world/ground.h"
#include "sim/world/queue.h"
#include "sim/world/swarm.h"
#include "store/store.h"

/* The store's clock when virtual time is 0. */
#define SIM_EPOCH_MS INT64_C(1700000000000)

enum nature {
    NATURE_NORMAL,
    NATURE_FLAKY,
    NATURE_FAILING,
    NATURE_PERMANENT,
    NATURE_POISON,
    NATURE_SLOW,
    NATURE_HANG
};

enum role {
    ROLE_PLAIN,
    ROLE_WAKE,     /* it says that a stream has new events */
    ROLE_RECEPTOR, /* it carries the event of the message before it to a receptor */
    ROLE_SEVERAL   /* it has several handlers; each is done once, and noted */
};

/* What the world knows of a message; the checker has a record of its own under the same number. */
struct sim_message {
    pawl_uuid id;
    enum store_kind kind;
    int stream; /* -1 = none */
    int handler;
    enum nature nature;
    int fails_left;
    enum role role;
    int parts;        /* handlers */
    unsigned effects; /* bits of those that did their work */
    int event_count;  /* of the append that it comes from */
    int values[SIM_APPEND_MAX];
    pawl_uuid event_ids[SIM_APPEND_MAX]; /* of all but the last, which has the message's */
};

/* The memory of an answered batch, until the core gives it back. */
struct delivery {
    struct arena *arena;
    struct work_batch_result result;
    void *answer; /* of a call, in the arena */
    struct delivery *next, *prev;
};

enum wire_type {
    WIRE_READY,
    WIRE_REGISTER,
    WIRE_BEAT,
    WIRE_LOOK,
    WIRE_BATCH,
    WIRE_CLAIM,
    WIRE_REPORT,
    WIRE_DEREGISTER,
    WIRE_WAIT_BEGIN,
    WIRE_WAIT_END,
    WIRE_PUT,
    WIRE_CALL
};
enum wire_fate { FATE_FINE, FATE_LOST, FATE_UNKNOWN, FATE_GHOST };

/* A request of one of the kinds of work beside messages. */
struct wire_call {
    const char *name;
    /* What it asks for is wire->data; what was answered goes to delivery->answer. */
    pawl_status (*execute)(struct world *world, struct wire *wire, struct delivery *delivery);
    /* wire->status, and wire->delivery->answer if it is PAWL_OK; not called when its worker is gone. */
    void (*reply)(struct world *world, struct wire *wire);
};

/* A request on its way to the store, and its answer on the way back. */
struct wire {
    enum wire_type type;
    const struct wire_call *call; /* WIRE_CALL */
    void *data;
    enum wire_fate fate;
    int worker; /* -1: a producer's */
    uint64_t life;
    pawl_uuid instance;
    int refs; /* occasions that point to it */
    int64_t sent_ms;
    struct arena *arena;
    struct instance_new registration;
    struct work_batch batch;
    struct grants_settle known[CHANNEL_COUNT]; /* side 0: not compared */
    bool full;                                 /* beat */
    struct grants_settled settled[CHANNEL_COUNT];
    bool has_settled[CHANNEL_COUNT];
    struct engine_report report;
    int first_message, message_count;
    pawl_uuid request;
    pawl_str consumer;
    bool answered;
    pawl_status status;
    pawl_error error;
    struct delivery *delivery;
    struct beat_result beat;
    struct peers_look look;
    struct engine_peers peers;
    bool late;
    enum store_answer answer;
    enum fail_outcome fail;
};

struct sim_slot {
    bool busy, in_item, cancelled;
    uint64_t number; /* of the occasion it waits for */
    int handler;
    size_t count, at;
    int messages[ENGINE_BUNDLE_MAX], groups[ENGINE_BUNDLE_MAX];
    int64_t tokens[ENGINE_BUNDLE_MAX];
    struct engine_outcome outcomes[ENGINE_BUNDLE_MAX];
    int instance;
    int64_t fence_ms, began_ms;
    enum stop_reason reason;
    int run, failed_group;
    bool interrupted;
    bool calling;  /* the handler waits for the store */
    unsigned done; /* bits of the message's handlers that were noted before, or ran */
};

struct worker {
    struct engine_core *core; /* NULL: it is not there */
    struct engine_actions actions;
    struct engine_config config;
    struct engine_handler handlers[SWARM_HANDLERS_MAX + SWARM_JOB_HANDLERS + 1];
    struct world *world;
    int index;
    uint64_t life;
    bool starting, stopping;
    int instance;   /* the last one registered; -1 = none */
    int no_handler; /* -1 = it has all */
    int64_t clock_offset_ms, clock_ppm, paused_until_ms;
    uint64_t timer;
    bool troubled; /* its last request failed */
    struct sim_slot *slots;
    struct job_slot *job_slots;       /* the same slots, when jobs run in them */
    struct stream_slot *stream_slots; /* or perspectives */
    struct delivery held;             /* ring, this is its anchor */
    struct duty duties[SIM_DUTY_COUNT];
    struct {
        pawl_uuid instance;
        int64_t token;
    } subscription; /* as it was granted last */
    int fires;      /* calls of the running turn of the schedules */
    bool fires_failed;
    int64_t wish_until_ms; /* the store's note that it wants to be woken; outlives it */
};

struct world {
    struct swarm swarm;
    struct rng rng;
    struct queue queue;
    struct ground *ground;
    struct store *store; /* the ground's */
    struct history history;
    const struct mutant *mutant; /* NULL: the protocol as it is */
    int64_t now_ms, down_until_ms, heal_ms, drained_ms;
    bool healed, stopping, tracing;
    uint64_t hash, numbers, steps;
    struct worker workers[SWARM_WORKERS_MAX];
    struct sim_message *messages;
    size_t message_count, message_capacity;
    int puts_open; /* requests of producers without an answer */
    int wires;
    int messages_left, poisons;
    int failing; /* messages that do not go well at once */
    uint64_t faults[FAULT_COUNT];
    uint64_t requests, executed;
    struct mutant_memory mutant_memory;
    struct kinds kinds;
};

struct verdict {
    bool violated;
    const char *rule;
    char text[HISTORY_TEXT_BYTES];
    uint64_t hash, steps, requests, puts, effects, accepted, zombie_effects, stale_refused, duplicates,
        losses, dead, redriven;
    int64_t virtual_ms, drain_ms, bound_ms;
    unsigned traits;
    uint64_t faults[FAULT_COUNT];
};

/* Which world to run, and on what ground. */
struct world_plan {
    struct ground *ground;
    uint64_t seed;
    const struct mutant *mutant; /* NULL: the protocol as it is */
    bool tracing;
};

/* Runs the world of a seed to its end. */
void world_run(const struct world_plan *plan, struct verdict *verdict);

/* Notes a happening: part of the hash, printed when tracing. */
void world_note(struct world *world, const char *what, int64_t a, int64_t b, int64_t c);
void world_fault(struct world *world, enum fault fault);
void world_push(struct world *world, int64_t in_ms, struct occasion occasion);

/* The same of a worker, unless it has died by then. */
void world_then(struct world *world, int index, int64_t in_ms, uint64_t number,
                void (*then)(struct world *world, const struct occasion *occasion));
/* Fails loudly: the simulator itself, or the store, could not do what it must. */
void world_must(struct world *world, pawl_status status, const pawl_error *error, const char *what);
/* Whether a fault strikes now; none does after the healing. */
bool world_strikes(struct world *world, enum fault fault);
int64_t world_db_ms(const struct world *world);
void world_clock(struct world *world, int64_t offset_ms);
pawl_uuid world_uuid(struct world *world, int number);
int world_number(pawl_uuid id);

/* worker.c */
void worker_start(struct world *world, int index);
void worker_kill(struct world *world, int index);
void worker_event(struct world *world, int index, struct engine_event event);
void worker_pause(struct world *world, int index, int64_t for_ms);
void worker_stop(struct world *world, int index, bool now);
bool worker_alive(const struct world *world, int index);
int64_t worker_boot_ms(const struct worker *worker, int64_t now_ms);
/* The first virtual time at which the worker's clock shows at least boot_ms. */
int64_t worker_when_ms(const struct worker *worker, int64_t boot_ms, int64_t now_ms);
void worker_free(struct worker *worker);

/* slot.c */
void slot_start(struct world *world, int index, const struct engine_action *action);
void slot_cancel(struct world *world, int index, int slot, enum stop_reason reason);
void slot_go_on(struct world *world, int index, uint64_t number);
void slots_die(struct world *world, int index);
/* What a handler says at its end when nobody interrupted it, and how long it takes. */
enum outcome_type slot_verdict(struct world *world, enum nature nature, int *fails_left);
int64_t slot_duration_ms(struct world *world, enum nature *nature);
/* The store has answered the handler in the slot; recalled: bits of the handlers that were done before;
 * noted: what one of them did is written down, or cannot be. */
void slot_called(struct world *world, int index, int slot, uint64_t number, enum outcome_type outcome);
void slot_recalled(struct world *world, int index, int slot, uint64_t number, bool answered, unsigned done);
void slot_noted(struct world *world, int index, int slot, uint64_t number, int part);

/* wire.c */
void wire_send(struct world *world, int index, enum wire_type type, const struct engine_action *action);
void wire_send_put(struct world *world, int first_message, int count);
/* A call of a worker (-1: of an outside caller), with room for what it asks for in the wire's arena. */
struct wire *wire_call_new(struct world *world, int index, const struct wire_call *call, size_t data_bytes);
/* Sends it, now or again. */
void wire_call_send(struct world *world, struct wire *wire, int64_t after_ms);
const void *wire_copy(struct wire *wire, const void *items, size_t count, size_t size);
pawl_str wire_copy_text(struct wire *wire, pawl_str text);
void wire_execute(struct world *world, struct wire *wire);
void wire_reply(struct world *world, struct wire *wire);
void wires_of_dead(struct world *world, int index, uint64_t life);
void wire_unref(struct world *world, struct wire *wire);
void delivery_free(struct delivery *delivery);
/* The worker keeps what the wire brought until its core gives it back. */
struct delivery *delivery_hold(struct world *world, struct wire *wire);

/* execute.c */
pawl_status execute_put(struct world *world, struct wire *wire, struct arena *arena);
pawl_status execute_batch(struct world *world, struct wire *wire, struct arena *arena,
                          struct work_batch_result *result);
pawl_status execute_report(struct world *world, struct wire *wire, struct arena *arena);
pawl_status execute_register(struct world *world, struct wire *wire);
pawl_status execute_beat(struct world *world, struct wire *wire);
void execute_wait_begin(struct world *world, struct wire *wire);
pawl_status execute_deregister(struct world *world, struct wire *wire);

/* outside.c */
enum nature outside_nature(struct world *world);
void outside_produce(struct world *world);
void outside_deliver(struct world *world); /* a message that a broker has */
void outside_fault(struct world *world);
void outside_operate(struct world *world);
void outside_dead_seen(struct world *world);
void outside_check(struct world *world);

#endif
