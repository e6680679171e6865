-- perspective: perspectives (projections): definition, state, rebuilding, applying events.
-- calls: advance_begin, advance_end, advance_links, apply_end, apply_rows, perspective_advance, perspective_apply,
--   perspective_backfill, perspective_change, perspective_reached, perspective_register, perspective_switch

-- name: apply_begin
SELECT b.held, b.stream, b.from_version, b.through_version, b.head, b.replay_to
  FROM pawl_internal.apply_begin($1, $2, $3, $4) b

-- name: perspective_defined
SELECT p.key, p.name, p.version, p.state, p.paused, p.backfilled, p.run, p.target, p.clear,
       p.batch, p.max_attempts, p.policy, p.registered_ms, p.checkpoints, p.pending, p.processing, p.completed, p.failed,
       p.stopped, p.matched, p.applied, p.position, p.patterns, p.lag_ms, p.lag_whole
  FROM pawl_internal.perspective_defined() p

-- name: perspective_list
SELECT p.key, p.name, p.version, p.state, p.paused, p.backfilled, p.run, p.target, p.clear,
       p.batch, p.max_attempts, p.policy, p.registered_ms, p.checkpoints, p.pending, p.processing, p.completed, p.failed,
       p.stopped, p.matched, p.applied, p.position, p.patterns, p.lag_ms, p.lag_whole
  FROM pawl_internal.perspective_list($1) p

-- name: perspective_reset
SELECT pawl_internal.perspective_reset($1, $2, CASE WHEN pg_catalog.cardinality($3::text[]) > 0 THEN $3::text[] END)
