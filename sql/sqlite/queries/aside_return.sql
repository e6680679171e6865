-- aside_return: a message that was aside comes back without an attempt.
-- params: kind, seq, deaths added, reason, scheduled_ms
UPDATE pawl_aside SET deaths = deaths + ?3, reason = ?4, scheduled_ms = ?5 WHERE kind = ?1 AND seq = ?2
