/* Computing an instance's fair share of the lanes. */
#include "domain/share.h"

#include <assert.h>
#include <string.h>

/* Whether a comes before b in the order in which the odd lanes are assigned. */
static bool comes_before(const struct share_member *a, const struct share_member *b) {
    if (a->owned != b->owned)
        return a->owned > b->owned;
    return memcmp(a->id.b, b->id.b, sizeof(a->id.b)) < 0;
}

int share_quota(const struct share_member *members, size_t count, pawl_uuid self, int lane_count,
                int cap_lanes) {
    const struct share_member *me = NULL;
    size_t full = 0;
    for (size_t i = 0; i < count; i++) {
        full += members[i].full;
        if (memcmp(members[i].id.b, self.b, sizeof(self.b)) == 0)
            me = &members[i];
    }
    bool left_out = full < count; /* the full ones are */
    if (me == NULL || (me->full && left_out))
        return 0;

    size_t rank = 0, sharing = left_out ? count - full : count;
    for (size_t i = 0; i < count; i++)
        rank += !(members[i].full && left_out) && comes_before(&members[i], me);

    size_t lanes = (size_t)lane_count;
    int quota = (int)(lanes / sharing) + (rank < lanes % sharing ? 1 : 0);
    return cap_lanes > 0 && quota > cap_lanes ? cap_lanes : quota;
}

int share_cap_lanes(int max_partitions, int lane_count, int partition_count) {
    assert(lane_count > 0 && partition_count > 0);
    if (max_partitions <= 0)
        return 0;
    int64_t lanes = ((int64_t)max_partitions * lane_count + partition_count - 1) / partition_count;
    if (lanes > lane_count)
        return lane_count;
    return lanes < 1 ? 1 : (int)lanes;
}

int share_give_max(int lane_count) { return (lane_count + 1) / 2; }
