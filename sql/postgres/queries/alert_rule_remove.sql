-- alert_rule_remove: see functions/alert_rule_remove.sql
SELECT pawl.alert_rule_remove($1)
