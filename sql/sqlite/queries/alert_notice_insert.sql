-- alert_notice_insert: something has to be delivered.
-- params: change, target, due_ms
INSERT INTO pawl_alert_notice (change, target, due_ms) VALUES (?1, ?2, ?3)
