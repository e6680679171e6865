-- schedule_find: a schedule by its name.
SELECT name, task, kind, expr, zone, params, missed, missed_max, overlap, jitter_ms, start_ms, end_ms, paused, next_ms, last_ms, version, updated_ms
  FROM pawl_schedule WHERE name = ?1
