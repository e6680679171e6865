/* The shapes of instances, lanes, duties, settings and housekeeping. */
#include "store/rows/shapes.h"

#define ROW struct instance_new
SHAPE(instance_new, M(id), M(service), M(host), M(pid), JSON(metadata), M(kinds), M(lease_ms),
      M(max_partitions), M(partition_count));
#undef ROW

#define ROW struct instance_row
SHAPE(instance, M(id), M(service), M(host), M(metadata), M(pid), M(kinds), M(state), M(started_ms),
      M(beat_ms), M(lease_until_ms), M(lanes[KIND_OUTBOX]), M(lanes[KIND_INBOX]), M(lanes[KIND_PERSPECTIVE]),
      M(claims), M(in_flight), M(processed), M(jobs), M(beat_age_ms));
#undef ROW

#define ROW struct instance_grant
SHAPE(instance_grant, M(now_ms), M(lease_until_ms), M(epoch), M(lanes_owned));
#undef ROW

#define ROW struct beat_result
SHAPE(beat, M(now_ms), M(lease_until_ms), M(lanes_owned[KIND_OUTBOX]), M(lanes_owned[KIND_INBOX]),
      M(lanes_owned[KIND_PERSPECTIVE]), M(lanes_taken), M(lanes_given), M(evicted), M(pauses));
/* Without the pauses. */
SHAPE_WITHOUT(rebalance, beat, 1);
#undef ROW

#define ROW struct peers_look
SHAPE(peers_look, M(evicted), M(rebalance_wanted), M(believe_ms));
#undef ROW

#define ROW struct grant_held
SHAPE(grant_held, M(token), M(number));
#undef ROW

#define ROW struct grants_settled
SHAPE(grants_settled, M(released), M(newest), M(epoch));
#undef ROW

#define ROW struct lane_row
SHAPE(lane, M(lane), M(owner), M(token), M(high), M(moves), M(draining), M(claims), M(holds));
#undef ROW

#define ROW struct duty_take
SHAPE(duty_take, M(name), M(instance), M(lease_ms));
#undef ROW

#define ROW struct duty_grant
SHAPE(duty_grant, M(held), M(token), M(instance), M(now_ms), M(lease_until_ms));
#undef ROW

#define ROW struct duty_row
SHAPE(duty, M(name), M(instance), M(token), M(lease_until_ms));
#undef ROW

#define ROW struct audit_row
SHAPE(audit, M(number), M(at_ms), M(actor), M(action), M(detail));
#undef ROW

#define ROW struct settings
SHAPE(settings, M(partition_count), M(lane_count), M(max_attempts), M(dead_policy), M(schema_version),
      M(epoch), M(instance_lease_ms), M(stale_ms), M(dedupe_ms), M(history_ms), M(test_now_ms), M(epoch_ms),
      M(epoch_cause));
#undef ROW

#define ROW struct settings_change
SHAPE(settings_change, M(instance_lease_ms), M(stale_ms), M(dedupe_ms), M(history_ms), M(test_now_ms),
      M(max_attempts), M(dead_policy));
#undef ROW

#define ROW struct maintain_result
SHAPE(maintain, M(instances_removed), M(tombstones_removed), M(dedupe_removed), M(requests_removed),
      M(claims_removed), M(history_removed), M(receptors_removed), M(claims_expired), M(tally_folded));
#undef ROW

#define ROW struct rollup_cell
SHAPE(rollup, M(measure), M(kind), M(result), M(bucket), M(count), M(sum));
#undef ROW

#define ROW struct durability
SHAPE(durability, M(found), M(crash), M(failover));
#undef ROW
