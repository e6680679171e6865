-- schedule_list: schedules by name.
SELECT name, task, kind, expr, zone, params, missed, missed_max, overlap, jitter_ms, start_ms, end_ms, paused, next_ms, last_ms, version, updated_ms
  FROM pawl_schedule WHERE (?1 IS NULL OR name = ?1) AND (?2 IS NULL OR task = ?2) AND (?3 IS NULL OR name > ?3) ORDER BY name LIMIT ?4
