-- perspective_insert: a new version of a perspective.
-- params: key, name, version, state, run, target, clear, batch, max_attempts, policy, now_ms
INSERT INTO pawl_perspective (key, name, version, state, paused, run, target, clear, batch, max_attempts, policy, backfilled, position,
                         registered_ms)
VALUES (?1, ?2, ?3, ?4, 0, ?5, ?6, ?7, ?8, ?9, ?10, 0, 0, ?11)
