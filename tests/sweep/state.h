/* The state of a swept store, seen by a connection that never fails: noted, compared, and put back. */
#ifndef SWEEP_STATE_H
#define SWEEP_STATE_H

#include "store/store.h"

struct state;

struct state *state_open(const struct store_config *config, const char *dialect);
void state_close(struct state *state); /* takes NULL */

/* Remembers all rows. */
void state_save(struct state *state);
/* Whether every row is as it was saved. Waits for what a lost connection may still be doing. */
bool state_same(struct state *state);
/* Puts the saved rows back. */
void state_restore(struct state *state);
/* How many rows each table has; free it. */
char *state_counts(struct state *state);

/* Both dialects. */
struct state_ops {
    struct state *(*open)(const struct store_config *config);
    void (*close)(struct state *state);
    void (*save)(struct state *state);
    bool (*same)(struct state *state);
    void (*restore)(struct state *state);
    char *(*counts)(struct state *state);
};
struct state {
    const struct state_ops *ops;
};
extern const struct state_ops state_sqlite, state_postgres;

#endif
