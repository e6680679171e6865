-- alert_tell: see functions/alert_tell.sql
SELECT pawl.alert_tell($1, $2, $3, $4, $5, $6, $7)
