-- sweep_spine: events that nobody passed on for 7 days.
-- params: now_ms, limit
DELETE FROM pawl_spine WHERE id IN (SELECT id FROM (SELECT id, made_ms FROM pawl_spine ORDER BY id LIMIT ?2) WHERE made_ms < ?1 - 604800000)
