-- alert_silence: a rule is silent until then.
-- params: name, until_ms, reason, actor
UPDATE pawl_alert_rule SET silence_until_ms = ?2, silence_reason = ?3, silence_by = ?4 WHERE name = ?1
