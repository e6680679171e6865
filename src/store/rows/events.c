/* The shapes of events, snapshots, perspectives, checkpoints and receptors. */
#include "store/apply.h"
#include "store/event_receptors.h"
#include "store/rows/shapes.h"

SHAPE(event_new, pawl_event, M(type), JSON(payload), JSON(metadata), M(correlation_id), M(causation_id),
      M(traceparent));
SHAPE(event, pawl_stored_event, M(stream), M(version), M(position), M(id), M(type), M(payload), M(metadata),
      M(correlation_id), M(causation_id), M(traceparent), M(appended_ms));
/* {{event}} */
enum { EVENT_PLACE = 3 }; /* members before it */
const struct row_shape event_kept_shape = {event_members + EVENT_PLACE,
                                           sizeof event_members / sizeof *event_members - EVENT_PLACE,
                                           sizeof(pawl_stored_event)};

SHAPE(append_result, struct append_result, M(answer), M(version), M(first_version), M(id_known));
SHAPE(stamp_result, struct stamp_result, M(stamped), M(position));
SHAPE(snapshot, struct snapshot, M(stream), M(name), M(version), JSON(state), M(made_ms));
SHAPE_WITHOUT(snapshot_new, struct snapshot, snapshot, 1);
SHAPE(perspective, struct perspective_row, M(key), M(name), M(version), M(state), M(paused), M(backfilled),
      M(run), M(target), M(clear), M(batch), M(max_attempts), M(policy), M(registered_ms), M(checkpoints),
      M(pending), M(processing), M(completed), M(failed), M(stopped), M(matched), M(applied), M(position));
SHAPE(perspective_registered, struct perspective_registered, M(answer), M(state), M(backfilled));
SHAPE(switch_result, struct switch_result, M(answer), M(behind), M(digest_old), M(digest_new));
SHAPE(perspective_target, struct perspective_target, M(perspective), M(stream), M(version), M(position));
SHAPE(perspective_reached, struct perspective_reached, M(reached), M(at), M(failed), M(error));
SHAPE(event_pattern, struct event_pattern, SMALL(mode), M(text));
SHAPE(apply_item, struct apply_item, M(answer), M(version), M(events), M(more), M(outcome), M(failed_version),
      M(error));
SHAPE(apply_cut, struct apply_cut, M(held), M(stream), M(from_version), M(through_version), M(head),
      M(replay_to));
SHAPE(checkpoint, struct checkpoint_view, M(stream), M(perspective), M(error), M(fingerprint), M(version),
      M(head), M(token), M(status), M(stopped), M(attempts), M(instance), M(lease_until_ms), M(next_ms),
      M(created_ms), M(updated_ms), M(replay_to), M(failed_version));
SHAPE(checkpoint_row, struct checkpoint_row, M(stream), M(perspective), M(error), M(version), M(token),
      M(updated_ms), M(status), M(attempts));
SHAPE(checkpoint_grant, struct checkpoint_grant, M(stream), M(perspective), M(version), M(head), M(token),
      M(lease_until_ms), M(replay_to), M(attempt));
SHAPE(checkpoint_report, struct checkpoint_report, M(stream), M(perspective), M(version), M(token),
      SMALL(status), M(error), M(delay_ms));
SHAPE(checkpoint_ref, struct checkpoint_ref, M(stream), M(perspective), M(token));
SHAPE(checkpoint_skip, struct checkpoint_skip, M(perspective), M(stream), M(version), M(reason));
SHAPE(checkpoint_filter, struct checkpoint_filter, M(perspective), M(stream), M(status), M(after_stream),
      M(after_perspective), M(limit));
SHAPE(checkpoint_error, struct checkpoint_error, M(perspective), M(fingerprint), M(sample), M(count));
SHAPE(receptor, struct receptor_row, M(receptor), M(status), M(attempts), M(updated_ms), M(error));
SHAPE(receptor_report, struct receptor_report, M(event_id), M(receptor), M(status), M(error));
SHAPE(event_receptor, struct event_receptor, M(name), M(position), M(fed), M(registered_ms));
SHAPE(feed_result, struct feed_result, M(known), M(events), M(fed), M(more));
