/* The operations on events, perspectives, checkpoints and receptors (docs/events.md). Included where
 * OPERATION(name, parameters after the store) is defined. */

OPERATION(events_append, const struct events_append *in, struct arena *arena, struct append_result *out,
          pawl_error *err)
/* PAWL_NOT_FOUND: as_of_event is not in the stream. A stream that does not exist is empty. */
OPERATION(events_read, const pawl_read *in, struct arena *arena, struct event_list *out, pawl_error *err)
/* Gives positions to events committed since the last call; limit: the most appends to handle. */
OPERATION(events_stamp, int limit, struct stamp_result *out, pawl_error *err)

OPERATION(snapshot_put, const struct snapshot *in, enum store_answer *answer, pawl_error *err)
/* The newest with version <= version_max (0 = any); PAWL_NOT_FOUND. */
OPERATION(snapshot_get, pawl_str stream, pawl_str name, int64_t version_max, struct arena *arena,
          struct snapshot *out, pawl_error *err)

OPERATION(perspective_register, const struct perspective_new *in, struct perspective_registered *out,
          pawl_error *err)
/* Creates the checkpoints of existing streams, at most streams_max streams per call. */
OPERATION(perspective_backfill, pawl_str perspective, int streams_max, bool *done, pawl_error *err)
OPERATION(perspective_change, pawl_str perspective, enum perspective_action action, enum store_answer *answer,
          pawl_error *err)
OPERATION(perspective_reset, const struct perspective_reset *in, int64_t *count, pawl_error *err)
OPERATION(perspective_switch, const struct perspective_switch *in, struct arena *arena,
          struct switch_result *out, pawl_error *err)
/* Whether the database could run a user's SQL; nothing is executed. PAWL_INVALID: the database's error.
 * writes: a statement that writes nothing is also an error. A store without SQL finds no errors. */
OPERATION(sql_check, pawl_str sql, bool writes, pawl_error *err)
/* name absent: all except removed ones; otherwise every version of that name. */
OPERATION(perspective_list, pawl_str name, struct arena *arena, struct perspective_rows *out, pawl_error *err)
/* All that are not removed, without counts, lag and position; workers call this every second. */
OPERATION(perspective_defined, struct arena *arena, struct perspective_rows *out, pawl_error *err)
OPERATION(perspective_reached, const struct perspective_target *in, struct arena *arena,
          struct perspective_reached *out, pawl_error *err)
OPERATION(perspective_apply, const struct perspective_apply *in, struct arena *arena,
          struct apply_result *out, pawl_error *err)
/* PAWL_NOT_FOUND: the perspective is neither live nor filling. PAWL_STALE: the instance is not active. */
OPERATION(perspective_advance, const struct perspective_advance *in, struct arena *arena,
          struct advance_result *out, pawl_error *err)

/* Handlers outside the store report progress and failures with checkpoints_report (core.h). */
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
LISTS(checkpoint_errors,
      (pawl_str perspective, int limit, struct arena *arena, struct checkpoint_errors *out, pawl_error *err),
      "checkpoint_errors", QUERY(CHECKPOINT_ERRORS), check_limit("checkpoint_errors", limit, err),
      checkpoint_error_shape, ROWS_OUT(out, rows), VALUES(perspective, limit))

/* APPLIED; DUPLICATE: it already exists; CONFLICT: it exists with other patterns. */
OPERATION(receptor_register, const struct receptor_new *in, enum store_answer *answer, pawl_error *err)
/* APPLIED or NOT_FOUND. Its messages stay. */
OPERATION(receptor_remove, pawl_str name, enum store_answer *answer, pawl_error *err)
OPERATION(receptor_list, struct arena *arena, struct event_receptors *out, pawl_error *err)
/* Puts messages for the events after the receptors' positions, and moves the positions. */
OPERATION(receptors_feed, const struct receptors_feed *in, struct feed_result *out, pawl_error *err)
