-- alert_rule_delete: remove a rule; its history stays.
-- params: name
DELETE FROM pawl_alert_rule WHERE name = ?1
