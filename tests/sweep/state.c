/* The state of a swept store, whatever its dialect. */
#include "sweep/state.h"

#include <string.h>

struct state *state_open(const struct store_config *config, const char *dialect) {
    return (strcmp(dialect, "sqlite") == 0 ? &state_sqlite : &state_postgres)->open(config);
}

void state_close(struct state *state) {
    if (state != NULL)
        state->ops->close(state);
}

void state_save(struct state *state) { state->ops->save(state); }
bool state_same(struct state *state) { return state->ops->same(state); }
void state_restore(struct state *state) { state->ops->restore(state); }
char *state_counts(struct state *state) { return state->ops->counts(state); }
