-- alert_notice_end: what became of a delivery, from who has it.
-- params: number, token, state, due_ms, error
UPDATE pawl_alert_notice SET state = ?3, due_ms = ?4, error = ?5, token = 0 WHERE number = ?1 AND token = ?2 AND state = 1
