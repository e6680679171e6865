/* Removing rows of messages, jobs, runs and alerts that are no longer needed. */
#ifndef WORK_HOUSEKEEPING_H
#define WORK_HOUSEKEEPING_H

#include "store/store.h"

struct housekeeping {
    struct maintain_result core;
    struct jobs_maintain_result jobs;
    struct runs_maintain_result runs;
    struct audit_head head; /* the last anchor of the audit */
    bool more;              /* a deletion reached its limit: another round will find more */
};

/* One round of short transactions; each deletion takes at most rows_max. caller (nil: none) is never
 * removed. */
PAWL_MUSTCHECK pawl_status housekeeping_round(struct store *store, pawl_uuid caller, int rows_max,
                                              struct housekeeping *out, pawl_error *err);

/* Adds what a round did to a sum of rounds. */
void housekeeping_add(struct housekeeping *sum, const struct housekeeping *round);

#endif
