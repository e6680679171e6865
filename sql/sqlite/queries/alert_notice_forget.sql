-- alert_notice_forget: remove deliveries whose change is gone.
DELETE FROM pawl_alert_notice WHERE NOT EXISTS (SELECT 1 FROM pawl_alert_change c WHERE c.id = pawl_alert_notice.change)
