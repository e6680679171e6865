/* The fair share: how many lanes one instance should own. */
#ifndef DOMAIN_SHARE_H
#define DOMAIN_SHARE_H

#include "pawl.h"

/* A live instance of one kind, and how many lanes it owns that are not draining. */
struct share_member {
    pawl_uuid id;
    int owned;
    bool full; /* all its slots are busy */
};

/*
 * How many lanes `self` should own. As long as not all members are full, those that are own none and are not
 * counted. Of the rest each owns lane_count / count, plus 1 for the first lane_count mod count members in
 * the order of owned descending, then id ascending. The instance that owns more keeps the odd lane, so that
 * nothing moves unnecessarily. Not above cap_lanes, unless that is 0. 0 when self is not among the members.
 */
int share_quota(const struct share_member *members, size_t count, pawl_uuid self, int lane_count,
                int cap_lanes);

/* A cap in partitions as lanes, rounded up, at least 1; 0 (no cap) gives 0. */
int share_cap_lanes(int max_partitions, int lane_count, int partition_count);

/* The most lanes that one call gives up: half of them, rounded up. */
int share_give_max(int lane_count);

#endif
