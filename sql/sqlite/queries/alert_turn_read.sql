-- alert_turn_read: whose turn it is, and what the last one left.
SELECT token, next_ms, window_text FROM pawl_alert_turn WHERE one = 1
