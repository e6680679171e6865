-- sweep_refusals: refusals older than 30 days.
DELETE FROM pawl_refusal WHERE id IN (SELECT id FROM pawl_refusal WHERE made_ms < ?1 - 2592000000 LIMIT ?2)
