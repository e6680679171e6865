-- alert_pressure: see functions/alert_pressure.sql
SELECT pawl.alert_pressure()
