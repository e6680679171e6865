-- alert_notice_take: somebody has a delivery for a while.
-- params: number, token, due_ms
UPDATE pawl_alert_notice SET token = ?2, due_ms = ?3, attempts = attempts + 1 WHERE number = ?1
