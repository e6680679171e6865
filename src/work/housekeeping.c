/* Removing rows that are no longer needed. */
#include "work/housekeeping.h"

/* The counts of a round, as an array that can be compared and added up. */
enum { COUNTS = 18, ANCHOR_OLDER_MS = 60000 };

static void counts_of(struct housekeeping *of, int64_t *counts[static COUNTS]) {
    int64_t *all[COUNTS] = {
        &of->core.instances_removed, &of->core.tombstones_removed, &of->core.dedupe_removed,
        &of->core.requests_removed,  &of->core.claims_removed,     &of->core.history_removed,
        &of->core.receptors_removed, &of->core.tally_folded,       &of->core.claims_expired,
        &of->jobs.runs_removed,      &of->jobs.claims_removed,     &of->jobs.fires_removed,
        &of->jobs.signals_removed,   &of->jobs.refusals_removed,   &of->jobs.spine_removed,
        &of->jobs.tally_folded,      &of->runs.runs_removed,       &of->runs.items_removed};
    for (size_t i = 0; i < COUNTS; i++)
        counts[i] = all[i];
}

pawl_status housekeeping_round(struct store *store, pawl_uuid caller, int rows_max, struct housekeeping *out,
                               pawl_error *err) {
    struct maintain_in in = {.caller = caller, .rows_max = rows_max};
    struct housekeeping round = {0};
    pawl_status status = store->ops->core.maintain(store, &in, &round.core, err);
    if (status == PAWL_OK)
        status = store->ops->jobs->maintain(store, rows_max, &round.jobs, err);
    if (status == PAWL_OK)
        status = store->ops->runs->maintain(store, rows_max, &round.runs, err);
    if (status == PAWL_OK)
        status = store->ops->jobs->audit_anchor(store, ANCHOR_OLDER_MS, &round.head, err);
    if (status != PAWL_OK)
        return status;
    int64_t *counts[COUNTS];
    counts_of(&round, counts);
    for (size_t i = 0; i < COUNTS; i++)
        round.more = round.more || *counts[i] >= rows_max;
    *out = round;
    return PAWL_OK;
}

void housekeeping_add(struct housekeeping *sum, const struct housekeeping *round) {
    struct housekeeping copy = *round;
    int64_t *to[COUNTS], *from[COUNTS];
    counts_of(sum, to);
    counts_of(&copy, from);
    for (size_t i = 0; i < COUNTS; i++)
        *to[i] += *from[i];
}
