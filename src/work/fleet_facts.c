/* What is known of the whole system at one moment. */
#include "work/fleet_facts.h"

#include "base/limits.h"

pawl_status fleet_perspectives(struct store *store, pawl_str name, struct arena *arena,
                               struct perspective_rows *rows, pawl_error *err) {
    struct stamp_result stamped;
    pawl_status status = store->ops->events.events_stamp(store, PAWL_STAMP_MAX, &stamped, err);
    return status == PAWL_OK ? store->ops->events.perspective_list(store, name, arena, rows, err) : status;
}

pawl_status fleet_facts_read(struct store *store, struct arena *arena, struct fleet_facts *facts,
                             pawl_error *err) {
    const struct store_ops *ops = store->ops;
    struct fleet_facts read = {.instances = {.count = 0}};
    pawl_status status = ops->view.counts(store, &read.counts, err);
    if (status == PAWL_OK)
        status = ops->view.instances(store, arena, &read.instances, err);
    if (status == PAWL_OK)
        status = ops->jobs->counts(store, arena, &read.queues, err);
    if (status == PAWL_OK)
        status = fleet_perspectives(store, (pawl_str){NULL, 0}, arena, &read.perspectives, err);
    if (status == PAWL_OK)
        *facts = read;
    return status;
}

int64_t fleet_age_s(int64_t now_ms, int64_t since_ms) {
    return since_ms > 0 && now_ms > since_ms ? (now_ms - since_ms) / 1000 : 0;
}
