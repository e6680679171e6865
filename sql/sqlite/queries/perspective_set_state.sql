-- perspective_set_state: a version of a perspective changes.
-- params: key, state, paused
UPDATE pawl_perspective SET state = ?2, paused = ?3 WHERE key = ?1
