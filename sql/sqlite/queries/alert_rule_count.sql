-- alert_rule_count: how many rules there are.
SELECT count(*) FROM pawl_alert_rule
