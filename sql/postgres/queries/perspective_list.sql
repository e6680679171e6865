-- perspective_list: see functions/perspective_list.sql
SELECT p.key, p.name, p.version, p.state, p.paused, p.backfilled, p.patterns, p.run, p.target, p.clear,
       p.batch, p.max_attempts, p.policy, p.registered_ms, p.checkpoints, p.pending, p.processing, p.completed, p.failed,
       p.stopped, p.matched, p.applied, p.lag_ms, p.position, p.lag_whole
  FROM pawl.perspective_list($1) p
