/* The shapes of instances, lanes, duties, settings and housekeeping. */
#include "store/rows/shapes.h"

SHAPE(instance_new, struct instance_new, M(id), M(service), M(host), M(pid), JSON(metadata), M(kinds),
      M(lease_ms), M(max_partitions), M(partition_count));
SHAPE(instance, struct instance_row, M(id), M(service), M(host), M(metadata), M(pid), M(kinds), M(state),
      M(started_ms), M(beat_ms), M(lease_until_ms), M(lanes[KIND_OUTBOX]), M(lanes[KIND_INBOX]),
      M(lanes[KIND_PERSPECTIVE]), M(claims), M(in_flight), M(processed), M(jobs), M(beat_age_ms));
SHAPE(instance_grant, struct instance_grant, M(now_ms), M(lease_until_ms), M(epoch), M(lanes_owned));
SHAPE(beat, struct beat_result, M(now_ms), M(lease_until_ms), M(lanes_owned[KIND_OUTBOX]),
      M(lanes_owned[KIND_INBOX]), M(lanes_owned[KIND_PERSPECTIVE]), M(lanes_taken), M(lanes_given),
      M(evicted), M(pauses), M(others));
/* Without what only a heartbeat counts. */
SHAPE_WITHOUT(rebalance, struct beat_result, beat, 2);
SHAPE(peers_look, struct peers_look, M(evicted), M(rebalance_wanted), M(believe_ms));
SHAPE(grant_held, struct grant_held, M(token), M(number));
SHAPE(grants_settled, struct grants_settled, M(released), M(newest), M(epoch));
SHAPE(lane, struct lane_row, M(lane), M(owner), M(token), M(high), M(moves), M(draining), M(claims),
      M(holds));
SHAPE(duty_take, struct duty_take, M(name), M(instance), M(lease_ms));
SHAPE(duty_grant, struct duty_grant, M(held), M(token), M(instance), M(now_ms), M(lease_until_ms));
SHAPE(duty, struct duty_row, M(name), M(instance), M(token), M(lease_until_ms));
SHAPE(audit, struct audit_row, M(number), M(at_ms), M(actor), M(action), M(detail));
SHAPE(settings, struct settings, M(partition_count), M(lane_count), M(max_attempts), M(dead_policy),
      M(schema_version), M(epoch), M(instance_lease_ms), M(stale_ms), M(dedupe_ms), M(history_ms),
      M(test_now_ms), M(epoch_ms), M(epoch_cause));
SHAPE(settings_change, struct settings_change, M(instance_lease_ms), M(stale_ms), M(dedupe_ms), M(history_ms),
      M(test_now_ms), M(max_attempts), M(dead_policy));
SHAPE(maintain, struct maintain_result, M(instances_removed), M(tombstones_removed), M(dedupe_removed),
      M(requests_removed), M(claims_removed), M(history_removed), M(receptors_removed), M(claims_expired),
      M(tally_folded));
SHAPE(rollup, struct rollup_cell, M(measure), M(kind), M(result), M(bucket), M(count), M(sum));
/* Every bucket of a histogram: more members than SHAPE takes. The name of a member stays bare in offsetof.
 * NOLINTBEGIN(bugprone-macro-parentheses) */
#define TEN(row, name, at)                                                                                   \
    EACH(MEMBER_OF, row, M(name[at]), M(name[at + 1]), M(name[at + 2]), M(name[at + 3]), M(name[at + 4]),    \
         M(name[at + 5]), M(name[at + 6]), M(name[at + 7]), M(name[at + 8]), M(name[at + 9]))
#define BUCKETS(row, name)                                                                                   \
    TEN(row, name, 0), TEN(row, name, 10), TEN(row, name, 20), MEMBER_OF(row, M(name[30]))
#define BOTH(row) BUCKETS(row, handle), BUCKETS(row, wait)
/* NOLINTEND(bugprone-macro-parentheses) */
/* Without what says which series. */
static const struct member point_members[] = {EACH(MEMBER_OF, struct series_point, M(done), M(failed)),
                                              BOTH(struct series_point)};
static const struct member series_members[] = {EACH(MEMBER_OF, struct series_row, M(scope), M(kind), M(name),
                                                    M(at_ms), M(ready), M(dead), M(oldest_age_ms), M(done),
                                                    M(failed)),
                                               BOTH(struct series_row)};
const struct row_shape point_shape = ROW_SHAPE(struct series_point, point_members);
const struct row_shape series_shape = ROW_SHAPE(struct series_row, series_members);
SHAPE(durability, struct durability, M(found), M(crash), M(failover));
