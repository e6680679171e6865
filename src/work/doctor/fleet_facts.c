/* Reading the state of perspectives and receptors across the fleet. */
#include "work/doctor/fleet_facts.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"

enum { EPOCH_TOLD_MS = 24 * 60 * 60 * 1000 };

pawl_status fleet_perspectives(struct store *store, pawl_str name, struct arena *arena,
                               struct perspective_rows *rows, pawl_error *err) {
    struct stamp_result stamped;
    pawl_status status = store->ops->events.events_stamp(store, PAWL_STAMP_MAX, &stamped, err);
    return status == PAWL_OK ? store->ops->events.perspective_list(store, name, arena, rows, err) : status;
}

static bool receptor_paused(const struct pause_rows *pauses, pawl_str name, pawl_str topic) {
    for (size_t i = 0; i < pauses->count; i++) {
        const struct pause_row *row = &pauses->rows[i];
        if ((row->scope == PAUSE_TOPIC && str_equal(row->name, topic)) ||
            (row->scope == PAUSE_HANDLER && str_equal(row->name, name)))
            return true;
    }
    return false;
}

pawl_status fleet_receptors(struct store *store, pawl_str name, struct arena *arena,
                            struct fleet_receptors *out, pawl_error *err) {
    struct stamp_result stamped;
    struct event_receptors found = {.count = 0};
    struct pause_rows pauses = {.count = 0};
    struct fleet_receptors made = {.count = 0};
    pawl_status status = store->ops->events.events_stamp(store, PAWL_STAMP_MAX, &stamped, err);
    if (status == PAWL_OK)
        status = store->ops->events.receptor_list(store, arena, &found, err);
    if (status == PAWL_OK)
        status = store->ops->relay->pauses(store, arena, &pauses, err);
    if (status == PAWL_OK && (made.rows = arena_array(arena, found.count + 1, sizeof *made.rows)) == NULL)
        status = error_set(err, PAWL_NO_MEMORY, "receptors", "no memory for the receptors");
    for (size_t i = 0; status == PAWL_OK && i < found.count; i++) {
        struct fleet_receptor row = {.kept = found.rows[i], .behind = found.head - found.rows[i].position};
        if (!str_absent(name) && !str_equal(row.kept.name, name))
            continue;
        status = receptor_consumer(arena, row.kept.name, &row.topic, err);
        row.paused = receptor_paused(&pauses, row.kept.name, row.topic);
        made.rows[made.count++] = row;
    }
    if (status == PAWL_OK && !str_absent(name) && made.count == 0)
        status = error_set(err, PAWL_NOT_FOUND, "receptors", "there is no receptor on events named %.*s",
                           STR_ARG(name));
    if (status == PAWL_OK)
        *out = made;
    return status;
}

bool fleet_epoch_raised(const struct settings *settings, int64_t now_ms) {
    return settings->epoch_cause > EPOCH_ASKED && now_ms - settings->epoch_ms < EPOCH_TOLD_MS;
}

int64_t fleet_age_s(int64_t now_ms, int64_t since_ms) {
    return since_ms > 0 && now_ms > since_ms ? (now_ms - since_ms) / 1000 : 0;
}
