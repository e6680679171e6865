-- alert_silence: see functions/alert_silence.sql
SELECT pawl.alert_silence($1, $2, $3, $4)
