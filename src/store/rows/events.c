/* The shapes of events, snapshots, perspectives, checkpoints and receptors. */
#include "store/apply.h"
#include "store/event_receptors.h"
#include "store/rows/shapes.h"

#define ROW pawl_event
SHAPE(event_new, M(type), JSON(payload), JSON(metadata), M(correlation_id), M(causation_id), M(traceparent));
#undef ROW

#define ROW pawl_stored_event
SHAPE(event, M(stream), M(version), M(position), M(id), M(type), M(payload), M(metadata), M(correlation_id),
      M(causation_id), M(traceparent), M(appended_ms));
/* {{event}} */
enum { EVENT_PLACE = 3 }; /* members before it */
const struct row_shape event_kept_shape = {
    event_members + EVENT_PLACE, sizeof event_members / sizeof *event_members - EVENT_PLACE, sizeof(ROW)};
#undef ROW

#define ROW struct append_result
SHAPE(append_result, M(answer), M(version), M(first_version), M(id_known));
#undef ROW

#define ROW struct stamp_result
SHAPE(stamp_result, M(stamped), M(position));
#undef ROW

#define ROW struct snapshot
SHAPE(snapshot, M(stream), M(name), M(version), JSON(state), M(made_ms));
SHAPE_WITHOUT(snapshot_new, snapshot, 1);
#undef ROW

#define ROW struct perspective_row
SHAPE(perspective, M(key), M(name), M(version), M(state), M(paused), M(backfilled), M(run), M(target),
      M(clear), M(batch), M(max_attempts), M(policy), M(registered_ms), M(checkpoints), M(pending),
      M(processing), M(completed), M(failed), M(stopped), M(matched), M(applied), M(position));
#undef ROW

#define ROW struct perspective_registered
SHAPE(perspective_registered, M(answer), M(state), M(backfilled));
#undef ROW

#define ROW struct switch_result
SHAPE(switch_result, M(answer), M(behind), M(digest_old), M(digest_new));
#undef ROW

#define ROW struct perspective_target
SHAPE(perspective_target, M(perspective), M(stream), M(version), M(position));
#undef ROW

#define ROW struct perspective_reached
SHAPE(perspective_reached, M(reached), M(at), M(failed), M(error));
#undef ROW

#define ROW struct event_pattern
SHAPE(event_pattern, SMALL(mode), M(text));
#undef ROW

#define ROW struct apply_item
SHAPE(apply_item, M(answer), M(version), M(events), M(more), M(outcome), M(failed_version), M(error));
#undef ROW

#define ROW struct apply_cut
SHAPE(apply_cut, M(held), M(stream), M(from_version), M(through_version), M(head), M(replay_to));
#undef ROW

#define ROW struct checkpoint_view
SHAPE(checkpoint, M(stream), M(perspective), M(error), M(fingerprint), M(version), M(head), M(token),
      M(status), M(stopped), M(attempts), M(instance), M(lease_until_ms), M(next_ms), M(created_ms),
      M(updated_ms), M(replay_to), M(failed_version));
#undef ROW

#define ROW struct checkpoint_row
SHAPE(checkpoint_row, M(stream), M(perspective), M(error), M(version), M(token), M(updated_ms), M(status),
      M(attempts));
#undef ROW

#define ROW struct checkpoint_grant
SHAPE(checkpoint_grant, M(stream), M(perspective), M(version), M(head), M(token), M(lease_until_ms),
      M(replay_to), M(attempt));
#undef ROW

#define ROW struct checkpoint_report
SHAPE(checkpoint_report, M(stream), M(perspective), M(version), M(token), SMALL(status), M(error),
      M(delay_ms));
#undef ROW

#define ROW struct checkpoint_ref
SHAPE(checkpoint_ref, M(stream), M(perspective), M(token));
#undef ROW

#define ROW struct checkpoint_skip
SHAPE(checkpoint_skip, M(perspective), M(stream), M(version), M(reason));
#undef ROW

#define ROW struct checkpoint_filter
SHAPE(checkpoint_filter, M(perspective), M(stream), M(status), M(after_stream), M(after_perspective),
      M(limit));
#undef ROW

#define ROW struct checkpoint_error
SHAPE(checkpoint_error, M(perspective), M(fingerprint), M(sample), M(count));
#undef ROW

#define ROW struct receptor_row
SHAPE(receptor, M(receptor), M(status), M(attempts), M(updated_ms), M(error));
#undef ROW

#define ROW struct receptor_report
SHAPE(receptor_report, M(event_id), M(receptor), M(status), M(error));
#undef ROW

#define ROW struct event_receptor
SHAPE(event_receptor, M(name), M(position), M(fed), M(registered_ms));
#undef ROW

#define ROW struct feed_result
SHAPE(feed_result, M(known), M(events), M(fed), M(more));
#undef ROW
