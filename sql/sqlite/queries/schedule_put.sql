-- schedule_put: makes or changes a schedule.
INSERT OR REPLACE INTO pawl_schedule (name, task, kind, expr, zone, params, missed, missed_max, overlap, jitter_ms, start_ms, end_ms, paused, next_ms, last_ms, version, updated_ms)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)
