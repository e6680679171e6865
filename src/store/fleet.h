/* The state of the whole fleet, read from tallies and small tables, for metrics, alerts and the monitor. */
#ifndef STORE_FLEET_H
#define STORE_FLEET_H

#include "store/events.h"
#include "store/jobs.h"
#include "store/view.h"

struct fleet_facts {
    struct counts counts;
    struct instance_rows instances;
    struct job_counts_list queues;
    struct perspective_rows perspectives; /* appended events count even if they have no position yet */
    struct settings settings;
    struct durability durability;
    int64_t pressure; /* how much of its tightest limit the database uses, in percent */
};

/* Reads them by the operations of the store, one after the other; after PAWL_BUSY, which a question that is
 * only noted answers, it goes on. */
PAWL_MUSTCHECK pawl_status fleet_facts_gather(struct store *store, struct arena *arena,
                                              struct fleet_facts *out, pawl_error *err);

#endif
