-- perspective: perspectives (projections): definition, state, rebuilding, applying events.

-- name: advance_begin
SELECT b.taken, b.stream, b.from_version, b.through_version, b.head, b.replay_to, b.token
  FROM pawl.advance_begin($1, $2, $3, $4, $5) b

-- name: advance_end
SELECT e.more, e.outcome FROM pawl.advance_end($1, $2, $3, $4, $5, $6, $7, $8, $9) e

-- name: advance_links
SELECT l.traceparent FROM pawl.advance_links($1, $2, $3, $4, $5) l

-- name: apply_begin
SELECT b.held, b.stream, b.from_version, b.through_version, b.head, b.replay_to
  FROM pawl.apply_begin($1, $2, $3, $4) b

-- name: apply_end
SELECT e.more, e.outcome FROM pawl.apply_end($1, $2, $3, $4, $5, $6) e

-- name: apply_rows
SELECT r.n, r.stream, r.version, {{r.event}}, r.replay
  FROM pawl.apply_rows($1, $2, $3, $4, $5) r

-- name: perspective_advance
SELECT a.stream, a.answer, a.version, a.events, a.more, a.outcome, a.failed_version, a.error
  FROM pawl.perspective_advance($1, $2, $3, $4, $5) a

-- name: perspective_apply
SELECT a.answer, a.version, a.events, a.more, a.outcome, a.failed_version, a.error
  FROM pawl.perspective_apply($1, $2, $3, $4) a

-- name: perspective_backfill
SELECT pawl.perspective_backfill($1, $2)

-- name: perspective_change
SELECT pawl.perspective_change($1, $2, $3)

-- name: perspective_defined
SELECT p.key, p.name, p.version, p.state, p.paused, p.backfilled, p.run, p.target, p.clear,
       p.batch, p.max_attempts, p.policy, p.registered_ms, p.checkpoints, p.pending, p.processing, p.completed, p.failed,
       p.stopped, p.matched, p.applied, p.position, p.patterns, p.lag_ms, p.lag_whole
  FROM pawl.perspective_defined() p

-- name: perspective_list
SELECT p.key, p.name, p.version, p.state, p.paused, p.backfilled, p.run, p.target, p.clear,
       p.batch, p.max_attempts, p.policy, p.registered_ms, p.checkpoints, p.pending, p.processing, p.completed, p.failed,
       p.stopped, p.matched, p.applied, p.position, p.patterns, p.lag_ms, p.lag_whole
  FROM pawl.perspective_list($1) p

-- name: perspective_reached
SELECT r.reached, r.at, r.failed, r.error FROM pawl.perspective_reached($1, $2, $3, $4) r

-- name: perspective_register
SELECT r.answer, r.state, r.backfilled
  FROM pawl.perspective_register($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) r

-- name: perspective_reset
SELECT pawl.perspective_reset($1, $2, CASE WHEN pg_catalog.cardinality($3::text[]) > 0 THEN $3::text[] END)

-- name: perspective_switch
SELECT s.answer, s.behind, s.digest_old, s.digest_new
  FROM pawl.perspective_switch($1, $2, $3, $4, $5) s
