-- alert_rule_put: see functions/alert_rule_put.sql
SELECT pawl.alert_rule_put($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
