-- alert_turn_end: see functions/alert_turn_end.sql
SELECT pawl.alert_turn_end($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
