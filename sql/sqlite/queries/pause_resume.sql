-- pause_resume: what was given back because of a pause is due at once.
-- params: scope, name, now_ms
UPDATE pawl_aside SET scheduled_ms = ?3
 WHERE reason = 4 AND scheduled_ms > ?3
   AND (?1 = 3 OR (?1 = 1 AND coalesce(topic, type) = ?2) OR (?1 = 2 AND stream = ?2))
