-- why: see functions/why.sql; a lock is told when its transaction is open for a second, or when that cannot be seen.
SELECT w.now_ms, w.seq, w.cause, w.instance, w.until_ms, w.blocker_id, w.blocker_seq, w.blocker_cause, w.many_ahead,
       CASE WHEN a.pid IS NOT NULL THEN w.locked END, a.pid, a.application_name,
       COALESCE((EXTRACT(epoch FROM a.xact_start) * 1000)::bigint, 0)
  FROM pawl.why($1) w
  LEFT JOIN pg_catalog.pg_stat_activity a
    ON a.pid = w.locked_pid
   AND (a.xact_start IS NULL OR a.xact_start < pg_catalog.clock_timestamp() - interval '1 second')
