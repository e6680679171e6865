-- alert_rule_count: how many rules there are.
SELECT count(*) FROM alert_rule
