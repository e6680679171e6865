-- alert_turn_close: a turn has ended; what it leaves for the next.
-- params: window_text
UPDATE pawl_alert_turn SET window_text = ?1 WHERE one = 1
