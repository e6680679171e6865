-- schedule_due: schedules that are due.
SELECT name, task, kind, expr, zone, params, missed, missed_max, overlap, jitter_ms, start_ms, end_ms, paused, next_ms, last_ms, version, updated_ms
  FROM pawl_schedule WHERE paused = 0 AND next_ms > 0 AND next_ms <= ?1 AND (?2 IS NULL OR name = ?2) AND (?3 IS NULL OR task = ?3)
 ORDER BY next_ms, name LIMIT ?4
