-- alert_notice_end: see functions/alert_notice_end.sql
SELECT pawl.alert_notice_end($1, $2, $3, $4, $5)
