-- aside_fail: a message that was aside failed again.
-- params: kind, seq, attempts, reason, scheduled_ms, error
UPDATE pawl_aside SET attempts = ?3, losses = 0, reason = ?4, scheduled_ms = ?5, error = ?6 WHERE kind = ?1 AND seq = ?2
