-- alert_change_forget: remove history that is too old, a little at a time.
-- params: before_ms, rows_max
DELETE FROM pawl_alert_change WHERE number IN (SELECT number FROM pawl_alert_change WHERE at_ms < ?1 ORDER BY number LIMIT ?2)
