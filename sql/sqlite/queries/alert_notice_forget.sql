-- alert_notice_forget: remove deliveries whose change is gone.
DELETE FROM alert_notice WHERE NOT EXISTS (SELECT 1 FROM alert_change c WHERE c.id = alert_notice.change)
