-- alert_rules: see functions/alert_rules.sql
SELECT r.* FROM pawl.alert_rules($1) r
