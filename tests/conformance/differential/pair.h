/* Two stores that are given the same random operations and must say the same: what such a test needs beside
 * its operations. */
#ifndef CONFORMANCE_PAIR_H
#define CONFORMANCE_PAIR_H

#include "base/arena.h"
#include "base/buf.h"
#include "conformance/differential/say_shape.h"
#include "store/store.h"

enum { PAIR_SIDES = 2, PAIR_INSTANCES = 4 };

/* The first member of a game's world. */
struct pair {
    struct store *store[PAIR_SIDES]; /* SQLite and PostgreSQL */
    struct arena *arena;             /* for one operation */
    struct buf said[PAIR_SIDES];
    struct buf what; /* the running operation in words */
    uint64_t random;
    int64_t now_ms;
    int incarnation[PAIR_INSTANCES];
};

struct pair_game {
    const char *name;
    size_t world_bytes;
    int kinds; /* of the instances */
    void (*begin)(void *world);
    void (*operation)(void *world); /* one, on both sides */
    void (*say_state)(void *world, int side);
    int ops;           /* unless PAWL_DIFF_OPS says otherwise */
    int ops_per_world; /* then a fresh pair */
    int state_every;
};

int pair_pick(struct pair *pair, int below);
bool pair_chance(struct pair *pair, int percent);
pawl_str pair_name(struct pair *pair, const char *kind, int n);

void pair_describe(struct pair *pair, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void pair_say(struct pair *pair, int side, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void pair_say_text(struct pair *pair, int side, const char *what, pawl_str text);
/* Says the status; one that no input may cause fails the test. True: PAWL_OK. */
bool pair_ok(struct pair *pair, int side, pawl_status status, const pawl_error *err);

pawl_uuid pair_instance(const struct pair *pair, int slot);
/* Registers, evicts or beats one of the instances; kinds as registered. */
void pair_instances(struct pair *pair, int kinds);
/* A new incarnation in the place of one that is gone. */
void pair_instance_new(struct pair *pair, int kinds, int slot);
void pair_advance(struct pair *pair, int64_t by_ms);

/* The whole program. */
int pair_main(const struct pair_game *game);

#endif
