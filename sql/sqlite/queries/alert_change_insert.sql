-- alert_change_insert: something happened to a rule.
-- params: id, rule, event, value, at_ms, detail
INSERT INTO pawl_alert_change (id, rule, event, value, at_ms, detail) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
