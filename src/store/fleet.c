/* The state of the whole fleet, gathered from the operations that read its parts. */
#include "store/fleet.h"

#include "base/limits.h"
#include "store/store.h"

/* Notes the first failure. */
static bool goes_on(pawl_status *status, pawl_status part) {
    if (*status == PAWL_OK)
        *status = part;
    return part == PAWL_OK || part == PAWL_BUSY;
}

pawl_status fleet_facts_gather(struct store *store, struct arena *arena, struct fleet_facts *out,
                               pawl_error *err) {
    const struct store_ops *ops = store->ops;
    const pawl_str all = {NULL, 0};
    struct fleet_facts read = {.pressure = 0};
    struct stamp_result stamped;
    pawl_status status = PAWL_OK;
    bool whole = goes_on(&status, ops->events.events_stamp(store, PAWL_STAMP_MAX, &stamped, err)) &&
                 goes_on(&status, ops->view.counts(store, &read.counts, err)) &&
                 goes_on(&status, ops->view.instances(store, arena, &read.instances, err)) &&
                 goes_on(&status, ops->jobs->counts(store, arena, &read.queues, err)) &&
                 goes_on(&status, ops->events.perspective_list(store, all, arena, &read.perspectives, err)) &&
                 goes_on(&status, ops->core.settings_read(store, &read.settings, err)) &&
                 goes_on(&status, ops->view.durability(store, arena, &read.durability, err)) &&
                 goes_on(&status, ops->alerts->pressure(store, &read.pressure, err));
    if (whole && status == PAWL_OK)
        *out = read;
    return status;
}
