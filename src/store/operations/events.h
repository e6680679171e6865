/* The operations on events, perspectives, checkpoints and receptors (docs/events.md). Included where
 * OPERATION(name, parameters after the store) is defined. */

OPERATION(events_append, const struct events_append *in, struct arena *arena, struct append_result *out,
          pawl_error *err)
/* PAWL_NOT_FOUND: as_of_event is not in the stream. A stream that is not there is empty. */
OPERATION(events_read, const struct events_query *in, struct arena *arena, struct event_list *out,
          pawl_error *err)
/* Gives positions to events that were committed since; limit: the most appends to take. */
OPERATION(events_stamp, int limit, struct stamp_result *out, pawl_error *err)

OPERATION(snapshot_put, const struct snapshot *in, enum store_answer *answer, pawl_error *err)
/* The newest with version <= version_max (0 = any); PAWL_NOT_FOUND. */
OPERATION(snapshot_get, pawl_str stream, pawl_str name, int64_t version_max, struct arena *arena,
          struct snapshot *out, pawl_error *err)

OPERATION(perspective_register, const struct perspective_new *in, struct perspective_registered *out,
          pawl_error *err)
/* Makes the checkpoints of streams that were there before, at most streams_max streams per call. */
OPERATION(perspective_backfill, pawl_str perspective, int streams_max, bool *done, pawl_error *err)
OPERATION(perspective_change, pawl_str perspective, enum perspective_action action, enum store_answer *answer,
          pawl_error *err)
OPERATION(perspective_reset, const struct perspective_reset *in, int64_t *count, pawl_error *err)
OPERATION(perspective_switch, const struct perspective_switch *in, struct arena *arena,
          struct switch_result *out, pawl_error *err)
/* Whether the database could run a user's SQL: nothing is executed. PAWL_INVALID: what it says. writes: a
 * statement that writes nothing is wrong as well. A store without SQL finds nothing. */
OPERATION(sql_check, pawl_str sql, bool writes, pawl_error *err)
/* name absent: all of them, removed ones left out; else every version of that name. */
OPERATION(perspective_list, pawl_str name, struct arena *arena, struct perspective_rows *out, pawl_error *err)
/* The same of all that are not removed, without counts, lag and position: what a worker asks every
 * second. */
OPERATION(perspective_defined, struct arena *arena, struct perspective_rows *out, pawl_error *err)
OPERATION(perspective_reached, const struct perspective_target *in, struct arena *arena,
          struct perspective_reached *out, pawl_error *err)
OPERATION(perspective_apply, const struct perspective_apply *in, struct arena *arena,
          struct apply_result *out, pawl_error *err)
/* PAWL_NOT_FOUND: the perspective is not fed. PAWL_STALE: the instance is not active. */
OPERATION(perspective_advance, const struct perspective_advance *in, struct arena *arena,
          struct advance_result *out, pawl_error *err)

/* Progress and failures of handlers outside are reported with checkpoints_report (core.h). */
OPERATION(checkpoints_claim, const struct checkpoints_claim *in, struct arena *arena,
          struct checkpoint_grants *out, pawl_error *err)
OPERATION(checkpoints_renew, const struct checkpoints_renew *in, struct arena *arena, struct answer_list *out,
          pawl_error *err)
/* PAWL_STALE: the grant has ended. */
OPERATION(checkpoint_events, const struct checkpoint_ref *ref, int limit, struct arena *arena,
          struct checkpoint_batch *out, pawl_error *err)
OPERATION(checkpoint_skip, const struct checkpoint_skip *in, enum store_answer *answer, pawl_error *err)
OPERATION(checkpoints_list, const struct checkpoint_filter *filter, struct arena *arena,
          struct checkpoint_views *out, pawl_error *err)
/* The most common errors of failed checkpoints; perspective absent = of all. */
OPERATION(checkpoint_errors, pawl_str perspective, int limit, struct arena *arena,
          struct checkpoint_errors *out, pawl_error *err)

/* APPLIED; DUPLICATE: the same is there; CONFLICT: it has other patterns. */
OPERATION(receptor_register, const struct receptor_new *in, enum store_answer *answer, pawl_error *err)
/* APPLIED or NOT_FOUND. Its messages stay. */
OPERATION(receptor_remove, pawl_str name, enum store_answer *answer, pawl_error *err)
OPERATION(receptor_list, struct arena *arena, struct event_receptors *out, pawl_error *err)
/* Puts messages for the events after the receptors' positions, and moves the positions. */
OPERATION(receptors_feed, const struct receptors_feed *in, struct feed_result *out, pawl_error *err)
