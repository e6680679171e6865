-- alert_changes: see functions/alert_changes.sql
SELECT c.* FROM pawl.alert_changes($1, $2, $3) c
