/* What follows from the state of the fleet, and how far its perspectives and receptors are. */
#ifndef WORK_DOCTOR_FLEET_FACTS_H
#define WORK_DOCTOR_FLEET_FACTS_H

#include "store/fleet.h"
#include "store/store.h"

/* Whether the database was promoted or restored or lost commits less than a day ago: acknowledged work may be
 * lost. */
bool fleet_epoch_raised(const struct settings *settings, int64_t now_ms);

/* Whole seconds between two moments of the store's clock; 0 if the first is unknown (0) or in the future. */
int64_t fleet_age_s(int64_t now_ms, int64_t since_ms);

/* The perspectives of that name, absent = all, and how far they lag. Appended events count even if no worker
 * has given them a position yet. */
pawl_status fleet_perspectives(struct store *store, pawl_str name, struct arena *arena,
                               struct perspective_rows *rows, pawl_error *err);

/* A receptor on events and its state. */
struct fleet_receptor {
    struct event_receptor kept;
    pawl_str topic; /* of its messages */
    int64_t behind; /* events that were not examined yet */
    bool paused;    /* its topic, or the handler of its name, is paused */
};

struct fleet_receptors {
    struct fleet_receptor *rows; /* by name */
    size_t count;
};

/* The receptors on events: all of them, or the one of that name (PAWL_NOT_FOUND: there is none). Counts
 * appended events as fleet_perspectives does. */
PAWL_MUSTCHECK pawl_status fleet_receptors(struct store *store, pawl_str name, struct arena *arena,
                                           struct fleet_receptors *out, pawl_error *err);

#endif
