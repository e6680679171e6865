/* What the list of instances says about the other workers. */
#include "base/uuid.h"
#include "domain/share.h"
#include "engine/core/core.h"

static bool serves(int kinds, int kind) { return (kinds & KIND_BIT(kind)) != 0; }

/* Whether the share of some kind is not reached: others have to give up lanes, or have just done so. */
static bool lanes_short(const struct engine_peers_in *in, const int live[KIND_COUNT + 1]) {
    const struct settings *settings = in->settings;
    int cap = share_cap_lanes(in->self->max_partitions, settings->lane_count, settings->partition_count);
    for (int kind = 1; kind <= KIND_COUNT; kind++) {
        int share = settings->lane_count / (live[kind] + 1);
        if (cap > 0 && cap < share)
            share = cap;
        if (serves(in->self->kinds, kind) && in->beat->lanes_owned[kind] < share)
            return true;
    }
    return false;
}

struct engine_peers engine_peers_of(const struct engine_peers_in *in) {
    struct engine_peers peers = {0};
    int live[KIND_COUNT + 1] = {0};
    for (size_t i = 0; i < in->rows->count; i++) {
        const struct instance_row *row = &in->rows->rows[i];
        if (row->state != INSTANCE_ACTIVE || uuid_equal(row->id, in->instance))
            continue;
        bool busy = row->claims > 0 || row->jobs > 0;
        int64_t ends_ms = row->lease_until_ms - row->beat_ms - row->beat_age_ms;
        peers.count++;
        peers.busy = peers.busy || busy;
        peers.idle = peers.idle || (!busy && (row->kinds & in->self->kinds & KIND_BITS_ALL) != 0);
        if (ends_ms > 0 && (peers.ends_ms == 0 || ends_ms < peers.ends_ms))
            peers.ends_ms = ends_ms;
        for (int kind = 1; kind <= KIND_COUNT; kind++)
            live[kind] += serves(row->kinds, kind);
    }
    peers.lanes_short = !in->full && lanes_short(in, live);
    return peers;
}
