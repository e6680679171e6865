/* The differential test: one random sequence of operations on SQLite and on PostgreSQL, compared step
 * by step. */
#ifndef CONFORMANCE_DIFFERENTIAL_H
#define CONFORMANCE_DIFFERENTIAL_H

#include "base/arena.h"
#include "base/buf.h"
#include "conformance/differential/say_shape.h"
#include "store/store.h"

enum {
    SIDES = 2,
    WORLD_PARTITIONS = 40,
    WORLD_LANES = 8,
    WORLD_INSTANCES = 4,
    WORLD_GRANTS = 48,  /* how many claims are remembered, to report on them rightly and wrongly */
    WORLD_STREAMS = 10, /* plus messages without one */
    CALL_ITEMS = 12     /* items of one call, at most */
};

#define CORE(world, s) (&(world)->side[s].store->ops->core)
#define VIEW(world, s) (&(world)->side[s].store->ops->view)

/* One of the two stores, and what it said to the operation that runs. */
struct side {
    struct store *store;
    struct arena *arena;
    struct buf said;
};

/* A claim as both sides gave it: the tokens differ, the items do not. */
struct grant {
    int64_t token[SIDES];
    pawl_uuid instance;
    enum store_kind kind;
    int reports; /* how often it was picked to report on */
    size_t count;
    pawl_uuid ids[64];
};

struct world {
    struct side side[SIDES];
    uint64_t random;
    int64_t now_ms;
    pawl_uuid instances[WORLD_INSTANCES];
    int instances_made;
    int messages_made;
    int requests_made;
    struct grant grants[WORLD_GRANTS];
    size_t grant_count; /* ever; the ring holds the last ones */
    struct buf what;    /* the running operation in words */
    bool stopped;       /* a difference was found */
};

/* Opens both stores and freezes their clocks. Fails the running test when it cannot. */
void world_open(struct world *world, const struct store_config configs[static SIDES], uint64_t seed);
void world_close(struct world *world);

/* Random numbers; the same seed gives the same ones on every machine. */
uint64_t world_random(struct world *world);
int pick(struct world *world, int below);
bool chance(struct world *world, int percent);

pawl_uuid numbered_id(int group, int number);
/* The token that a side knows the grant by; lets wrong ones through as they are. */
struct grant *grant_pick(struct world *world);
void grant_note(struct world *world, const struct item_list lists[static SIDES]);

/* Text of an answer, added to what the side said. */
void say(struct side *side, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The status, and why for those that no input may cause; an error's text is each store's own. True: PAWL_OK.
 */
bool say_status(struct world *world, int side, pawl_status status, const pawl_error *err);
void say_answers(struct side *side, const char *name, const struct answer_list *list);
void say_put(struct side *side, const struct put_result *put, size_t count);
void say_items(struct world *world, int side, const struct item_list *list);

/* Words for the running operation. */
void describe(struct world *world, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void describe_id(struct world *world, const char *name, pawl_uuid id);
void describe_refs(struct world *world, const struct item_ref *refs, size_t count);

/* Chooses and runs one operation on both sides, and fills in what each said. */
void operation_run(struct world *world);
/* The groups of operations, each chosen by its own weights. */
void operation_instance(struct world *world);
void operation_put(struct world *world);
void operation_claim(struct world *world);
void operation_report(struct world *world);
void operation_batch(struct world *world);
void operation_dead(struct world *world);
void operation_log(struct world *world);
void operation_view(struct world *world);

/* Random inputs that several operations share. */
pawl_uuid instance_pick(struct world *world); /* any of the slots, dead or alive */
pawl_uuid live_pick(struct world *world);     /* mostly one that may claim */
pawl_uuid request_pick(struct world *world);
size_t messages_pick(struct world *world, enum store_kind kind, pawl_outgoing *messages, size_t most);
struct instance_new instance_input(struct world *world, pawl_uuid id);
/* References to items of remembered grants, one array per side with that side's tokens. */
size_t refs_pick(struct world *world, const struct grant *grant, struct item_ref refs[SIDES][CALL_ITEMS]);
void fail_input(struct world *world, struct fail_item *item);
int complete_status(struct world *world);
size_t receptors_pick(struct world *world, struct receptor_report *reports);
size_t checkpoints_pick(struct world *world, struct checkpoint_report *reports);

#endif
