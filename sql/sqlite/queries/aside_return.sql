-- aside_return: a message that was aside comes back without an attempt.
-- params: kind, seq, deaths added, reason, scheduled_ms, losses: 0 as it is, 1 lost once more, 2 a suspect
UPDATE pawl_aside SET deaths = deaths + ?3, losses = CASE WHEN ?6 = 0 THEN losses WHEN losses > 0 THEN 2 ELSE ?6 END,
       reason = ?4, scheduled_ms = ?5 WHERE kind = ?1 AND seq = ?2
