/* The states of a worker, as a table. */
#include <assert.h>

#include "engine/core/int.h"

#define TO(state) (1u << (state))

/* From each state, the states it may change into (work ends, errors heal, everything can stop).
 */
static const struct {
    const char *name;
    unsigned next;
} state_rows[ENGINE_STATE_COUNT] = {
    [ENGINE_STARTING] = {"STARTING", TO(ENGINE_READY) | TO(ENGINE_ERROR) | TO(ENGINE_STOPPING)},
    [ENGINE_READY] = {"READY", TO(ENGINE_PROCESSING) | TO(ENGINE_ERROR) | TO(ENGINE_STOPPING)},
    [ENGINE_PROCESSING] = {"PROCESSING", TO(ENGINE_READY) | TO(ENGINE_ERROR) | TO(ENGINE_STOPPING)},
    [ENGINE_ERROR] = {"ERROR", TO(ENGINE_READY) | TO(ENGINE_STOPPING)},
    [ENGINE_STOPPING] = {"STOPPING", TO(ENGINE_STOPPED)},
    [ENGINE_STOPPED] = {"STOPPED", 0},
};

const char *engine_state_name(enum engine_state state) {
    return state < ENGINE_STATE_COUNT ? state_rows[state].name : "?";
}

bool engine_state_allowed(enum engine_state from, enum engine_state to) {
    return from < ENGINE_STATE_COUNT && to < ENGINE_STATE_COUNT && (state_rows[from].next & TO(to)) != 0;
}

static void change(struct engine_core *core, enum engine_state to) {
    enum engine_state from = core->metrics.state;
    assert(engine_state_allowed(from, to));
    core->metrics.state = to;
    core_log(core, LOG_STATE, from, to, 0);
}

static enum engine_state wanted(const struct engine_core *core) {
    if (core->exited)
        return ENGINE_STOPPED;
    if (core->stopping)
        return ENGINE_STOPPING;
    if (core->failures > 0 || core->metrics.not_ready_checks > 0 || core->troubled)
        return ENGINE_ERROR;
    if (!core->registered)
        return core->registrations > 0 ? ENGINE_ERROR : ENGINE_STARTING;
    return core_in_hand(core) ? ENGINE_PROCESSING : ENGINE_READY;
}

void core_state_update(struct engine_core *core) {
    enum engine_state to = wanted(core);
    /* Where the table has no direct way it leads through READY or STOPPING: two changes, both told. */
    for (int hops = 0; core->metrics.state != to && hops < ENGINE_STATE_COUNT; hops++) {
        enum engine_state from = core->metrics.state;
        if (engine_state_allowed(from, to))
            change(core, to);
        else if (to == ENGINE_STOPPED)
            change(core, ENGINE_STOPPING);
        else if (to == ENGINE_STARTING)
            return; /* a start that failed stays an error until it is registered */
        else
            change(core, ENGINE_READY);
    }
}
